"""What a training run measures at its end: each skill on held-out prompts, greedily, and whether
transformers computes the same logits. evaluate measures the shipped checkpoint through the server."""

import concurrent.futures
import random

import torch

import checks
import sample
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


def compare_with_transformers(model, theirs, encoder, talk, device):
    """The largest difference of logits, ours in bfloat16 on the GPU and theirs in float32."""
    import settings
    ids = encoder.ids(talk.render(random))[:1500]
    grid = torch.zeros(settings.ROWS, settings.LENGTH, dtype=torch.long, device=device)
    grid[0, :len(ids)] = torch.tensor(ids)
    x, _, _ = model.hidden(grid, torch.zeros_like(grid))
    ours = model.logits(x[0, :len(ids)]).detach().float().cpu()
    with torch.no_grad():
        reference = theirs(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
    norm = (ours - reference).norm() / reference.norm()
    agree = (ours.argmax(-1) == reference.argmax(-1)).float().mean()
    print(f"== transformers float32 against this run's bfloat16, {len(ids)} tokens: relative {norm:.4f}, "
          f"the same likeliest token {agree:.4f}", flush=True)


def run(model, theirs, encoder, corpus_file, cases, most, device):
    r = random.Random(20_000)
    corpus = texts.load(corpus_file)
    many = lambda make: [make() for _ in range(cases)]
    ask = lambda talks, slot, tokens: answers(model, encoder, talks, slot, min(tokens, most), device)
    report("python", ask(many(lambda: python_tasks.conversation(r, True)), 1024, 320),
           lambda talk, upto, text: checks.python(talk.task, checks.parse(text)[0]))
    by_step = lambda talk, upto, text: checks.step(talk.expected[upto], *checks.parse(text))
    report("tools", ask(many(lambda: tools.conversation(r, True)), 2048, 250), by_step)
    report("agent", ask(many(lambda: agent.conversation(r, corpus, True)), 4096, 300), by_step, 8)
    for size in (2_000, 10_000, 20_000):
        made = ask([needle.conversation(r, corpus, size, True) for _ in range(max(16, cases // 4))], 8192, 60)
        longest = max((len(encoder.ids(talk.prompt(0)[0])) for talk, _, _ in made), default=0)
        report(f"needle, up to {longest} tokens", made, by_step, 1)
    for talk, upto, text in ask([chat.conversation(r) for _ in range(12)], 1024, 100):
        print(f"chat: {[m['content'] for m in talk.messages if m['role'] == 'user'][0]!r} -> {text!r}", flush=True)
    compare_with_transformers(model, theirs, encoder, python_tasks.conversation(r), device)
