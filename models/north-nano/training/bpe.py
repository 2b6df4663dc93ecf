"""Byte-level BPE in plain Python: trains the tokenizer and writes tokenizer.json.

    /usr/bin/python3 bpe.py TEXT_FILE... OUT_FOLDER     (Debian's python3-regex)
"""

import collections
import heapq
import json
import sys
from pathlib import Path

import regex

import cmd4

VOCABULARY = 6144
DIGITS = r"\d{1,3}(?=(?:\d{3})*\b)"
WORDS = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
         r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
         r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|"
         r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
LOW_SPECIALS = ["<PAD>", "<MASK_TOKEN>", "<BOS_TOKEN>", "<EOS_TOKEN>", "<UNK>"]
SPECIALS = LOW_SPECIALS + cmd4.MARKERS
ROLES = 5  # the first markers are special in the tokenizer's sense, the others are not


def byte_symbols():
    """GPT-2's printable character of each byte, in the order of their ids."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    symbols = {b: chr(b) for b in printable}
    for b in range(256):
        if b not in symbols:
            symbols[b] = chr(256 + len(symbols) - len(printable))
    return symbols


def isolate(pattern, piece):
    """Matches and what is between them, in order."""
    at = 0
    for match in pattern.finditer(piece):
        if match.start() > at:
            yield piece[at:match.start()]
        yield match.group()
        at = match.end()
    if at < len(piece):
        yield piece[at:]


def count_words(paths):
    digits, words = regex.compile(DIGITS), regex.compile(WORDS)
    marker = regex.compile("|".join(map(regex.escape, SPECIALS)))
    pieces = collections.Counter()
    for path in paths:
        for line in Path(path).read_text(errors="ignore").split("\n\n"):
            for text in marker.split(line + "\n\n"):
                pieces.update(p for d in isolate(digits, text) for p in isolate(words, d))
    symbols = byte_symbols()
    return {tuple(symbols[b] for b in p.encode()): n for p, n in pieces.items() if n > 1}


def train(counts, merges):
    words = [list(w) for w in counts]
    numbers = list(counts.values())
    pairs, where = collections.Counter(), collections.defaultdict(set)
    for i, word in enumerate(words):
        for pair in zip(word, word[1:]):
            pairs[pair] += numbers[i]
            where[pair].add(i)
    heap = [(-n, pair) for pair, n in pairs.items()]
    heapq.heapify(heap)
    result = []
    while len(result) < merges and heap:
        n, pair = heapq.heappop(heap)
        if pairs[pair] != -n:
            if pairs[pair] > 0:
                heapq.heappush(heap, (-pairs[pair], pair))
            continue
        result.append(pair)
        changed = set()
        for i in where.pop(pair):
            word, n = words[i], numbers[i]
            for old in zip(word, word[1:]):
                pairs[old] -= n
                changed.add(old)
            merged, at = [], 0
            while at < len(word):
                if at + 1 < len(word) and (word[at], word[at + 1]) == pair:
                    merged.append(word[at] + word[at + 1])
                    at += 2
                else:
                    merged.append(word[at])
                    at += 1
            words[i] = merged
            for new in zip(merged, merged[1:]):
                pairs[new] += n
                where[new].add(i)
                changed.add(new)
        for pair in changed:
            if pairs[pair] > 0:
                heapq.heappush(heap, (-pairs[pair], pair))
    return result


def tokenizer_json(merges):
    symbols = byte_symbols()
    order = [symbols[b] for b in sorted(symbols, key=lambda b: ord(symbols[b]))]
    tokens = LOW_SPECIALS + order
    for a, b in merges:
        tokens.append(a + b)
    tokens += ["<|UNUSED_%d|>" % i for i in range(VOCABULARY - len(cmd4.MARKERS) - len(tokens))]
    tokens += cmd4.MARKERS
    ids = {t: i for i, t in enumerate(tokens)}
    added = [{"id": ids[t], "content": t, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": i < len(LOW_SPECIALS) + ROLES}
             for i, t in enumerate(SPECIALS)]
    bos = {"SpecialToken": {"id": "<BOS_TOKEN>", "type_id": 0}}
    split = lambda pattern: {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated",
                             "invert": False}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": sorted(added, key=lambda t: t["id"]),
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            split(DIGITS), split(WORDS),
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]},
        "post_processor": {
            "type": "TemplateProcessing", "single": [bos, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<BOS_TOKEN>": {"id": "<BOS_TOKEN>", "ids": [ids["<BOS_TOKEN>"]],
                                               "tokens": ["<BOS_TOKEN>"]}}},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "ignore_merges": False, "vocab": ids, "merges": [[a, b] for a, b in merges]},
    }


def main():
    *paths, out = sys.argv[1:]
    room = VOCABULARY - len(SPECIALS) - 256
    merges = train(count_words(paths), room)
    text = json.dumps(tokenizer_json(merges), ensure_ascii=False, separators=(",", ":"))
    (Path(out) / "tokenizer.json").write_text(text)
    print(f"{len(merges)} merges; the last: {merges[-3:]}")


if __name__ == "__main__":
    main()
