"""Worker processes that generate documents, tokenize them and pack them into rows on disk."""

import os
import random
import sys
import time
from pathlib import Path

import numpy

import settings
from generators import corpus, documents

CHUNK_ROWS = 32
MOST_WAITING = 300  # chunks on disk
WAITING = 96  # documents from which a row is filled


class Encoder:
    def __init__(self, folder):
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        from tokenizers import Tokenizer
        self.tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
        name = self.tokenizer.token_to_id
        self.chatbot, self.end = name("<|CHATBOT_TOKEN|>"), name("<|END_OF_TURN_TOKEN|>")
        assert self.end == settings.CONFIG["eos_token_id"], self.end
        assert name("<BOS_TOKEN>") == settings.CONFIG["bos_token_id"]

    def ids(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def text(self, ids):
        return self.tokenizer.decode(ids, skip_special_tokens=False)

    def encode(self, batch):
        """[(text, is_conversation)] -> [(ids, what each token counts)], int16 arrays."""
        encoded = self.tokenizer.encode_batch_fast([t for t, _ in batch], add_special_tokens=False)
        for (_, conversation), e in zip(batch, encoded):
            ids = numpy.array(e.ids, dtype=numpy.int16)
            if conversation:
                # Inside an answer: after the role token, up to and with the end of the turn.
                starts, ends = ids == self.chatbot, ids == self.end
                answer = numpy.zeros(len(ids), dtype=bool)
                begin = None
                for i in numpy.flatnonzero(starts | ends):
                    if starts[i]:
                        begin = i + 1
                    elif begin is not None:
                        answer[begin:i + 1] = True
                        begin = None
                counts = numpy.where(answer, settings.ANSWER, settings.PROMPT)
            else:
                counts = numpy.full(len(ids), settings.PLAIN)
            yield ids, counts.astype(numpy.int16)


def pack(waiting, length):
    """Takes documents from `waiting` for one row: [2, length], tokens and 4 * document + count."""
    row = numpy.zeros((2, length), dtype=numpy.int16)
    at = number = 0
    while True:
        fits = next((i for i, (ids, _) in enumerate(waiting) if at + len(ids) <= length), None)
        if fits is None:
            break
        ids, counts = waiting.pop(fits)
        row[0, at:at + len(ids)] = ids
        row[1, at:at + len(ids)] = 4 * number + counts
        at += len(ids)
        number += 1
    row[1, at:] = 4 * number
    return row


def main():
    """stream.py SEED STAGE TOKENIZER_FOLDER CORPUS OUT: until the parent ends."""
    seed, stage, tokenizer, corpus_file, out = sys.argv[1:]
    parent = os.getppid()
    os.nice(15)
    rng = random.Random(int(seed))
    encoder = Encoder(tokenizer)
    source = documents.Source(rng, settings.STAGES[int(stage)]["mix"], corpus.load(corpus_file))
    waiting, rows, chunk = [], [], 0
    while os.getppid() == parent:
        while len(waiting) < WAITING:
            batch = [source.next() for _ in range(32)]
            fresh = [(kind, d) for (kind, _, _), d in zip(batch, encoder.encode([b[1:] for b in batch]))]
            for kind, d in fresh:
                source.account(kind, len(d[0]))
                if len(d[0]) <= settings.LENGTH:
                    waiting.append(d)
            rng.shuffle(waiting)
        rows.append(pack(waiting, settings.LENGTH))
        if len(rows) == CHUNK_ROWS:
            path = Path(out) / f"{seed}-{chunk:06}.npy"
            numpy.save(path.with_suffix(".part.npy"), numpy.stack(rows))
            path.with_suffix(".part.npy").rename(path)
            while len(os.listdir(out)) > MOST_WAITING:
                time.sleep(0.1)
            rows, chunk = [], chunk + 1


if __name__ == "__main__":
    main()
