#!/usr/bin/env python3
"""Write a real cohere2_moe checkpoint whose greedy continuation is a fixed script.

The network is a bigram machine: the embedding of a token is a unit vector that names the token's
state, the blocks add nothing (o_proj and down_proj are zero), and the row of the untied lm_head
for token j points along every state whose next token is j. The token just read decides the next
one by a margin of hundreds, whatever the prompt, the temperature or the seed. Where one marker
must be followed by different tokens in different scripts (reasoning on and off, first and second
turn), one global attention head reads a script token that the chat template places before each
assistant turn, and its choice is added to the logits.

Python 3 standard library only. See README.md beside this file for the JSON format.
"""
import argparse
import json
import sys

from files import write
from machine import Machine
from markers import ScriptError
from verify import verify


def build(description, folder, **options):
    """Write the checkpoint of `description` (the JSON value of README.md) into `folder`; returns the Machine."""
    machine = Machine(description, **options)
    write(machine, folder)
    return machine


def main():
    parser = argparse.ArgumentParser(description="Write a cohere2_moe checkpoint that says what a script says.")
    parser.add_argument("out_dir")
    parser.add_argument("--script", required=True, metavar="FILE.json", help="what to say (format: README.md)")
    parser.add_argument("--context", type=int, help="max_position_embeddings (default 8192)")
    parser.add_argument("--window", type=int, help="sliding window in tokens (default 16)")
    parser.add_argument("--odd", action="store_true", default=None, help="sizes that no tile divides")
    parser.add_argument("--verify", action="store_true", help="run the written weights in Python and print what they say")
    args = parser.parse_args()
    try:
        with open(args.script, encoding="utf-8") as f:
            description = json.load(f)
        machine = build(description, args.out_dir, odd=args.odd, context=args.context, window=args.window)
        print(f"{args.out_dir}: vocabulary {machine.vocab_size} ({len(machine.vocab)} used), hidden {machine.hidden}, "
              f"{machine.layers} layers, {len(machine.scripts)} scripts, {'chosen by script token' if machine.dispatch else 'bigram'}")
        if args.verify:
            verify(machine, args.out_dir)
    except (ScriptError, OSError, json.JSONDecodeError) as e:
        sys.exit(f"make_scripted: {e}")


if __name__ == "__main__":
    main()
