"""The scripts of one checkpoint, from its description."""
from chunks import parse_script, unique_chunks
from markers import END_THINKING, EOT, LOW, MARKERS, START_THINKING, ScriptError


class Script:
    def __init__(self, where, mode, tools, turn, pieces, loop):
        self.where, self.mode, self.tools, self.turn = where, mode, tools, turn
        self.pieces, self.loop, self.token = pieces, loop, None

    @property
    def start(self):
        return {"on": START_THINKING, "off": END_THINKING, "completion": None}[self.mode]

    def successors(self):
        """Pairs (piece name, next piece name); None stands for any token without a state."""
        names = [p[1] for p in self.pieces]
        pairs = [(self.start, names[0])] if names else []
        pairs += list(zip(names, names[1:]))
        if self.loop is not None:
            pairs.append((names[-1], names[self.loop]))
        return pairs


def parse_description(description):
    """JSON value -> (list of (where, mode, tools, turn, chunks, loop), options)."""
    if not isinstance(description, dict):
        raise ScriptError("the description is an object; see README.md")
    known = {"name", "reasoning_on", "reasoning_off", "completion", "turns", "no_tools", "context", "window", "rechunk", "odd"}
    for key in description:
        if key not in known:
            raise ScriptError(f"unknown key {key!r}; known: {', '.join(sorted(known))}")
    found = []

    def pair(value, where, tools, turn):
        if not isinstance(value, dict):
            raise ScriptError(f"{where}: expected an object with \"reasoning_on\" and/or \"reasoning_off\"")
        on, off = value.get("reasoning_on"), value.get("reasoning_off")
        if on is None and off is None:
            raise ScriptError(f"{where}: give \"reasoning_on\" or \"reasoning_off\"")
        if on is not None:
            chunks, loop = parse_script(on, f"{where}reasoning_on")
            found.append([f"{where}reasoning_on", "on", tools, turn, chunks, loop])
        if off is None:
            cut = [i for i, c in enumerate(chunks) if c == ("marker", END_THINKING)]
            if cut and (loop is None or loop > cut[0]):
                off_chunks = chunks[cut[0] + 1:]
                off_loop = None if loop is None else loop - cut[0] - 1
            else:
                off_chunks, off_loop = [("marker", EOT)], None
        else:
            off_chunks, off_loop = parse_script(off, f"{where}reasoning_off")
        found.append([f"{where}reasoning_off", "off", tools, turn, off_chunks, off_loop])
        if on is None:      # reasoning on: close the thought at once, then say the same
            on_loop = None if off_loop is None else off_loop + 1
            found.insert(-1, [f"{where}reasoning_on", "on", tools, turn, [("marker", END_THINKING)] + off_chunks, on_loop])

    if "turns" in description:
        if not isinstance(description["turns"], list) or not description["turns"]:
            raise ScriptError("\"turns\" is a list of at least one object")
        if "reasoning_on" in description or "reasoning_off" in description:
            raise ScriptError("give either \"turns\" or \"reasoning_on\"/\"reasoning_off\", not both")
        for i, turn in enumerate(description["turns"]):
            pair(turn, f"turns[{i}].", True, i)
    else:
        pair({k: description[k] for k in ("reasoning_on", "reasoning_off") if k in description}, "", True, 0)
    if "no_tools" in description:
        pair(description["no_tools"], "no_tools.", False, 0)
    if "completion" in description:
        chunks, loop = parse_script(description["completion"], "completion")
    else:
        chunks, loop = [("marker", EOT)], None
    found.append(["completion", "completion", True, 0, chunks, loop])
    return found


def make_unique(found, rechunk):
    """Scripts with pieces; equal tails share their tokens."""
    used = {m.encode() for m in MARKERS + LOW}
    scripts, tails = [], {}
    order = sorted(range(len(found)), key=lambda i: -len(found[i][4]))   # longer first: the shorter is its tail
    for i in order:
        where, mode, tools, turn, chunks, loop = found[i]
        key = (tuple(chunks), loop)
        if key in tails:
            pieces, new_loop = tails[key]
        else:
            pieces, new_loop = unique_chunks(chunks, loop, used, where, rechunk)
            # Remember every tail that begins after a marker, for scripts that continue the same way.
            for at, chunk in enumerate(chunks):
                if chunk[0] == "marker" and (loop is None or loop > at):
                    cut = pieces.index(chunk) + 1
                    tail = (tuple(chunks[at + 1:]), None if loop is None else loop - at - 1)
                    tails.setdefault(tail, (pieces[cut:], None if new_loop is None else new_loop - cut))
            tails.setdefault(key, (pieces, new_loop))
        scripts.append((i, Script(where, mode, tools, turn, pieces, new_loop)))
    return [s for _, s in sorted(scripts, key=lambda x: x[0])]
