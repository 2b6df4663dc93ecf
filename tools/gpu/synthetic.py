"""Synthetic weights as torch tensors, by the rule of docs/conversion.md."""

import math

import torch
import xxhash

GOLDEN = 0x9E3779B97F4A7C15
LOGIT_SPREAD = 6  # about the standard deviation of the logits
BLOCK_SHARE = 0.3  # of the embedding's size, what all layers together add


def signed(value):
    """The int64 with the bits of an unsigned number."""
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def shift_right(z, bits):
    """Of the bits of int64 as an unsigned number."""
    return (z >> bits) & (2**(64 - bits) - 1)


def splitmix64(state):
    z = state + signed(GOLDEN)
    z = (z ^ shift_right(z, 30)) * signed(0xBF58476D1CE4E5B9)
    z = (z ^ shift_right(z, 27)) * signed(0x94D049BB133111EB)
    return z ^ shift_right(z, 31)


def seed_of(name):
    return signed(xxhash.xxh3_64_intdigest(name.encode()))


def unit(hashes):
    """The upper 24 bits as float32 in [-1, 1)."""
    return (shift_right(hashes, 40) - 2**23).float() * 2.0**-23


def power_of_two(x):
    """The largest that is not above x."""
    return math.ldexp(1.0, math.frexp(x)[1] - 1)


def router_step(layer, experts):
    step = 2 * layer + 1
    while math.gcd(step, experts) != 1:
        step += 2
    return step


class SyntheticWeights:
    def __init__(self, config, device):
        self.device, self.experts = device, config.num_experts
        self.chosen = config.num_experts_per_tok
        hidden, scale = config.hidden_size, abs(config.logit_scale)
        size = LOGIT_SPREAD / (scale * math.sqrt(hidden))
        self.step = power_of_two(size / (4 * math.sqrt(2 * self.chosen)))
        self.embedding_noise = 4 * self.step * power_of_two(math.sqrt(3 * self.chosen))
        self.router_gain = torch.tensor(3 * math.sqrt(self.chosen) / hidden).item()
        self.router_noise = power_of_two(self.router_gain / 4)
        self.output_gain = BLOCK_SHARE * size / math.sqrt(config.num_hidden_layers)
        self.head_gain = LOGIT_SPREAD / scale
        ones = torch.arange(1, self.experts + 1)[:, None] & torch.arange(hidden)
        for shift in (32, 16, 8, 4, 2, 1):
            ones = ones ^ (ones >> shift)
        self.signs = (1 - 2 * (ones & 1)).float().to(device)  # [experts, hidden]

    def hashes(self, seeds, count):
        index = torch.arange(count, device=self.device) * signed(GOLDEN)
        return splitmix64(torch.tensor(seeds, device=self.device)[:, None] + index)

    def tensor(self, name, shape):
        """A parameter in BF16, by its name in checkpoints."""
        if name.endswith(".mlp.gate.weight"):
            return self.router(name, shape)
        if name == "model.embed_tokens.weight":
            return self.embedding(name, shape)
        if name.endswith("norm.weight"):
            hashes = self.hashes([seed_of(name)], shape[0])[0]
            value = 1 + 0.125 * unit(hashes)
            negative = (name == "model.norm.weight") & (hashes & 1 == 1)
            return torch.where(negative, -value, value).bfloat16()
        return self.stack([name], shape)[0]

    def stack(self, names, shape):
        """Several of plain noise, all of one kind and shape: [names, rows, cols]."""
        rows, cols = shape
        gain = 1
        if names[0] == "lm_head.weight":
            gain = self.head_gain
        elif names[0].endswith((".o_proj.weight", ".down_proj.weight")):
            gain = self.output_gain
        scale = torch.tensor(gain * math.sqrt(3 / cols), dtype=torch.float32, device=self.device)
        out = torch.empty(len(names), rows, cols, dtype=torch.bfloat16, device=self.device)
        for first in range(0, len(names), 32):  # int64 takes four times the room
            seeds = [seed_of(name) for name in names[first:first + 32]]
            values = scale * unit(self.hashes(seeds, rows * cols))
            out[first:first + 32] = values.bfloat16().view(-1, rows, cols)
        return out

    def router(self, name, shape):
        layer = int(name.split(".")[2])
        expert = torch.arange(self.experts, device=self.device)
        direction = (router_step(layer, self.experts) * expert + 7 * layer) % self.experts
        noise = self.router_noise * unit(self.hashes([seed_of(name)], shape[0] * shape[1])[0])
        return (self.router_gain * self.signs[direction] + noise.view(shape)).bfloat16()

    def embedding(self, name, shape):
        strengths = self.strengths(shape[0])
        out = torch.empty(shape, dtype=torch.bfloat16, device=self.device)
        index = torch.arange(shape[1], device=self.device)
        for first in range(0, shape[0], 16384):
            rows = torch.arange(first, min(first + 16384, shape[0]), device=self.device)
            flat = rows[:, None] * shape[1] + index
            noise = unit(splitmix64(flat * signed(GOLDEN) + seed_of(name)))
            sums = strengths[first:first + 16384] @ self.signs
            out[first:first + 16384] = (self.step * sums + self.embedding_noise * noise).bfloat16()
        return out

    def strengths(self, tokens):
        """How much each token leans on each direction: [tokens, experts], K of them not 0."""
        token = torch.arange(tokens, device=self.device)
        seeds = splitmix64(token * signed(GOLDEN) + seed_of("directions"))
        strengths = torch.zeros(tokens, self.experts, device=self.device)
        drawn = torch.zeros(tokens, dtype=torch.int64, device=self.device)
        i = 0
        while (drawn < self.chosen).any():
            candidate = shift_right(splitmix64(seeds + signed(i * GOLDEN)), 32) % self.experts
            taken = (drawn < self.chosen) & (strengths[token, candidate] == 0)
            strengths[token[taken], candidate[taken]] = (3 + drawn[taken] % 3).float()
            drawn += taken
            i += 1
        return strengths
