"""What transformers computes with the shipped checkpoint: logits in float32 on the CPU, and greedy tokens.

    python3 golden.py CHECKPOINT OUT        writes OUT/goldens.safetensors and OUT/tokens.txt

For N = 0, 1: promptN.input_ids i32 [T], promptN.rows i32 [R], promptN.logits_fp32 f32 [R, vocab] of those
positions, promptN.greedy_tokens_fp32 i32. Prompt 0 is a chat turn as transformers renders the template;
prompt 1 is longer than the window.
"""

import random
import sys
from pathlib import Path

import safetensors.torch
import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

from generators import python_tasks

GREEDY, ROWS = 24, 24


def prompts(tokenizer):
    tool = {"type": "function", "function": {"name": "get_weather", "description": "Weather of a city", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}}
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Get the weather in Oslo for 12 days."}]
    chat = tokenizer.apply_chat_template(messages, tools=[tool], add_generation_prompt=True, tokenize=False)
    r = random.Random(5)
    long = "".join(python_tasks.conversation(r).render(r) for _ in range(6))
    for text in (chat, long):
        yield tokenizer(text, add_special_tokens=False)["input_ids"][:900]


def main():
    checkpoint, out = sys.argv[1], Path(sys.argv[2])
    torch.set_num_threads(1)  # one order of additions on any machine
    model = AutoModelForCausalLM.from_pretrained(
        checkpoint, dtype=torch.float32, attn_implementation="eager", experts_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    values, lines = {}, []
    for n, ids in enumerate(prompts(tokenizer)):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
            longer = model.generate(torch.tensor([ids]), max_new_tokens=GREEDY, do_sample=False)[0, len(ids):]
        rows = torch.linspace(0, len(ids) - 1, ROWS).round().int()
        values |= {f"prompt{n}.input_ids": torch.tensor(ids, dtype=torch.int32), f"prompt{n}.rows": rows,
                   f"prompt{n}.logits_fp32": logits[rows.long()].contiguous(), f"prompt{n}.greedy_tokens_fp32": longer.int()}
        lines.append(" ".join(map(str, ids)) + "\n")
        print(f"prompt {n}: {len(ids)} tokens, goes on {tokenizer.decode(longer)!r}")
    out.mkdir(parents=True, exist_ok=True)
    safetensors.torch.save_file(values, out / "goldens.safetensors", metadata={"torch": torch.__version__, "transformers": transformers.__version__})
    (out / "tokens.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
