"""What a training run measures at its end: each skill on held-out prompts, greedily. ../evaluate
measures the shipped checkpoint through the server."""

import concurrent.futures
import random

import torch

import checks
import sample
import settings
from generators import agent, chat, corpus as texts, needle, python_tasks, tools


def answers(model, encoder, talks, slot, tokens, device):
    """[(conversation, which of its answers, what the model said)] where the prompt fits."""
    r = random.Random(1)
    asked = [(t, r.randrange(len(t.expected))) for t in talks]
    prompts = [encoder.ids(t.prompt(upto)[0]) for t, upto in asked]
    kept = [i for i, ids in enumerate(prompts) if len(ids) <= slot - tokens]
    made = sample.greedy(model, [prompts[i] for i in kept], slot, tokens, encoder.end, device)
    return [(*asked[i], encoder.text(ids)) for i, ids in zip(kept, made)]


def report(name, made, right, shown=4):
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        verdicts = list(pool.map(lambda one: right(*one), made))
    print(f"== {name}: {sum(verdicts)} of {len(verdicts)} right", flush=True)
    for talk, upto, text in [one for one, good in zip(made, verdicts) if not good][:shown]:
        print(f"  asked: {[m['content'] for m in talk.messages if m['role'] == 'user'][0][-250:]!r}\n"
              f"  want:  {str(talk.expected[upto])[-300:]!r}\n  said:  {text[-300:]!r}", flush=True)


def probe(model, encoder, device):
    """Token ids of one conversation longer than the window, and the logits of each."""
    r = random.Random(30_000)
    text = "".join(python_tasks.conversation(r).render(r) for _ in range(12))
    ids = torch.tensor(encoder.ids(text)[:1500])
    grid = torch.zeros(settings.ROWS, settings.LENGTH, dtype=torch.long, device=device)
    grid[0, :len(ids)] = ids
    x, _, _ = model.hidden(grid, torch.zeros_like(grid))
    return ids, model.logits(x[0, :len(ids)]).detach().float().cpu()


def run(model, encoder, corpus_file, cases, most, device):
    r = random.Random(20_000)
    corpus = texts.load(corpus_file)
    many = lambda make: [make() for _ in range(cases)]
    ask = lambda talks, slot, tokens: answers(model, encoder, talks, slot, min(tokens, most), device)
    report("python", ask(many(lambda: python_tasks.conversation(r, True)), 1024, 320),
           lambda talk, upto, text: checks.python(talk.task, checks.parse(text)[0]))
    by_step = lambda talk, upto, text: checks.step(talk.expected[upto], *checks.parse(text))
    report("tools", ask(many(lambda: tools.conversation(r, True)), 2048, 250), by_step)
    report("agent", ask(many(lambda: agent.conversation(r, corpus, True))[:64], 4096, 200), by_step, 8)
    for size in (2_000, 10_000, 20_000):
        made = ask([needle.conversation(r, corpus, size, True) for _ in range(max(16, cases // 4))], 8192, 60)
        longest = max((len(encoder.ids(talk.prompt(0)[0])) for talk, _, _ in made), default=0)
        report(f"needle, up to {longest} tokens", made, by_step, 1)
    for talk, upto, text in ask([chat.conversation(r) for _ in range(12)], 1024, 100):
        print(f"chat: {[m['content'] for m in talk.messages if m['role'] == 'user'][0]!r} -> {text!r}", flush=True)
