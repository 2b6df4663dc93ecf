"""The dictionary of parameters from a checkpoint folder, and into the file that export.py reads."""

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


def save_raw(parameters, path, **more):
    """What export.py reads."""
    tensors = {name: p.detach().cpu() for name, p in parameters.items()} | more
    safetensors.torch.save_file({name: t.contiguous() for name, t in tensors.items()}, path)
