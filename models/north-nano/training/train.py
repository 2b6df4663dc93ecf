"""Trains north-nano: one stage, resumable from the folder that the stage before wrote.

    python3 train.py --stage 1 --seconds 400 --out OUT [--resume FOLDER]

One GPU, torch >= 2.11, transformers >= 5.17. The learning rate follows the clock, so that a stage
ends in time on any machine; seeds are fixed, but the number of steps is the machine's.
"""

import argparse
import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy
import torch

import attention
import checkpoint
import evaluate_here
import model as north
import optimizer
import settings
import stream

HERE = Path(__file__).parent
WARM_UP = 0.02  # share of the time


class Pool:
    """Rows on the GPU: a step takes rows that no step has seen, else any."""

    def __init__(self, folder, capacity, device, seed):
        self.rows = torch.zeros(capacity, 2, settings.LENGTH, dtype=torch.int16, device=device)
        self.ready = self.taken = self.repeated = 0
        self.random = torch.Generator().manual_seed(seed)
        self.folder = Path(folder)
        threading.Thread(target=self._load, daemon=True).start()

    def _load(self):
        while self.ready + stream.CHUNK_ROWS <= len(self.rows):
            paths = sorted(p for p in self.folder.glob("*.npy") if ".part" not in p.name)
            for path in paths:
                chunk = torch.from_numpy(numpy.load(path))
                if self.ready + len(chunk) > len(self.rows):
                    return
                self.rows[self.ready:self.ready + len(chunk)].copy_(chunk)
                torch.cuda.synchronize()
                self.ready += len(chunk)
                path.unlink(missing_ok=True)
            time.sleep(0.05)

    def batch(self, count):
        if self.ready - self.taken >= count:
            rows = self.rows[self.taken:self.taken + count]
            self.taken += count
        else:
            pick = torch.randint(self.ready, (count,), generator=self.random)
            rows = self.rows[pick.to(self.rows.device)]
            self.repeated += count
        tokens, info = rows[:, 0].long(), rows[:, 1].int()
        return tokens, info // 4, info % 4


def rate_at(share, cool_down, final):
    """Of the peak, when `share` of the time is gone and the last `cool_down` of it goes down to `final`."""
    if share < WARM_UP:
        return share / WARM_UP
    left = max(0.0, 1 - share) / cool_down
    return 1.0 if left > 1 else final + (1 - final) * left


class Trainer:
    def __init__(self, arguments, device):
        self.recipe = settings.STAGES[arguments.stage]
        config = settings.CONFIG
        if arguments.resume:
            self.parameters = checkpoint.load(arguments.resume, config, device)
        else:
            self.parameters = north.initialize(config, arguments.seed, device)
        attend = attention.FlexAttention(config["sliding_window"], settings.ROWS, settings.LENGTH, device)
        self.model = north.Model(config, self.parameters, attend, lambda f: torch.compile(f, dynamic=False))
        self.muon, self.adam = optimizer.optimizers(self.parameters)
        self.weights = torch.tensor(settings.LOSS_WEIGHTS, device=device)
        self.step = 0
        self.curve = []

    def losses(self, batch):
        """(loss to minimize, figures to report)"""
        tokens, documents, counts = batch
        x, balance, most = self.model.hidden(tokens, documents)
        targets = tokens.roll(-1, 1)
        following = counts.roll(-1, 1).long() * (documents == documents.roll(-1, 1))
        following[:, -1] = 0
        each, right = self.model.token_losses(x, targets)
        weight = self.weights[following]
        loss = (each * weight).sum() / weight.sum()
        with torch.no_grad():
            figures = [loss.detach(), balance.detach(), most]
            for kind in (settings.PROMPT, settings.PLAIN, settings.ANSWER):
                chosen = following == kind
                figures.append((each * chosen).sum() / chosen.sum().clamp(min=1))
            figures.append((right * chosen).sum() / chosen.sum().clamp(min=1))
        return loss + 0.01 * balance, torch.stack(figures)

    def train_step(self, batch, factor):
        loss, figures = self.losses(batch)
        loss.backward()
        muon_rate, adam_rate = self.recipe["rates"]
        for group in self.adam.param_groups:
            group["lr"] = adam_rate * factor
        self.adam.step()
        self.muon.step(muon_rate * factor)
        for p in self.parameters.values():
            p.grad = None
        self.step += 1
        return figures


