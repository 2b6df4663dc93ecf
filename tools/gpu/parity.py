#!/usr/bin/env python3
"""Compares the logits of `eval` with those that transformers computes from the same weights.

    eval --synthetic GEOMETRY --device cuda --tokens TOKENS --last N --logits LOGITS
    parity.py GEOMETRY TOKENS LOGITS                       # synthetic weights, made here again
    parity.py CHECKPOINT/config.json TOKENS LOGITS --checkpoint CHECKPOINT

For each line of TOKENS the reference is computed in float32 and in BF16, a layer at a time, so that
no more than one layer's weights are held. Sequences that begin a longer one share its pass. A position's
error is the distance from float32 over the size of the float32 logits. Fails when the median of ours is
larger than that of BF16 (a position whose router logits are nearly tied may get another expert, which
says nothing), or when the first choices agree too seldom.

Needs torch, transformers >= 5.17, safetensors, xxhash; the device is the GPU if there is one.
"""

import argparse
import sys
import time
from pathlib import Path

import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file
from transformers import Cohere2MoeConfig
from transformers.masking_utils import create_causal_mask, create_sliding_window_causal_mask
from transformers.models.cohere2_moe import modeling_cohere2_moe as hf

from synthetic import SyntheticWeights

SLIDING = "sliding_attention"
LEAST_AGREEMENT = 0.95  # of first choices with float32: logits of BF16 turn near ties around
HEAD_ROWS = 64  # positions whose logits are computed at a time


class CheckpointWeights:
    """The tensors of a folder of safetensors files, by their names."""

    def __init__(self, folder, device):
        self.device = device
        self.files = {}
        for path in sorted(Path(folder).glob("*.safetensors")):
            opened = safe_open(path, "pt")
            self.files.update({name: opened for name in opened.keys()})

    def tensor(self, name, shape):
        value = self.files[name].get_tensor(name).to(self.device)
        assert tuple(value.shape) == tuple(shape), (name, value.shape, shape)
        return value

    def stack(self, names, shape):
        return torch.stack([self.tensor(name, shape) for name in names])


