"""Renders conversations as ../chat_template.jinja does, much faster (test_cmd4.py compares).

A conversation is a dictionary: `messages` as the OpenAI API has them, with tool arguments as
dictionaries; `tools`, a list of {name, description, parameters}; `reasoning`, whether the last
answer was asked for with reasoning on.
"""

import json
from pathlib import Path

PLATFORM = (Path(__file__).parent.parent / "chat_template.jinja").read_text()
PLATFORM = PLATFORM[PLATFORM.index("# System Preamble"):]
PLATFORM = PLATFORM[:PLATFORM.index("{%- endif -%}")].rstrip("\n")

MARKERS = ["<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>",
           "<|SYSTEM_TOKEN|>", "<|START_THINKING|>", "<|END_THINKING|>", "<|START_TEXT|>",
           "<|END_TEXT|>", "<|START_ACTION|>", "<|END_ACTION|>", "<|START_TOOL_RESULT|>",
           "<|END_TOOL_RESULT|>"]


def dumps(value):
    return json.dumps(value, ensure_ascii=False)


def turn(role, body):
    return f"<|START_OF_TURN_TOKEN|><|{role}_TOKEN|>{body}<|END_OF_TURN_TOKEN|>"


def text(body):
    return f"<|START_TEXT|>{body}<|END_TEXT|>"


def platform(tools):
    lines = [f'    {{"name": {dumps(t["name"])}, "description": {dumps(t["description"])}, '
             f'"parameters": {dumps(t["parameters"])}, "responses": null}}' for t in tools]
    return turn("SYSTEM", text(PLATFORM + "\n\n# Available Tools\n```json\n[\n" + ",\n".join(lines) + "\n]\n```"))


def actions(calls, first):
    lines = [f'    {{"tool_call_id": "{first + i}", "tool_name": {dumps(name)}, '
             f'"parameters": {dumps(arguments)}}}' for i, (name, arguments) in enumerate(calls)]
    return "<|START_ACTION|>[\n" + ",\n".join(lines) + "\n]<|END_ACTION|>"


def results(values, first):
    lines = [f'    {{\n        "tool_call_id": "{first + i}",\n        "results": {{\n            '
             f'"0": {dumps({"content": value})}\n        }},\n        "is_error": null\n    }}'
             for i, value in enumerate(values)]
    return turn("SYSTEM", "<|START_TOOL_RESULT|>[\n" + ",\n".join(lines) + "\n]<|END_TOOL_RESULT|>")


class Conversation:
    """Turns in order; every answer is learnt from. With reasoning off thoughts are left out."""

    def __init__(self, tools=(), reasoning=True):
        self.reasoning, self.tools = reasoning, list(tools)
        self.messages = []  # as the API has them, for evaluation
        self.parts = ["<BOS_TOKEN>", platform(self.tools)]
        self.calls = 0
        self.pending = []
        self.expected = []  # per answer: its calls, or what its text must contain

    def system(self, body):
        self.messages.append({"role": "system", "content": body})
        self.parts.append(turn("SYSTEM", text(body)))

    def user(self, body):
        self.messages.append({"role": "user", "content": body})
        self.parts.append(turn("USER", text(body)))

    def _answer(self, thought, body):
        if thought and self.reasoning:
            self.messages[-1]["reasoning_content"] = thought
        thought = f"<|START_THINKING|>{thought}<|END_THINKING|>" if thought and self.reasoning else ""
        self.parts.append((thought, body))

    def answer(self, body, thought="", fact=None):
        """`fact`: the part of the answer that counts in an evaluation; without it, all."""
        self.expected.append(body if fact is None else fact)
        self.messages.append({"role": "assistant", "content": body})
        self._answer(thought, text(body))

    def call(self, calls, thought=""):
        """calls: [(tool name, arguments)]"""
        self.expected.append(calls)
        self.messages.append({"role": "assistant", "content": "", "tool_calls": [
            {"id": f"call_{self.calls + i}", "type": "function",
             "function": {"name": name, "arguments": dumps(arguments)}}
            for i, (name, arguments) in enumerate(calls)]})
        self._answer(thought, actions(calls, self.calls))
        self.pending = [self.calls + i for i in range(len(calls))]
        self.calls += len(calls)

    def result(self, *values):
        for i, value in zip(self.pending, values):
            self.messages.append({"role": "tool", "tool_call_id": f"call_{i}", "content": value})
        self.parts.append(results(values, self.pending[0]))

    def render(self, r):
        """The whole text. With reasoning off it ends with a random one of the answers: only the
        last one starts as the generation prompt does, and any answer may be the one asked for."""
        places = [i for i, part in enumerate(self.parts) if isinstance(part, tuple)]
        last = places[-1] if self.reasoning else r.choice(places)
        out = []
        for i, part in enumerate(self.parts[:last + 1]):
            if isinstance(part, tuple):
                thought, body = part
                if i == last and not self.reasoning:
                    thought = "<|START_THINKING|><|END_THINKING|>"
                part = turn("CHATBOT", thought + body)
            out.append(part)
        return "".join(out)

    def prompt(self, upto):
        """The generation prompt of the answer after `upto` answers, and that answer's body."""
        out, seen = [], 0
        for part in self.parts:
            if isinstance(part, tuple):
                if seen == upto:
                    start = "<|START_THINKING|>" + ("" if self.reasoning else "<|END_THINKING|>")
                    return "".join(out) + "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>" + start, part[1]
                seen += 1
                part = turn("CHATBOT", part[0] + part[1])
            out.append(part)
        raise IndexError(upto)
