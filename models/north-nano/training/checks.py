"""Whether an answer is right."""

import json
import random
import re
import subprocess
import sys

from generators import python_tasks

RUN = """
import json, sys
def load(code, name):
    space = {}
    exec(code, space)
    return space[name]
job = json.load(sys.stdin)
ours, theirs = load(job["code"], job["name"]), load(job["answer"], job["name"])
def same(a, b):
    if isinstance(a, float) and isinstance(b, (int, float)):
        return abs(a - b) <= 1e-9 * max(1, abs(a))
    return type(a) is type(b) and a == b
for arguments in job["inputs"]:
    copy = json.loads(json.dumps(arguments))
    if not same(ours(*arguments), theirs(*copy)):
        print("differs for", arguments)
        sys.exit(1)
"""


def parse(text):
    """(what stands in the answer's text block, or the whole; the calls, or None)"""
    block = re.search(r"<\|START_TEXT\|>(.*?)(<\|END_TEXT\|>|$)", text, re.S)
    action = re.search(r"<\|START_ACTION\|>(.*?)(<\|END_ACTION\|>|$)", text, re.S)
    calls = None
    if action:
        try:
            calls = [(c["tool_name"], c["parameters"]) for c in json.loads(action.group(1))]
        except (ValueError, KeyError, TypeError):
            calls = []
    return block.group(1) if block else text, calls


def python(task, content):
    """Runs the function of an answer beside the known solution on 20 drawn inputs."""
    block = re.search(r"```(?:python)?\n(.*?)(```|$)", content, re.S)
    code = block.group(1) if block else content
    r = random.Random(task.description)
    inputs = [[python_tasks.argument(r, k) for k in python_tasks.kinds_of(task)] for _ in range(20)]
    job = json.dumps({"code": task.code(), "answer": code, "name": task.name, "inputs": inputs})
    try:
        done = subprocess.run([sys.executable, "-I", "-c", RUN], input=job.encode(), capture_output=True, timeout=10)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def step(expected, content, calls):
    """Exactly the expected calls; or no call and a text with the expected fact."""
    if isinstance(expected, str):
        return calls is None and expected in content
    return calls == [(name, arguments) for name, arguments in expected]