def layer_state(config, weights, index):
    """The weights of decoder layer `index`, by the module's names."""
    with torch.device("meta"):
        layer = hf.Cohere2MoeDecoderLayer(config, index)
    prefix = f"model.layers.{index}."
    state = {}
    for name, parameter in layer.named_parameters():
        full = prefix + name
        if name in ("mlp.experts.gate_up_proj", "mlp.experts.down_proj"):
            experts, rows, cols = parameter.shape
            expert = [f"{prefix}mlp.experts.{e}." for e in range(experts)]
            if name.endswith("gate_up_proj"):
                parts = [weights.stack([e + part for e in expert], (rows // 2, cols))
                         for part in ("gate_proj.weight", "up_proj.weight")]
                state[name] = torch.cat(parts, dim=1)
            else:
                state[name] = weights.stack([e + "down_proj.weight" for e in expert], (rows, cols))
        else:
            state[name] = weights.tensor(full, tuple(parameter.shape))
    return state


def build_layer(config, state, index, dtype):
    with torch.device("meta"):
        layer = hf.Cohere2MoeDecoderLayer(config, index)
    layer.load_state_dict({name: value.to(dtype) for name, value in state.items()}, assign=True)
    return layer.eval()


class Reference:
    """A model's hidden states, in float32 and in BF16 side by side."""

    def __init__(self, path, config, weights, device):
        self.config, self.weights, self.device = config, weights, device
        # Float32 in plain operations; BF16 as people run it.
        self.configs = {torch.float32: read_config(path, "eager"),
                        torch.bfloat16: read_config(path, "sdpa")}
        self.rotary = hf.Cohere2MoeRotaryEmbedding(config).to(device)
        shape = (config.vocab_size, config.hidden_size)
        self.embedding = weights.tensor("model.embed_tokens.weight", shape)
        tied = config.tie_word_embeddings
        self.head = self.embedding if tied else weights.tensor("lm_head.weight", shape)

    def run_layer(self, index, state, weights, positions):
        config = self.configs[state.dtype]
        make_mask = (create_sliding_window_causal_mask if config.layer_types[index] == SLIDING
                     else create_causal_mask)
        mask = make_mask(config=config, inputs_embeds=state, attention_mask=None,
                         past_key_values=None, position_ids=positions)
        layer = build_layer(config, weights, index, state.dtype)
        return layer(state, position_embeddings=self.rotary(state, positions), attention_mask=mask)

    def final_norm(self, state):
        config = self.config
        norm = (hf.Cohere2MoeLayerNorm(config.hidden_size, config.layer_norm_eps)
                if config.rms_norm_eps is None
                else hf.Cohere2MoeRMSNorm(config.hidden_size, config.rms_norm_eps))
        weight = self.weights.tensor("model.norm.weight", (config.hidden_size,))
        norm.weight = torch.nn.Parameter(weight.to(state.dtype), requires_grad=False)
        return norm(state)[0]

    def hidden(self, ids):
        """What the last norm returns, by number format: [tokens, hidden]."""
        positions = torch.arange(len(ids), device=self.device)[None]
        rows = self.embedding[torch.tensor(ids, device=self.device)][None]
        states = {dtype: rows.to(dtype) for dtype in self.configs}
        for index in range(self.config.num_hidden_layers):
            weights = layer_state(self.config, self.weights, index)
            for dtype, state in states.items():
                states[dtype] = self.run_layer(index, state, weights, positions)
        return {dtype: self.final_norm(state) for dtype, state in states.items()}

    def logits(self, hidden):
        return (hidden @ self.head.to(hidden.dtype).T * self.config.logit_scale).float()


class Errors:
    """Of positions: distances relative to the size of the float32 logits, and agreeing choices."""

    def __init__(self):
        self.distances, self.agreeing = torch.zeros(0), 0

    def add(self, got, expected):
        distances = (got - expected).norm(dim=1) / expected.norm(dim=1)
        self.distances = torch.cat([self.distances, distances.cpu()])
        self.agreeing += (got.argmax(1) == expected.argmax(1)).sum().item()

    def join(self, other):
        self.distances = torch.cat([self.distances, other.distances])
        self.agreeing += other.agreeing

    @property
    def median(self):
        return self.distances.median().item()

    @property
    def agreement(self):
        return self.agreeing / len(self.distances)

    def __str__(self):
        return (f"error {self.median:.5f} (worst {self.distances.max().item():.5f}), first choice "
                f"{self.agreeing} of {len(self.distances)}")


def compare(reference, hidden, first, ours, device):
    """Errors of ours and of BF16 at the positions from `first` on."""
    errors = {"ours": Errors(), "bf16": Errors()}
    for at in range(0, len(ours), HEAD_ROWS):
        rows = slice(first + at, first + min(at + HEAD_ROWS, len(ours)))
        expected = reference.logits(hidden[torch.float32][rows])
        errors["bf16"].add(reference.logits(hidden[torch.bfloat16][rows]), expected)
        errors["ours"].add(ours[at:at + HEAD_ROWS].to(device), expected)
    return errors


def read_config(path, attention="eager"):
    config = Cohere2MoeConfig.from_json_file(path)
    config._attn_implementation = attention
    config._experts_implementation = "eager"
    return config


def run(arguments):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("highest")
    config = read_config(arguments.geometry)
    weights = (CheckpointWeights(arguments.checkpoint, device) if arguments.checkpoint
               else SyntheticWeights(config, device))
    reference = Reference(arguments.geometry, config, weights, device)
    sequences = [[int(word) for word in line.split()]
                 for line in Path(arguments.tokens).read_text().splitlines()]
    ours = load_file(arguments.logits)
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, "
          f"{torch.cuda.get_device_name() if device.type == 'cuda' else 'CPU'}")
    total = {"ours": Errors(), "bf16": Errors()}
    done = {}  # the tokens of a pass -> its hidden states
    for index, ids in sorted(enumerate(sequences), key=lambda item: -len(item[1])):
        key = next((k for k in done if list(k[:len(ids)]) == ids), None)
        if key is None:
            start = time.time()
            key = tuple(ids)
            done = {key: reference.hidden(ids)}
            print(f"reference of {len(ids)} tokens: {time.time() - start:.1f} s")
        got = ours[f"logits.{index}"]
        errors = compare(reference, done[key], len(ids) - len(got), got, device)
        print(f"context {len(ids):5}, last {len(got):3} positions: ours {errors['ours']}; "
              f"BF16 {errors['bf16']}", flush=True)
        for name, some in errors.items():
            total[name].join(some)
    print(f"all: ours {total['ours']}; BF16 {total['bf16']}")
    good = (total["ours"].median <= total["bf16"].median
            and total["ours"].agreement >= LEAST_AGREEMENT)
    print("PASSED" if good else "FAILED")
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("geometry", help="config.json")
    parser.add_argument("tokens", help="what eval read: a sequence of ids a line")
    parser.add_argument("logits", help="what eval wrote")
    parser.add_argument("--checkpoint", help="a folder of safetensors instead of synthetic weights")
    with torch.no_grad():
        return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
