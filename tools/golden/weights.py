"""Weights for golden models: random, but such that few routings and few greedy choices are near a
tie, where float32 and a bf16 engine may rightly disagree.

The rows of every router are the same orthonormal directions in another order. Each token's
embedding leans on those directions by a ladder of evenly spaced steps, and what the layers add is
small beside it; so the router logits of a token stay apart. Everything else is plain noise, scaled
so that attention weights differ between keys and SiLU works away from zero.
"""

import math

import torch

LADDER_STEP = 2.0  # between the router directions of an embedding; the noise beside it has rms 1
ROUTER_GAIN = 0.5  # keeps sigmoid scores away from 1
BRANCH_GAIN = 0.2  # what one attention or MLP adds to each value of the stream, about


class WeightMaker:
    def __init__(self, config, seed):
        self.config = config
        self.random = torch.Generator().manual_seed(seed)
        square = self._normal((config["hidden_size"], config["num_experts"]))
        self.directions = torch.linalg.qr(square).Q.T  # [experts, hidden], orthonormal rows

    def _normal(self, shape, std=1.0):
        return torch.randn(shape, generator=self.random) * std

    def _permutation(self):
        return torch.randperm(self.config["num_experts"], generator=self.random)

    def _embedding(self):
        experts = self.config["num_experts"]
        ladder = (torch.arange(experts) - (experts - 1) / 2) * LADDER_STEP
        rows = [ladder[self._permutation()] @ self.directions
                for _ in range(self.config["vocab_size"])]
        return torch.stack(rows) + self._normal((len(rows), self.config["hidden_size"]))

    def make(self, name, shape):
        """The float32 value of parameter `name`, by the last words of its name."""
        if name.endswith("embed_tokens.weight"):
            return self._embedding()
        if name.endswith("lm_head.weight"):
            return self._normal(shape)
        if name.endswith("norm.weight"):
            scale = 0.7 + 0.6 * torch.rand(shape, generator=self.random)
            if not name.endswith("layernorm.weight"):
                # Signs in the last norm keep a tied head from repeating its input token.
                scale = scale * torch.sign(self._normal(shape))
            return scale
        if name.endswith("mlp.gate.weight"):
            return self.directions[self._permutation()] * ROUTER_GAIN
        fan_in = shape[-1]
        gain = 1.3
        if name.endswith(("o_proj.weight", "down_proj.weight", "down_proj")):
            gain = BRANCH_GAIN
        return self._normal(shape, gain / math.sqrt(fan_in))


def fill(model, config, seed):
    """Overwrites every parameter of `model` with bf16 values, in the order of their names."""
    maker = WeightMaker(config, seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            value = maker.make(name, tuple(parameter.shape))
            assert value.shape == parameter.shape, (name, value.shape, parameter.shape)
            parameter.copy_(value.to(torch.bfloat16))
