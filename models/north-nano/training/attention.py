"""Causal attention inside documents that are packed into rows, with and without a window."""

import torch


class FlexAttention:
    """FlexAttention kernels that skip what the mask excludes; needs a GPU and torch.compile."""

    def __init__(self, window, rows, length, device):
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        # One buffer and one pair of functions for all steps, so that nothing is compiled twice.
        documents = self.documents = torch.zeros(rows, length, dtype=torch.int32, device=device)

        def whole(b, h, q, k):
            return (q >= k) & (documents[b, q] == documents[b, k])

        def windowed(b, h, q, k):
            return (q >= k) & (q - k < window) & (documents[b, q] == documents[b, k])

        self.rules = whole, windowed
        self.create = torch.compile(create_block_mask, dynamic=False)
        self.flex = torch.compile(flex_attention, dynamic=False)

    def masks(self, documents):
        """Holds until the next call: forward and backward read the same buffer."""
        self.documents.copy_(documents)
        rows, length = documents.shape
        return tuple(self.create(rule, rows, None, length, length, device=documents.device)
                     for rule in self.rules)

    def __call__(self, q, k, v, masks, sliding):
        return self.flex(q, k, v, block_mask=masks[sliding], enable_gqa=True)


class PlainAttention:
    """The same in one expression, for small sizes and for tests."""

    def __init__(self, window):
        self.window = window

    def masks(self, documents):
        at = torch.arange(documents.shape[1], device=documents.device)
        distance = at[:, None] - at[None, :]
        whole = (documents[:, :, None] == documents[:, None, :]) & (distance >= 0)
        return whole[:, None], (whole & (distance < self.window))[:, None]

    def __call__(self, q, k, v, masks, sliding):
        group = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        scores = (q @ k.transpose(-1, -2)).float() / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~masks[sliding], float("-inf"))
        return scores.softmax(-1).to(v.dtype) @ v
