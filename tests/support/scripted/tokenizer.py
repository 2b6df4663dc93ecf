"""The tokenizer of a checkpoint: one token a byte, one for each piece of its scripts."""
import re

from markers import (BOS_ID, END_ACTION, END_RESULT, END_TEXT, END_THINKING, LOW, MARKERS, START_ACTION, START_RESULT, START_TEXT, START_THINKING)


def byte_alphabet():
    """GPT-2's map from byte to a printable character."""
    keep = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table, extra = {b: chr(b) for b in keep}, 0
    for b in range(256):
        if b not in table:
            table[b] = chr(256 + extra)
            extra += 1
    return table


ALPHABET = byte_alphabet()


def symbol(data):
    return "".join(ALPHABET[b] for b in data)


class Vocabulary:
    """Ids: 5 low specials, 256 bytes, one per script piece, then markers and script tokens."""

    def __init__(self, pieces, script_tokens):
        self.ids = {}
        for name in LOW:
            self.ids[name] = len(self.ids)
        for b in sorted(range(256), key=lambda b: ord(ALPHABET[b])):
            self.ids[bytes([b])] = len(self.ids)
        for piece in pieces:
            self.ids.setdefault(piece, len(self.ids))
        self.first_marker = len(self.ids)
        for name in MARKERS + script_tokens:
            self.ids[name] = len(self.ids)
        self.script_tokens = script_tokens
        self.names = {i: n for n, i in self.ids.items()}

    def __len__(self):
        return len(self.ids)

    def text(self, token):
        name = self.names.get(token, "")
        return name.encode() if isinstance(name, str) else name


def pre_tokenizer_pattern(pieces):
    """A regex that cuts text exactly at the script's pieces (those that are whole characters and
    longer than a byte), so that a reply sent back as history gets the tokens it was generated with."""
    whole = []
    for piece in pieces:
        if len(piece) < 2:
            continue
        try:
            whole.append(piece.decode())
        except UnicodeDecodeError:
            pass
    whole.sort(key=lambda s: (-len(s), s))
    quoted = [re.sub(r"([\\.^$|?*+()\[\]{}\-#&~/])", r"\\\1", s) for s in whole]
    quoted = [q.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t") for q in quoted]
    return "|".join(quoted) or r"\n+", whole


def tokenizer_json(vocab, pieces):
    pattern, _ = pre_tokenizer_pattern(pieces)
    entries = {}
    for name, i in vocab.ids.items():
        if i < vocab.first_marker:
            entries[name if isinstance(name, str) else symbol(name)] = i
    added = [(i, n) for n, i in vocab.ids.items() if isinstance(n, str)]
    framing = {START_THINKING, END_THINKING, START_TEXT, END_TEXT, START_ACTION, END_ACTION, START_RESULT, END_RESULT}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": n, "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False, "special": n not in framing} for i, n in sorted(added)],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]},
        "post_processor": {"type": "TemplateProcessing",
                           "single": [{"SpecialToken": {"id": "<BOS_TOKEN>", "type_id": 0}},
                                      {"Sequence": {"id": "A", "type_id": 0}}],
                           "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                           "special_tokens": {"<BOS_TOKEN>": {"id": "<BOS_TOKEN>", "ids": [BOS_ID],
                                                              "tokens": ["<BOS_TOKEN>"]}}},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": True,
                  "vocab": entries, "merges": []},
    }


def encode(data, pieces, ids):
    """What the tokenizer makes of ordinary text: script pieces, else bytes."""
    pattern, whole = pre_tokenizer_pattern(pieces)
    out, at, s = [], 0, data.decode()
    if whole:
        for m in re.finditer(pattern, s):
            out += [ids[bytes([b])] for b in s[at:m.start()].encode()]
            out.append(ids[m.group().encode()])
            at = m.end()
    return out + [ids[bytes([b])] for b in s[at:].encode()]
