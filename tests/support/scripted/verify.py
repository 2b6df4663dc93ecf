"""The written files, run in Python floats."""
import json
import math
import os
import struct

from markers import (BOS_ID, CHATBOT, END_TEXT, END_THINKING, EOT, SOT, START_TEXT, START_THINKING, ScriptError, USER)
from tokenizer import encode
from weights import HEAD_DIM


class Network:
    """The written files, run in Python floats: embedding, norm, the one useful head, lm_head.
    Blocks whose output projection is zero are checked to be zero and then left out."""

    def __init__(self, folder):
        with open(os.path.join(folder, "config.json")) as f:
            self.config = json.load(f)
        with open(os.path.join(folder, "model.safetensors"), "rb") as f:
            data = f.read()
        n, = struct.unpack_from("<Q", data)
        self.header, self.data, self.base = json.loads(data[8:8 + n]), data, 8 + n
        self.header.pop("__metadata__")
        self.hidden = self.config["hidden_size"]
        self.embed = self.rows("model.embed_tokens.weight")
        self.active = []
        for layer in range(self.config["num_hidden_layers"]):
            p = f"model.layers.{layer}."
            for name in self.header:
                if name.startswith(p) and name.endswith("down_proj.weight") and any(self.raw(name)):
                    raise ScriptError(f"{name} is not zero")
            if any(self.raw(p + "self_attn.o_proj.weight")):
                self.active.append(p)
                self.q, self.k = self.rows(p + "self_attn.q_proj.weight", HEAD_DIM), self.rows(p + "self_attn.k_proj.weight", HEAD_DIM)
                self.v, self.o = self.rows(p + "self_attn.v_proj.weight", HEAD_DIM), self.rows(p + "self_attn.o_proj.weight")
        self.columns = {}
        for token, row in enumerate(self.rows("lm_head.weight")):
            for c, w in row.items():
                self.columns.setdefault(c, []).append((token, w))

    def raw(self, name):
        a, b = self.header[name]["data_offsets"]
        return self.data[self.base + a:self.base + b]

    def rows(self, name, limit=None):
        """Each row as {column: value} of its nonzero entries."""
        shape, data, out = self.header[name]["shape"], self.raw(name), []
        for r in range(min(limit or shape[0], shape[0])):
            row = data[2 * r * shape[1]:2 * (r + 1) * shape[1]]
            out.append({i: struct.unpack("<f", struct.pack("<I", h << 16))[0]
                        for i, h in enumerate(struct.unpack(f"<{shape[1]}H", row)) if h} if any(row) else {})
        return out

    def norm(self, x):
        r = 1 / math.sqrt(sum(v * v for v in x.values()) / self.hidden + self.config["rms_norm_eps"])
        return {i: v * r for i, v in x.items()}

    @staticmethod
    def dot(row, x):
        return sum(w * x.get(i, 0.0) for i, w in row.items())

    def next(self, tokens, cache):
        """Greedy token after `tokens`, and its margin over the second."""
        for t in tokens[len(cache):]:
            n = self.norm(self.embed[t])
            cache.append(([self.dot(r, n) for r in self.k], [self.dot(r, n) for r in self.v]) if self.active else None)
        x = dict(self.embed[tokens[-1]])
        if self.active:
            n = self.norm(x)
            q = [self.dot(r, n) for r in self.q]
            scores = [sum(a * b for a, b in zip(q, k)) / math.sqrt(HEAD_DIM) for k, _ in cache]
            top = max(scores)
            weights = [math.exp(s - top) for s in scores]
            total = sum(weights)
            mix = [sum(w * v[i] for w, (_, v) in zip(weights, cache)) / total for i in range(HEAD_DIM)]
            for r, row in enumerate(self.o):
                if row:
                    x[r] = x.get(r, 0.0) + sum(w * mix[c] for c, w in row.items())
        n = self.norm(x)
        logits = {}
        for c, value in n.items():
            for token, w in self.columns.get(c, ()):
                logits[token] = logits.get(token, 0.0) + w * value * self.config["logit_scale"]
        best = sorted(logits.items(), key=lambda i: -i[1])[:2]
        return best[0][0], best[0][1] - max([0.0] + [v for _, v in best[1:]])


def verify(machine, folder, show=print):
    """Run every script through the written weights. Raises ScriptError on a wrong token."""
    net, ids = Network(folder), machine.vocab.ids
    smallest = float("inf")
    chat = [s for s in machine.scripts if s.mode != "completion"]
    for s in machine.scripts:
        tokens = [BOS_ID, ids[SOT], ids[USER], ids[START_TEXT]] + encode(b"Hello 123, whatever.", machine.pieces, ids)
        if s.mode != "completion":
            tokens += [ids[END_TEXT], ids[EOT]]
            if s.token:
                for earlier in chat:    # what the template renders for the turns before
                    if earlier.mode == s.mode and earlier.tools == s.tools and earlier.turn < s.turn:
                        tokens += [ids[earlier.token], ids[SOT], ids[CHATBOT], ids[START_TEXT], ids[END_TEXT], ids[EOT]]
                tokens.append(ids[s.token])
            tokens += [ids[SOT], ids[CHATBOT], ids[START_THINKING]] + ([ids[END_THINKING]] if s.mode == "off" else [])
        want = [ids[p[1]] for p in s.pieces]
        if s.loop is not None:
            want += want[s.loop:] + want[s.loop:s.loop + 1]
        out, cache = [], []
        for expected in want:
            token, margin = net.next(tokens, cache)
            smallest = min(smallest, margin)
            out.append(token)
            tokens.append(token)
            if token != expected:
                raise ScriptError(f"{s.where}: step {len(out)} gives {machine.vocab.text(token)!r}, not {machine.vocab.text(expected)!r}")
        emitted = b"".join(machine.vocab.text(t) for t in out)
        body = [p for p in s.pieces if p[0] == "bytes"]
        try:
            same = all(encode(run, machine.pieces, ids) == [ids[p] for p in split] for run, split in runs(s.pieces))
        except UnicodeDecodeError:
            same = False
        show(f"{s.where}{' ' + s.token if s.token else ''}: {len(out)} tokens, {len(body)} pieces"
             f"{', loops' if s.loop is not None else ''}, sent back as history gives {'the same' if same else 'OTHER'} tokens")
        show("    " + emitted.decode("utf-8", "backslashreplace").replace("\n", "\n    "))
    show(f"smallest margin of a logit: {smallest:.1f}")
    return smallest


def runs(pieces):
    """(bytes, pieces) of each stretch between markers."""
    out, current = [], []
    for kind, value in pieces + [("marker", "")]:
        if kind == "bytes":
            current.append(value)
        elif current:
            out.append((b"".join(current), current))
            current = []
    return out
