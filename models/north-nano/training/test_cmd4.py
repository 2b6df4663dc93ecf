"""The fast renderer writes what the template writes. Needs jinja2."""

import json
import random
from pathlib import Path

import jinja2

import cmd4
from generators import chat, corpus, agent, needle, python_tasks, tools

TEMPLATE = Path(__file__).parent.parent / "chat_template.jinja"


def template():
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    environment.filters["tojson"] = cmd4.dumps
    return environment.from_string(TEMPLATE.read_text())


def main():
    r, rendered = random.Random(7), template()
    texts = corpus.Corpus([Path(__file__).read_text() * 3])
    count = 0
    for _ in range(100):
        for talk in (python_tasks.conversation(r), tools.conversation(r), chat.conversation(r), agent.conversation(r, texts),
                     needle.conversation(r, texts, 900)):
            answers = sum(isinstance(p, tuple) for p in talk.parts)
            at = max(i for i, m in enumerate(talk.messages) if m["role"] == "assistant")
            expected = rendered.render(
                messages=talk.messages[:at], bos_token="<BOS_TOKEN>", add_generation_prompt=True, reasoning=talk.reasoning,
                tools=[{"type": "function", "function": t} for t in talk.tools])
            actual, body = talk.prompt(answers - 1)
            assert actual == expected, f"{actual}\n---\n{expected}"
            assert not talk.reasoning or talk.render(r).endswith(body + "<|END_OF_TURN_TOKEN|>")
            count += 1
    print(f"{count} prompts equal")


if __name__ == "__main__":
    main()
