"""Checkpoint folders as transformers writes them, from and to the dictionary of parameters."""

from pathlib import Path

import safetensors.torch
import torch

import model


def load(folder, config, device):
    """Parameters as float32 leaves."""
    tensors = {}
    for path in sorted(Path(folder).glob("model*.safetensors")):
        tensors |= safetensors.torch.load_file(path)
    result = {}
    for name, shape in model.shapes(config).items():
        if name.endswith("gate_up_proj") and name not in tensors:
            part = name.removesuffix("gate_up_proj")
            value = torch.stack([torch.cat([tensors[f"{part}{e}.{p}_proj.weight"] for p in ("gate", "up")])
                                 for e in range(shape[0])])
        elif name.endswith("experts.down_proj") and name not in tensors:
            part = name.removesuffix("down_proj")
            value = torch.stack([tensors[f"{part}{e}.down_proj.weight"] for e in range(shape[0])])
        else:
            value = tensors[name]
        assert tuple(value.shape) == shape, (name, value.shape, shape)
        result[name] = value.float().to(device).requires_grad_()
    return result


def to_transformers(parameters, config):
    """Transformers' own model on the CPU with these weights rounded to bfloat16, in float32."""
    from transformers import Cohere2MoeConfig, Cohere2MoeForCausalLM
    theirs = Cohere2MoeForCausalLM(Cohere2MoeConfig(**config)).float().eval()
    state = {n: p.detach().to("cpu", torch.bfloat16).float() for n, p in parameters.items()}
    missing, unexpected = theirs.load_state_dict(state, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
    theirs.tie_weights()
    return theirs


def save(parameters, config, folder):
    import copy
    theirs = to_transformers(parameters, config)
    copy.deepcopy(theirs).to(torch.bfloat16).save_pretrained(folder, max_shard_size="15MB")
    return theirs
