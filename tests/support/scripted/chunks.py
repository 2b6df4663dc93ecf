"""Scripts as people write them, cut into pieces that occur once in a checkpoint."""
import json
import re
import sys

from markers import END_ACTION, EOT, MARKERS, START_ACTION, ScriptError


def text(s):
    """A chunk of ordinary text, even if it spells a marker."""
    return {"text": s}


def raw(data):
    """A chunk of raw bytes; it may begin or end inside a UTF-8 character."""
    return {"hex": data.hex()}


def words(s):
    """Text cut before each space, so that it streams word by word."""
    return [text(w) for w in re.findall(r"\s*\S+|\s+$", s)]


def bytewise(s):
    """Text cut into single bytes (each byte value may occur once in a whole checkpoint)."""
    return [raw(bytes([b])) for b in s.encode()]


def action(calls, first=0):
    """An action block in the canonical layout: calls is a list of (name, parameters[, raw JSON])."""
    out = [START_ACTION, text("[\n")]
    for i, (name, parameters) in enumerate(calls):
        body = parameters if isinstance(parameters, str) else json.dumps(parameters, ensure_ascii=False)
        out += [text('    {"tool_call_id": "%d", ' % (first + i)), text('"tool_name": "%s", ' % name),
                text('"parameters": '), text(body), text("},\n" if i + 1 < len(calls) else "}\n")]
    return out + [text("]"), END_ACTION]


def parse_chunk(chunk, where):
    """-> ("marker", str) or ("bytes", bytes)."""
    if isinstance(chunk, str):
        if chunk in MARKERS:
            return "marker", chunk
        return "bytes", chunk.encode()
    if isinstance(chunk, dict) and len(chunk) == 1:
        kind, value = next(iter(chunk.items()))
        if kind == "text" and isinstance(value, str):
            return "bytes", value.encode()
        if kind == "hex" and isinstance(value, str):
            try:
                return "bytes", bytes.fromhex(value)
            except ValueError:
                raise ScriptError(f"{where}: \"hex\" is not hexadecimal: {value!r}") from None
        if kind == "marker":
            if value not in MARKERS:
                raise ScriptError(f"{where}: unknown marker {value!r}; known: {' '.join(MARKERS)}")
            return "marker", value
    raise ScriptError(f"{where}: a chunk is a string, {{\"text\": …}}, {{\"hex\": …}} or {{\"marker\": …}}, not {chunk!r}")


def parse_script(value, where):
    """-> (list of parsed chunks, loop index or None). Appends the end of turn if it is missing."""
    loop = None
    if isinstance(value, dict):
        unknown = set(value) - {"chunks", "loop"}
        if unknown:
            raise ScriptError(f"{where}: unknown key {sorted(unknown)[0]!r}; a script has \"chunks\" and \"loop\"")
        loop, value = value.get("loop"), value.get("chunks")
    if not isinstance(value, list):
        raise ScriptError(f"{where}: a script is a list of chunks, or an object with \"chunks\" and \"loop\"")
    chunks = [parse_chunk(c, f"{where}[{i}]") for i, c in enumerate(value)]
    if loop is not None:
        if not isinstance(loop, int) or not 0 <= loop < len(chunks):
            raise ScriptError(f"{where}: \"loop\" must be the index of a chunk, 0 to {len(chunks) - 1}")
        if ("marker", EOT) in chunks:
            raise ScriptError(f"{where}: a looping script cannot hold {EOT}")
    elif not chunks or chunks[-1] != ("marker", EOT):
        chunks.append(("marker", EOT))
    if ("marker", EOT) in chunks[:-1]:
        raise ScriptError(f"{where}: {EOT} ends the turn; it can only be the last chunk")
    # An empty chunk has no token: drop it, and keep the loop's target right.
    keep = [i for i, c in enumerate(chunks) if c[1] not in (b"",)]
    if loop is not None:
        loop = sum(1 for i in keep if i < loop)
    return [chunks[i] for i in keep], loop


def shown(piece):
    return repr(piece[1] if piece[0] == "marker" else piece[1].decode("utf-8", "backslashreplace"))


def segment(data, wanted, used, budget=20000):
    """Cut `data` at the offsets `wanted` where it can be, elsewhere where it must, so that no piece
    is in `used` and none occurs twice. Returns the pieces or None. Depth-first: the wanted cut first, then
    merges with the following chunks, then cuts at other places, nearest to the wanted one first."""
    steps = [0]

    def search(at, path, taken):
        if at == len(data):
            return path
        ahead = [w for w in wanted if w > at]
        near = ahead[0]
        others = sorted((e for e in range(at + 1, len(data) + 1) if e not in ahead), key=lambda e: (abs(e - near), e))
        for end in ahead + others:
            piece = data[at:end]
            steps[0] += 1
            if steps[0] > budget:
                return None
            if piece in used or piece in taken:
                continue
            found = search(end, path + [piece], taken | {piece})
            if found is not None:
                return found
        return None

    sys.setrecursionlimit(max(10000, sys.getrecursionlimit()))
    return search(0, [], frozenset())


def unique_chunks(chunks, loop, used, where, rechunk):
    """Replace chunks by pieces that occur once in the checkpoint. `used` is updated.
    Returns (pieces, loop index in pieces)."""
    out, new_loop, i = [], None, 0
    seen_markers = set()
    while i < len(chunks):
        if i == loop:
            new_loop = len(out)
        if chunks[i][0] == "marker":
            if chunks[i][1] in seen_markers:
                raise ScriptError(f"{where}[{i}]: {chunks[i][1]} occurs twice in one script; a marker is one token "
                                  "and can be followed by one thing only. Use it once, or make two checkpoints.")
            seen_markers.add(chunks[i][1])
            out.append(chunks[i])
            i += 1
            continue
        j = i + 1
        while j < len(chunks) and chunks[j][0] == "bytes" and j != loop:
            j += 1
        run = [c[1] for c in chunks[i:j]]
        if rechunk:
            wanted, at = [], 0
            for piece in run:
                at += len(piece)
                wanted.append(at)
            pieces = segment(b"".join(run), wanted, used)
        else:
            pieces = run if len(set(run)) == len(run) and not used.intersection(run) else None
        if pieces is None:
            seen = next((p for p in run if p in used or run.count(p) > 1), run[0])
            raise ScriptError(
                f"{where}[{i}..{j - 1}]: {b''.join(run)[:80]!r} cannot be cut into pieces that occur only once "
                f"({shown(('bytes', seen))} is taken{'' if rechunk else ' and rechunk is false'}). "
                "A token has one successor, so every piece must be new: vary the text, or use longer chunks.")
        used.update(pieces)
        out += [("bytes", p) for p in pieces]
        i = j
    return out, new_loop
