#!/usr/bin/env python3
"""The documentation names exactly the options that the programs have.

usage: help_test.py BIN_DIR
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Where each program's options are described; of a page with several programs, under which heading.
PAGES = {
    "bench": ("docs/tools.md", "bench"),
    "chat": ("docs/chat.md", None),
    "convert": ("docs/conversion.md", None),
    "eval": ("docs/tools.md", "eval"),
    "inspect": ("docs/tools.md", "inspect"),
    "server": ("docs/server.md", None),
}
EVERYWHERE = {"--help", "--version"}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")


def text_of(page, heading):
    text = (ROOT / page).read_text()
    if heading is None:
        return text
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.M | re.S)[1]


def options_of(program):
    shown = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    names = (line.strip().split("  ")[0] for line in shown.splitlines() if re.match(r"  -", line))
    return {option for line in names for option in OPTION.findall(line)}


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    wrong = []
    for name, (page, heading) in PAGES.items():
        options = options_of(pathlib.Path(sys.argv[1]) / name)
        text = text_of(page, heading)
        known = set(OPTION.findall(text))
        wrong += [f"{page} does not describe {name} {o}" for o in sorted(options - known - EVERYWHERE)]
        # Commands of other programs may stand in a page: only what a table's first column names counts.
        tables = "\n".join(row.split("|")[1] for row in text.splitlines() if row.startswith("| `-"))
        described = set(OPTION.findall(tables))
        wrong += [f"{page} describes {o}, which {name} does not have" for o in sorted(described - options)]
    print("\n".join(wrong) or "every option is described, and every described option is there")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
