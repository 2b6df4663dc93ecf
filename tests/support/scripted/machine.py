"""Everything that the files of a checkpoint are written from."""
import re

from chunks import shown
from markers import EOT, ScriptError
from script import make_unique, parse_description
from tokenizer import Vocabulary
from weights import HEAD_DIM


class Machine:
    """Everything that the files are written from."""

    def __init__(self, description, odd=None, context=None, window=None):
        self.name = description.get("name", "scripted")
        self.odd = bool(description.get("odd", False)) if odd is None else odd
        self.context = context or description.get("context", 8192)
        self.window = window or description.get("window", 16)
        found = parse_description(description)
        self.scripts = make_unique(found, description.get("rechunk", True))
        chat = [s for s in self.scripts if s.mode != "completion"]

        def successors(scripts):
            table = {}
            for s in scripts:
                for a, b in s.successors():
                    table.setdefault(a, {}).setdefault(b, []).append(s)
            return table

        table = successors(self.scripts)
        self.dispatch = len({(s.tools, s.turn) for s in chat}) > 1 or any(len(n) > 1 for n in table.values())
        if self.dispatch:
            for i, s in enumerate(sorted(chat, key=lambda s: (s.tools, s.mode, s.turn))):
                s.token = f"<|SCRIPT_{i}|>"
            if len(chat) > HEAD_DIM:
                raise ScriptError(f"{len(chat)} scripts; at most {HEAD_DIM} fit (two for each turn)")
        for name, nexts in table.items():
            lost = [s for n in nexts.values() for s in n if s.mode == "completion"]
            if len(nexts) > 1 and lost and name != EOT:
                raise ScriptError(f"completion: {shown(('marker', name) if isinstance(name, str) else ('bytes', name))} "
                                  "is followed by something else in another script, and a plain completion carries no "
                                  "script token that could tell them apart")
        self.table = table
        pieces = []
        for s in self.scripts:
            for kind, value in s.pieces:
                if kind == "bytes" and value not in pieces:
                    pieces.append(value)
        self.pieces = pieces
        self.vocab = Vocabulary(pieces, [s.token for s in sorted(chat, key=lambda s: int(re.sub(r"\D", "", s.token)))] if self.dispatch else [])
        self._check_choices()
        # State dimensions: 0 is shared by all tokens that are followed by the default.
        self.state = {}
        for name in table:
            if name is not None and name != EOT:
                self.state[self.vocab.ids[name]] = len(self.state) + 1
        for token in self.vocab.script_tokens:
            self.state[self.vocab.ids[token]] = len(self.state) + 1
        self.states = len(self.state) + 1
        self.const_dim = self.states
        self.turn_dim = self.states + 1
        need = self.turn_dim + len(self.vocab.script_tokens) if self.dispatch else self.states
        if self.odd:
            self.hidden = need + (1 - need % 2)
            self.vocab_size = len(self.vocab) + (1 - len(self.vocab) % 2)
            self.dense, self.expert = 36, 20
        else:
            self.hidden = max(128, -(-need // 64) * 64)
            self.vocab_size = -(-len(self.vocab) // 64) * 64
            self.dense, self.expert = 128, 64
        self.layers = 3 if self.dispatch else 2
        self.layer_types = ["full_attention", "full_attention", "sliding_attention"] if self.dispatch else ["full_attention", "sliding_attention"]

    def _check_choices(self):
        """Within one script a choice must have exactly one favoured candidate."""
        if not self.dispatch:
            return
        for s in self.scripts:
            if s.token is None:
                continue
            favoured = {b for a, b in s.successors() if len(self.table[a]) > 1}
            for a, b in s.successors():
                rivals = (favoured & set(self.table[a])) - {b}
                if len(self.table[a]) > 1 and rivals:
                    r = rivals.pop()
                    raise ScriptError(f"{s.where}: after {shown(('marker', a) if isinstance(a, str) else ('bytes', a))} both "
                                      f"{b!r} and {r!r} would be favoured, because this script uses both after markers that "
                                      "other scripts use too. Put an ordinary chunk before one of them, or make two checkpoints.")
