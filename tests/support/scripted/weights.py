"""The weights: a bigram machine, and one head that reads the script token."""
import math
import random
import struct

from markers import EOT, ScriptError

HEADS, KV_HEADS, HEAD_DIM = 4, 2, 64
EXPERTS, TOP_K = 4, 2
HEAD_WEIGHT = 32.0      # lm_head entry of a decided step, before the factors below
SURE, CHOICE = 4.0, 2.0  # factor for a token with one successor; for each of several


def bf16(value):
    """Bits of a value that BF16 holds exactly."""
    bits, = struct.unpack("<I", struct.pack("<f", value))
    if bits & 0xFFFF:
        raise ScriptError(f"{value} is not a BF16 value")
    return bits >> 16


def tensors(machine):
    """Yields (name, shape, bf16 bytes)."""
    H, V, n = machine.hidden, machine.vocab_size, len(machine.vocab)
    rng = random.Random(20260609)
    table = [struct.pack("<H", (s << 15) | (e << 7) | (m << 4)) for s in (0, 1) for e in range(117, 125) for m in range(0, 8)]
    table = (table * 2)[:256]

    def noise(rows, cols):
        return b"".join(map(table.__getitem__, rng.randbytes(rows * cols)))

    def zeros(rows, cols):
        return bytes(2 * rows * cols)

    def sparse(rows, cols, entries, base=None):
        out = bytearray(base or bytes(2 * rows * cols))
        for (r, c), v in entries.items():
            struct.pack_into("<H", out, 2 * (r * cols + c), bf16(v))
        return bytes(out)

    embed = {}
    for token in range(V):
        embed[(token, machine.state.get(token, 0))] = 1.0
        if machine.dispatch:
            embed[(token, machine.const_dim)] = 1.0
    yield "model.embed_tokens.weight", [V, H], sparse(V, H, embed)

    width, kv = HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM
    for layer in range(machine.layers):
        p = f"model.layers.{layer}."
        yield p + "input_layernorm.weight", [H], struct.pack("<H", bf16(1.0)) * H
        if machine.dispatch and layer == 1:
            # Head 0 looks for the script token with the highest number: score = 64 and more per number.
            q = {(r, c): 0.0 for r in range(HEAD_DIM) for c in range(H)}
            k, v = dict(q), dict(q)
            scale = H / 3        # square of a unit entry after the norm, at least H/3 with three entries
            step = 2.0 ** math.ceil(math.log2(64 * math.sqrt(HEAD_DIM) / scale))
            q[(0, machine.const_dim)] = step
            o = {}
            for i, token in enumerate(machine.vocab.script_tokens):
                dim = machine.state[machine.vocab.ids[token]]
                k[(0, dim)] = float(i + 1)
                v[(i, dim)] = 1.0
                o[(machine.turn_dim + i, i)] = 2.0 ** round(-0.5 * math.log2(H / 2))
            yield p + "self_attn.q_proj.weight", [width, H], sparse(width, H, q, noise(width, H))
            yield p + "self_attn.k_proj.weight", [kv, H], sparse(kv, H, k, noise(kv, H))
            yield p + "self_attn.v_proj.weight", [kv, H], sparse(kv, H, v, noise(kv, H))
            yield p + "self_attn.o_proj.weight", [H, width], sparse(H, width, o)
        else:
            yield p + "self_attn.q_proj.weight", [width, H], noise(width, H)
            yield p + "self_attn.k_proj.weight", [kv, H], noise(kv, H)
            yield p + "self_attn.v_proj.weight", [kv, H], noise(kv, H)
            yield p + "self_attn.o_proj.weight", [H, width], zeros(H, width)
        if layer == 0:
            yield p + "mlp.gate_proj.weight", [machine.dense, H], noise(machine.dense, H)
            yield p + "mlp.up_proj.weight", [machine.dense, H], noise(machine.dense, H)
            yield p + "mlp.down_proj.weight", [H, machine.dense], zeros(H, machine.dense)
        else:
            yield p + "mlp.gate.weight", [EXPERTS, H], noise(EXPERTS, H)
            for e in range(EXPERTS):
                x = f"{p}mlp.experts.{e}."
                yield x + "gate_proj.weight", [machine.expert, H], noise(machine.expert, H)
                yield x + "up_proj.weight", [machine.expert, H], noise(machine.expert, H)
                yield x + "down_proj.weight", [H, machine.expert], zeros(H, machine.expert)
    yield "model.norm.weight", [H], struct.pack("<H", bf16(1.0)) * H

    head = {}
    default = [b for b in machine.table.get(None, {EOT: 0})][0]
    head[(machine.vocab.ids[default], 0)] = SURE * HEAD_WEIGHT
    for a, nexts in machine.table.items():
        if a is None or a == EOT:
            continue
        dim = machine.state[machine.vocab.ids[a]]
        for b in nexts:
            head[(machine.vocab.ids[b], dim)] = (SURE if len(nexts) == 1 else CHOICE) * HEAD_WEIGHT
    for i, token in enumerate(machine.vocab.script_tokens):
        head[(machine.vocab.ids[default], machine.state[machine.vocab.ids[token]])] = SURE * HEAD_WEIGHT
        s = next(s for s in machine.scripts if s.token == token)
        for a, b in s.successors():
            if len(machine.table[a]) > 1:
                head[(machine.vocab.ids[b], machine.turn_dim + i)] = HEAD_WEIGHT
    yield "lm_head.weight", [V, H], sparse(V, H, head)
