"""Small files of a made-up project, and what one can ask about them or change in them."""

import dataclasses
import json

from generators import needle, python_tasks, words


@dataclasses.dataclass
class File:
    path: str  # in the project
    lines: list
    values: list  # (key, value as written, index of its line)
    functions: list  # (task, index of its first line)

    def content(self):
        return "\n".join(self.lines) + "\n"

    def shown(self, absolute):
        """As the read tool shows it."""
        numbered = "\n".join(f"{i + 1}: {line}" for i, line in enumerate(self.lines))
        return (f"<path>{absolute}</path>\n<type>file</type>\n<content>\n{numbered}\n\n"
                f"(End of file - total {len(self.lines)} lines)\n</content>")


def key(r, upper=False):
    k = r.choice(["port", "host", "timeout", "retries", "limit", "version", "debug", "name", "size", "level", "color", "path", "user", "mode", "max_items",
                  "interval", "threshold", "rate", words.word(r), f"{words.word(r)}_{words.word(r)}", words.syllables(r)])
    return k.upper() if upper else k


def value(r):
    return r.choice([words.number, words.number, words.word, words.code, words.decimal, words.path, words.clock, words.city,
                     lambda r: r.choice(["true", "false"])])(r)


def settings(r):
    path = words.path(r, r.choice(["ini", "env", "yaml", "toml", "conf", "cfg", "txt"]))
    form = {"yaml": "{k}: {v}", "env": "{k}={v}", "txt": "{k}: {v}"}.get(path.rsplit(".", 1)[1], "{k} = {v}")
    lines, values = [], []
    if r.random() < 0.4:
        lines.append(r.choice([f"# {words.title(r)}", f"[{words.word(r)}]" if form != "{k}: {v}" else f"# {words.word(r)}"]))
    for _ in range(r.randint(2, 9)):
        k, v = key(r, form == "{k}={v}"), value(r)
        if k in [known for known, _, _ in values]:
            continue
        v = f'"{v}"' if isinstance(v, str) and path.endswith("toml") and v not in ("true", "false") else str(v)
        values.append((k, v, len(lines)))
        lines.append(form.format(k=k, v=v))
        if r.random() < 0.08:
            lines.append("")
    while lines[-1] == "":
        lines.pop()
    return File(path, lines, values, [])


def json_file(r):
    values, lines, entries = [], ["{"], {}
    for _ in range(r.randint(2, 7)):
        entries[key(r)] = value(r)
    for i, (k, v) in enumerate(entries.items()):
        values.append((k, json.dumps(v), len(lines)))
        lines.append(f"  {json.dumps(k)}: {json.dumps(v)}" + ("," if i + 1 < len(entries) else ""))
    return File(words.path(r, "json"), lines + ["}"], values, [])


def python_file(r):
    lines, values, functions = [], [], []
    if r.random() < 0.3:
        lines += [f'"""{words.title(r)}."""', ""]
    if r.random() < 0.5:
        lines += [f"import {m}" for m in sorted(r.sample(["os", "sys", "re", "json", "math", "random", "time"], r.randint(1, 3)))] + [""]
    for _ in range(r.choice([0, 1, 2, 3])):
        k, v = key(r, True), value(r)
        if k not in [known for known, _, _ in values]:
            text = json.dumps(v) if v not in ("true", "false") else v.capitalize()
            values.append((k, text, len(lines)))
            lines.append(f"{k} = {text}")
    for _ in range(r.choice([1, 1, 2, 3]) if not values or r.random() < 0.8 else 0):
        task = python_tasks.task(r)
        if "math." in task.body or task.name in [t.name for t, _ in functions]:
            continue
        lines += ["", ""] if lines else []
        functions.append((task, len(lines)))
        doc = f"{task.description[0].upper()}{task.description[1:]}." if r.random() < 0.5 else None
        lines += task.code(doc).split("\n")
    if not lines:
        return python_file(r)
    while lines[-1] == "":
        lines.pop()
    return File(words.path(r, "py"), lines, values, functions)


def notes(r):
    lines = [words.sentence(r) for _ in range(r.randint(1, 6))]
    return File(words.path(r, r.choice(["txt", "md"])), lines, [], [])


def facts(r):
    """(file, [(question, value)])"""
    lines, asked = [words.sentence(r) for _ in range(r.randint(0, 5))], []
    for _ in range(r.randint(1, 3)):
        statement, question, answer = needle.fact(r)
        asked.append((question, answer.rstrip(".").rsplit(" is ", 1)[1]))
        lines.insert(r.randint(0, len(lines)), statement)
    return File(words.path(r, r.choice(["txt", "md"])), lines, [], []), asked


def any_file(r):
    return r.choice([settings, settings, json_file, python_file, python_file, notes])(r)
