"""Muon for matrices, AdamW for the embedding, the routers and the norms.

Muon (Jordan et al. 2024) replaces the momentum of a matrix by the nearest orthogonal one, found by
five Newton-Schulz steps; experts are matrices of a batch.
"""

import torch


def orthogonalize(g):
    """[..., rows, columns] -> the same shape with singular values near 1; bfloat16."""
    x = g.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.transpose(-1, -2)
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        s = x @ x.transpose(-1, -2)
        x = 3.4445 * x + (-4.7750 * s + 2.0315 * s @ s) @ x
    return x.transpose(-1, -2) if tall else x


def as_matrices(name, tensor):
    """The matrices that `tensor` holds: gate and up of a fused pair are two."""
    if name.endswith("gate_up_proj"):
        experts, rows, columns = tensor.shape
        return tensor.view(2 * experts, rows // 2, columns)
    return tensor if tensor.dim() == 3 else tensor[None]


class Muon:
    def __init__(self, parameters, momentum=0.95, decay=0.05):
        """parameters: name -> float32 matrix or stack of matrices."""
        self.momentum, self.decay = momentum, decay
        groups = {}
        for name, p in parameters.items():
            groups.setdefault(as_matrices(name, p).shape[1:], []).append((name, p))
        self.groups = []
        for shape, members in groups.items():
            count = sum(as_matrices(*m).shape[0] for m in members)
            state = torch.zeros(count, *shape, device=members[0][1].device)
            self.groups.append((members, state))

    @torch.no_grad()
    def step(self, rate):
        for members, state in self.groups:
            gradient = torch.cat([as_matrices(name, p.grad) for name, p in members])
            state.lerp_(gradient, 1 - self.momentum)
            update = orthogonalize(gradient.lerp(state, self.momentum))
            rows, columns = state.shape[1:]
            update = update.float() * max(1, rows / columns) ** 0.5
            begin = 0
            for name, p in members:
                count = as_matrices(name, p).shape[0]
                p.mul_(1 - rate * self.decay)
                p.sub_(update[begin:begin + count].reshape(p.shape), alpha=rate)
                begin += count


def is_matrix(name):
    """Whether Muon trains the parameter."""
    return "_proj" in name


def optimizers(parameters):
    """(Muon, AdamW); AdamW's rate is set per step."""
    matrices = {n: p for n, p in parameters.items() if is_matrix(n)}
    others = [p for n, p in parameters.items() if not is_matrix(n)]
    return Muon(matrices), torch.optim.AdamW(others, lr=0.0, betas=(0.9, 0.95), weight_decay=0.0,
                                             fused=others[0].is_cuda)