NAMES = ["loss", "balance", "busiest", "prompt", "text", "answer", "right"]


def train(trainer, pool, seconds):
    while pool.ready < 4 * settings.ROWS:
        time.sleep(0.1)
    begin = time.monotonic()
    trainer.train_step(pool.batch(settings.ROWS), 0.0)
    torch.cuda.synchronize()
    print(f"first step {time.monotonic() - begin:.1f} s", flush=True)
    begin = last = time.monotonic()
    last_step, pending = 1, []
    while (now := time.monotonic()) - begin < seconds:
        factor = rate_at((now - begin) / seconds, *trainer.recipe["cool_down"])
        pending.append(trainer.train_step(pool.batch(settings.ROWS), factor))
        if trainer.step % 10 == 0:
            torch.cuda.synchronize()  # keeps the clock honest
        if trainer.step % 50 == 0:
            figures = torch.stack(pending).mean(0).tolist()
            pending = []
            now = time.monotonic()
            speed = (trainer.step - last_step) * settings.ROWS * settings.LENGTH / (now - last)
            last, last_step = now, trainer.step
            trainer.curve.append([trainer.step, round(now - begin, 1)] + [round(f, 4) for f in figures])
            if trainer.step % 200 == 0 or trainer.step <= 200:
                print(f"step {trainer.step} {now - begin:.0f}s {speed / 1e6:.2f}Mtok/s lr {factor:.2f} " +
                      " ".join(f"{n} {f:.3f}" for n, f in zip(NAMES, figures)) +
                      f" rows {pool.ready} repeated {pool.repeated}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stage", type=int, required=True, choices=settings.STAGES)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--tokenizer", type=Path, default=HERE.parent)
    parser.add_argument("--corpus", type=Path, required=True, help="what corpus.py wrote")
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--compiled", type=Path, help="compiled kernels: read if there, written at the end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answer-tokens", type=int, default=400, help="at most, in the evaluation")
    parser.add_argument("--cases", type=int, default=128, help="evaluated per skill at the end")
    arguments = parser.parse_args()
    start = time.monotonic()
    torch.manual_seed(arguments.seed)
    torch.set_float32_matmul_precision("high")
    if arguments.compiled and arguments.compiled.exists():
        torch.compiler.load_cache_artifacts(arguments.compiled.read_bytes())
    device = "cuda"
    rows = Path("/dev/shm/north-nano-rows")
    shutil.rmtree(rows, ignore_errors=True)
    rows.mkdir()
    workers = [subprocess.Popen([sys.executable, HERE / "stream.py", str(arguments.seed * 1000 + arguments.stage * 100 + i),
                                 str(arguments.stage), arguments.tokenizer, arguments.corpus, rows])
               for i in range(arguments.workers)]
    trainer = Trainer(arguments, device)
    count = sum(p.numel() for p in trainer.parameters.values())
    print(f"{count} parameters, {2 * count / 1e6:.1f} MB in bfloat16", flush=True)
    train(trainer, Pool(rows, 120_000, device, arguments.seed), arguments.seconds)
    for w in workers:
        w.kill()
    print(f"trained {trainer.step} steps; {time.monotonic() - start:.0f} s since the start", flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "curve.json").write_text(json.dumps({"names": ["step", "seconds"] + NAMES, "rows": trainer.curve}))
    encoder = stream.Encoder(arguments.tokenizer)
    ids, logits = evaluate_here.probe(trainer.model, encoder, device)
    checkpoint.save_raw(trainer.parameters, rows / "raw.safetensors", **{"probe.ids": ids, "probe.logits": logits})
    export = subprocess.Popen([sys.executable, HERE / "export.py", rows / "raw.safetensors", arguments.out])
    evaluate_here.run(trainer.model, encoder, arguments.corpus, arguments.cases, arguments.answer_tokens, device)
    if arguments.compiled and (artifacts := torch.compiler.save_cache_artifacts()):
        arguments.compiled.write_bytes(artifacts[0])
    print(f"export: {export.wait()}; done; {time.monotonic() - start:.0f} s", flush=True)
    shutil.rmtree(rows, ignore_errors=True)


if __name__ == "__main__":
    main()
