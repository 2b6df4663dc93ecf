#!/usr/bin/python3
"""Regenerates the goldens of the template tests with Jinja itself, set up as transformers does.

Needs python3-jinja2 (3.1 or later) and nothing else. Refreshes in place:
  constructs/*.json   one short template per construct, with "expect" or "fails"
  templates/*.json    for each template of the same name, what every conversation renders to
Usage: make_goldens.py [PATH ...]   (default: all of them)
"""

import datetime
import json
import pathlib
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
NOW = datetime.datetime(2025, 3, 9, 14, 5, 7)  # the tests inject the same clock


class Generation(jinja2.ext.Extension):
    """{% generation %}: marks what the model wrote; rendering shows its body."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(line)

    def _render(self, caller):
        return caller()


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(
            x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: NOW.strftime(form)
    return env


def outcome(source, variables):
    """{"expect": text} or {"fails": Jinja's reason, for the reader only}."""
    try:
        return {"expect": environment().from_string(source).render(**variables)}
    except Exception as error:  # whatever Python raises is a failure of the template
        return {"fails": f"{type(error).__name__}: {error}"}


def write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def refresh_construct(path):
    group = json.loads(path.read_text(encoding="utf-8"))
    for case in group["cases"]:
        variables = {**group.get("variables", {}), **case.get("variables", {})}
        case.pop("expect", None)
        case.pop("fails", None)
        case.update(outcome(case["template"], variables))
    write(path, group)


def refresh_template(path):
    conversations = json.loads((HERE / "conversations.json").read_text(encoding="utf-8"))
    source = path.read_text(encoding="utf-8")
    golden = HERE / "templates" / (path.stem + ".json")
    write(golden, {name: outcome(source, c) for name, c in conversations.items()})


def main():
    paths = [pathlib.Path(p).resolve() for p in sys.argv[1:]]
    if not paths:
        paths = sorted((HERE / "constructs").glob("*.json"))
        paths += sorted((HERE / "templates").glob("*.jinja"))
        paths += sorted((ROOT / "models" / "templates").glob("*.jinja"))
    for path in paths:
        if path.suffix == ".json":
            refresh_construct(path)
        else:
            refresh_template(path)
        print(path.relative_to(ROOT))


main()
