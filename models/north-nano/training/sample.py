"""Greedy answers to many prompts at once, without a cache: prompts share rows as documents do.

The shapes are those of training, and gradients stay on, so that no kernel is compiled anew."""

import torch

import settings


def greedy(model, prompts, slot, tokens, end, device):
    """prompts: lists of ids, each at most slot - tokens long. Returns the new ids of each."""
    per_row = settings.LENGTH // slot
    per_batch = per_row * settings.ROWS
    answers = []
    for begin in range(0, len(prompts), per_batch):
        batch = prompts[begin:begin + per_batch]
        grid = torch.zeros(per_batch, slot, dtype=torch.long)
        for i, ids in enumerate(batch):
            grid[i, :len(ids)] = torch.tensor(ids)
        grid = grid.view(settings.ROWS, settings.LENGTH).to(device)
        documents = (torch.arange(settings.LENGTH) // slot).repeat(settings.ROWS, 1).to(device)
        ends = torch.tensor([len(ids) for ids in batch], device=device)
        start = torch.arange(len(batch), device=device) * slot
        done = torch.zeros(len(batch), dtype=torch.bool, device=device)
        new = []
        for step in range(tokens):
            x, _, _ = model.hidden(grid, documents)
            at = start + ends + step
            chosen = model.logits(x.view(-1, x.shape[-1])[at - 1]).argmax(-1)
            grid.view(-1)[at] = chosen
            new.append(chosen)
            done |= chosen == end
            if step % 8 == 7 and bool(done.all()):
                break
        table = torch.stack(new, 1).tolist()
        answers += [row[:row.index(end)] if end in row else row for row in table]
    return answers
