"""Plain text from Debian packages and this repository: Python's library, its documentation, our docs.

    python3 corpus.py OUT.txt.xz

The licences are listed in MODEL_CARD.md.
"""

import lzma
import sys
from pathlib import Path

from generators import words

SEPARATOR = "\x00"
LIBRARY, MANUAL = Path("/usr/lib/python3.11"), Path("/usr/share/doc/python3.11/html/_sources")
SKIPPED = {"test", "tests", "idlelib", "encodings", "lib2to3", "__pycache__", "dist-packages", "pydoc_data", "ensurepip", "turtledemo", "config-3.11-x86_64-linux-gnu",
           "whatsnew", "c-api", "distutils", "msilib", "tkinter"}


def build():
    repository = Path(__file__).resolve().parents[4]
    paths = [p for root, pattern in ((LIBRARY, "*.py"), (MANUAL, "*.txt")) for p in sorted(root.rglob(pattern))
             if not SKIPPED & set(p.relative_to(root).parts)]
    paths += sorted(repository.glob("docs/*.md")) + [repository / "README.md"]
    return [p.read_text(errors="ignore") for p in paths]


class Corpus:
    def __init__(self, texts):
        self.texts = [t for t in texts if len(t) > 400]
        self.sizes = [min(len(t), 60_000) for t in self.texts]

    def excerpt(self, r, size):
        """About `size` characters of whole lines, of as many files as it takes."""
        out, missing = [], size
        while missing > 0:
            text = r.choices(self.texts, self.sizes)[0]
            begin = r.randint(0, max(0, len(text) - missing))
            begin = text.rfind("\n", 0, begin) + 1
            piece = text[begin:begin + missing]
            out.append(piece[:piece.rfind("\n") + 1] or piece)
            missing -= max(len(out[-1]), 200)
        return "\n".join(out).rstrip()


def load(path):
    """Also teaches `words` the vocabulary."""
    texts = lzma.open(path, "rt").read().split(SEPARATOR)
    words.learn(texts)
    return Corpus(texts)


if __name__ == "__main__":
    texts = build()
    with lzma.open(sys.argv[1], "wt", preset=6) as out:
        out.write(SEPARATOR.join(texts))
    print(f"{len(texts)} files, {sum(map(len, texts)) / 1e6:.1f} M characters")
