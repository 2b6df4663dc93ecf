"""Short Python functions from a description: thousands of compositions and some classics.

One composition in ten, by a hash of its pieces, and the last wording of each classic are never
trained on; `held_out` asks for exactly those.
"""

import dataclasses
import re
import zlib

import cmd4
from generators import python_parts as parts
from generators import programs, words
from generators.python_classics import CLASSICS


@dataclasses.dataclass
class Task:
    name: str
    parameters: str
    kinds: str  # of the arguments, a letter each: see argument()
    description: str  # "returns ..."
    body: str
    usual: str = ""  # the name before a random one took its place

    def code(self, docstring=None):
        lines = [f"def {self.name}({self.parameters}):"]
        if docstring:
            lines.append(f'    """{docstring}"""')
        lines += ["    " + line for line in self.body.split("\n")]
        head = "import math\n\n\n" if "math." in self.body else ""
        return head + "\n".join(lines)


def argument(r, kind):
    number = lambda: r.randint(-9, 30)
    if kind == "l":
        return [number() for _ in range(r.randint(0, 8))]
    if kind == "N":
        return [number() for _ in range(r.randint(1, 8))]
    if kind == "o":
        return sorted(number() for _ in range(r.randint(0, 8)))
    if kind == "e":
        return [number() for _ in range(4)]
    if kind == "L":
        return [[number() for _ in range(r.randint(0, 4))] for _ in range(r.randint(0, 4))]
    if kind == "M":
        columns = r.randint(1, 4)
        return [[number() for _ in range(columns)] for _ in range(r.randint(1, 4))]
    if kind == "s":
        pieces = [r.choice([words.word(r), words.word(r).upper(), str(r.randint(0, 99)), words.name(r)])
                  for _ in range(r.randint(0, 4))]
        return " ".join(pieces) if r.random() < 0.8 else "level" * r.randint(0, 2)
    if kind in "SW":
        return " ".join(words.word(r) for _ in range(r.randint(1, 4)))
    if kind == "i":
        return "_".join(words.word(r) for _ in range(r.randint(1, 4)))
    if kind == "b":
        return format(r.randint(0, 99), "b")
    if kind in "wv":
        some = lambda: r.choice([words.word(r), words.word(r).upper(), str(r.randint(0, 99)), "level", "noon", "abba"])
        result = [some() for _ in range(r.randint(0, 8))]
        return result + [""] if kind == "w" and r.random() < 0.3 else result
    if kind == "n":
        return r.randint(0, 30)
    if kind == "p":
        return r.randint(1, 30)
    if kind == "k":
        return r.randint(-9, 12)
    if kind == "y":
        return r.choice([1900, 2000, 2023, 2024, 2100, r.randint(1800, 2100)])
    if kind == "d":
        return {words.word(r): number() for _ in range(r.randint(0, 5))}
    if kind.startswith("R"):  # R:field,field
        return [{f: (number() if parts.FIELDS[f] == "number" else words.word(r)) for f in kind[2:].split(",")}
                for _ in range(r.randint(0, 6))]
    raise ValueError(kind)


def kinds_of(task):
    return [task.kinds] if task.kinds.startswith("R") else list(task.kinds)


def constants(r):
    a = r.randint(0, 9)
    return {"k": r.randint(1, 12), "d": r.randint(0, 9), "a": a, "b": a + r.randint(1, 20), "m": r.randint(2, 9),
            "c": r.choice("abcdeilmnoprstu"), "s": r.choice([", ", "-", "_", " ", "/", "; ", "+"]), "w": words.word(r)}


def drawn(text, values, **more):
    return text.format(**(values | more))


def numbers(r):
    v = r.choice(["nums", "numbers", "values", "items", "data", "xs", words.word(r)])
    c = constants(r)
    f, fcode, fname = r.choice(parts.NUMBER_FILTERS)
    if r.random() < 0.3:
        e, code, ename = r.choice(parts.NUMBER_COUNTS)
        key = f"{fname}/{ename}"
        phrase, condition = drawn(f, c), drawn(fcode, c)
        where = f" in {v}" if ename in ("count", "number_of") else ""
        return key, Task(f"{ename}_{fname}", v, "l", "returns " + e.format(p=phrase, v=v) + where,
                         "return " + code.format(v=v, f=condition))
    m, mcode, mname = r.choice(parts.NUMBER_MAPS + [("", "x", "")] * 3)
    e, code, ename = r.choice(parts.NUMBER_ENDS)
    parameters, kinds, source, where = v, "l", v, r.choice([f" in {v}", f" in {v}", f" of {v}"])
    if r.random() < 0.15:
        parameters, kinds, source, where = "n", "n", "range(1, n + 1)", " from 1 to n"
    elif r.random() < 0.15 and "{k}" in fcode:
        c["k"] = r.choice(["limit", "k", "threshold", "bound"])
        parameters, kinds = f"{v}, {c['k']}", "lp"
    phrase = f"{drawn(m, c)} {drawn(f, c)}".strip() + where
    if not m.startswith("negated") and not e.startswith("the {p}"):
        phrase = "the " + phrase
    inner = f"{drawn(mcode, c)} for x in {source} if {drawn(fcode, c)}"
    name = "_".join(n for n in (ename, mname, fname) if n)
    return f"{fname}/{mname}/{ename}", Task(name, parameters, kinds, "returns " + e.format(p=phrase, e=inner),
                                            "return " + code.format(e=inner))


def characters(r):
    v = r.choice(["text", "s", "string", "line", "word", words.word(r)])
    c = constants(r)
    f, fcode, fname = r.choice(parts.CHARACTER_FILTERS)
    e, code, ename = r.choice(parts.CHARACTER_ENDS)
    return f"{fname}/{ename}", Task(
        f"{ename}_{fname}", v, "s", "returns " + e.format(p=drawn(f, c), v=v),
        "return " + code.format(v=v, f=drawn(fcode, c)))


def word_lists(r):
    v = r.choice(["words", "strings", "names", "items", "lines", "tokens", words.word(r) + "s"])
    noun = r.choice(["words", "strings"]) if v not in ("words", "strings", "names", "lines") else v
    c = constants(r)
    f, fcode, fname = r.choice(parts.WORD_FILTERS)
    f, fcode = drawn(f, c), drawn(fcode, c)
    if r.random() < 0.4:
        e, code, ename = r.choice(parts.WORD_COUNTS)
        where = "" if noun == v else f" in {v}"
        return f"{fname}/{ename}", Task(f"{ename}_{fname}", v, "w", "returns " + e.format(n=noun, f=f, v=v) + where,
                                        "return " + code.format(v=v, c=fcode))
    m, mcode, mname = r.choice(parts.WORD_MAPS)
    e, code, ename = r.choice(parts.WORD_ENDS)
    inner = f"{mcode} for x in {v} if {fcode}"
    phrase = m.format(n=noun) + ("" if noun == v else f" in {v}") + f" {f}"
    return f"{fname}/{mname}/{ename}", Task(
        f"{ename}_{mname}_{fname}", v, "w", "returns " + e.format(p=phrase, s=c["s"]),
        "return " + code.format(e=inner, s=c["s"]))


def rename(code, v):
    """Replaces the placeholder variable `v` in a statement."""
    out, i = [], 0
    while i < len(code):
        alone = code[i] == "v" and (i == 0 or not (code[i - 1].isalnum() or code[i - 1] in "_'")) and (
            i + 1 == len(code) or not (code[i + 1].isalnum() or code[i + 1] in "_'"))
        out.append(v if alone else code[i])
        i += 1
    return "".join(out)


def steps(r):
    strings = r.random() < 0.5
    every, finals = (parts.STRING_STEPS, parts.STRING_FINALS) if strings else (parts.LIST_STEPS, parts.LIST_FINALS)
    v = r.choice(["text", "s", "value", "line"] if strings else ["nums", "items", "values", "data"])
    chosen = r.sample(every, r.choice([1, 2, 2, 3]))
    final, result = r.choice(finals)
    phrases, lines = [], []
    for phrase, code in chosen:
        c = constants(r) | {"e": r.choice("vwxyz")}
        if strings:
            c["k"] = r.randint(2, 5)
        phrases.append(drawn(phrase, c))
        lines.append(rename(drawn(code, c), v))
    phrases[0] = phrases[0].replace("its", "the", 1) if phrases[0].startswith("sorts its") else phrases[0]
    first = phrases[0]
    for pronoun in (" it ", " it"):
        if first.endswith(" it") or " it " in first:
            first = first.replace(" it", f" {v}", 1)
            break
    else:
        first = f"{first} of {v}" if "elements" in first or "characters" in first or "character" in first else f"{first} in {v}"
    said = ", ".join([first] + phrases[1:]) if r.random() < 0.6 else ", then ".join([first] + phrases[1:])
    lines.append("return " + rename(result, v))
    key = "/".join(code for _, code in chosen) + result
    name = r.choice(["process", "transform", "clean", "convert", "prepare", "normalize", "adjust"]) + "_" + v
    return key, Task(name, v, "s" if strings else "l", f"{said}, and {final}", "\n".join(lines))


def records(r):
    field, other = r.sample([f for f in parts.FIELDS], 2)
    while parts.FIELDS[field] != "number":
        field, other = r.sample([f for f in parts.FIELDS], 2)
    v = r.choice(parts.RECORDS)
    c = constants(r)
    phrase, comparison = r.choice(parts.COMPARISONS)
    phrase, comparison = drawn(phrase, c), drawn(comparison, c)
    condition = f"x['{field}'] {comparison}"
    where = f"whose {field} {phrase}"
    kinds = f"R:{field},{other}"
    numeric = parts.FIELDS[other] == "number"
    options = [
        (f"a list of the {other} of all {v} {where}", f"[x['{other}'] for x in {v} if {condition}]", f"{other}_list"),
        (f"the number of {v} {where}", f"sum(1 for x in {v} if {condition})", f"count_by_{field}"),
        (f"the {v} {where}", f"[x for x in {v} if {condition}]", f"filter_by_{field}"),
        (f"{v} sorted by {field}", f"sorted({v}, key=lambda x: x['{field}'])", f"sort_by_{field}"),
        (f"{v} sorted by {field} in descending order", f"sorted({v}, key=lambda x: x['{field}'], reverse=True)", f"sort_by_{field}_descending"),
        (f"the sum of the {field} of all {v}", f"sum(x['{field}'] for x in {v})", f"total_{field}"),
        (f"the {other} of the one of the {v} with the largest {field}, or None if there are none",
         f"max({v}, key=lambda x: x['{field}'], default={{'{other}': None}})['{other}']", f"best_{other}"),
        (f"a dictionary from {other} to {field} for all {v}", f"{{x['{other}']: x['{field}'] for x in {v}}}", f"{other}_to_{field}"),
        (f"True if all {v} have a {field} that {phrase}", f"all({condition} for x in {v})", f"all_{field}"),
    ]
    if numeric:
        options.append((f"the sum of the {other} of all {v} {where}", f"sum(x['{other}'] for x in {v} if {condition})", f"total_{other}"))
    said, code, name = r.choice(options)
    return f"{field}/{other}/{name}/{comparison[:2]}", Task(
        name, v, kinds, f"returns {said}; each of the {v} is a dictionary", "return " + code)


def dictionaries(r):
    v = r.choice(["d", "scores", "prices", "counts", "stock", "table"])
    c = constants(r)
    f, fcode, fname = r.choice(parts.NUMBER_FILTERS)
    plural = drawn(f, c).replace("numbers that are ", "").replace("numbers that ", "that ").replace("numbers ", "").replace(" numbers", "")
    condition = drawn(fcode, c).replace("x", "value")
    options = [
        (f"the keys of {v} whose values are {plural}", f"[key for key, value in {v}.items() if {condition}]", "keys"),
        (f"a dictionary with the items of {v} whose values are {plural}", f"{{key: value for key, value in {v}.items() if {condition}}}", "items"),
        (f"the sum of the values of {v} that are {plural}", f"sum(value for value in {v}.values() if {condition})", "sum_values"),
        (f"the number of values of {v} that are {plural}", f"sum(1 for value in {v}.values() if {condition})", "count_values"),
        (f"the sorted keys of {v}", f"sorted({v})", "sorted_keys"),
        (f"the key of {v} with the largest value, or None if it is empty", f"max({v}, key={v}.get, default=None)", "largest_key"),
        (f"the keys of {v} sorted by their values", f"sorted({v}, key={v}.get)", "by_value"),
        (f"a dictionary with every value of {v} multiplied by {c['k']}", f"{{key: value * {c['k']} for key, value in {v}.items()}}", "scaled"),
        (f"a list of strings 'key=value' for the items of {v}", f"[f'{{key}}={{value}}' for key, value in {v}.items()]", "pairs"),
    ]
    if plural.startswith(("multiples", "that", "not equal")):
        options = options[4:]
    said, code, name = r.choice(options)
    return f"dict/{fname}/{name}", Task(f"{name}_{fname}" if fname in said or name in ("keys", "items") else name, v, "d", f"returns {said}",
                                        "return " + code)


def arithmetic(r):
    names = r.sample(["a", "b", "c", "x", "y", "width", "height", "price", "count", "rate", "speed", "time"], 2)
    p, q = names
    k = r.randint(2, 20)
    options = [
        (f"{p} times {q}", f"{p} * {q}"), (f"{p} plus {q}", f"{p} + {q}"), (f"{p} minus {q}", f"{p} - {q}"),
        (f"the sum of {p} and {q}, multiplied by {k}", f"({p} + {q}) * {k}"), (f"{p} times {q}, plus {k}", f"{p} * {q} + {k}"),
        (f"the larger of {p} and {q}", f"max({p}, {q})"), (f"the smaller of {p} and {q}", f"min({p}, {q})"),
        (f"the absolute difference of {p} and {q}", f"abs({p} - {q})"), (f"the average of {p} and {q}", f"({p} + {q}) / 2"),
        (f"the square of {p} plus the square of {q}", f"{p} ** 2 + {q} ** 2"), (f"{p} increased by {k} percent of {q}", f"{p} + {q} * {k} / 100"),
        (f"True if {p} is greater than {q}", f"{p} > {q}"), (f"True if {p} plus {q} is even", f"({p} + {q}) % 2 == 0"),
        (f"True if {p} and {q} are both greater than {k}", f"{p} > {k} and {q} > {k}"), (f"{p} times {k} minus {q}", f"{p} * {k} - {q}"),
    ]
    said, code = r.choice(options)
    return "arithmetic/" + said, Task(r.choice(["compute", "calculate", "combine", "evaluate"]) + "_" + r.choice(["total", "value", "result"]),
                                      f"{p}, {q}", "kk", f"returns {said}", f"return {code}")


def classics(r, held_out):
    name, parameters, kinds, wordings, body = r.choice(CLASSICS)
    said = wordings[-1] if held_out else r.choice(wordings[:-1])
    return "", Task(name, parameters, kinds, said, body)


FAMILIES = [(numbers, 5), (characters, 3), (word_lists, 4), (steps, 4), (records, 4), (dictionaries, 2), (arithmetic, 1)]


def is_held_out(key):
    return zlib.crc32(key.encode()) % 10 == 0


def task(r, held_out=False):
    while True:
        if r.random() < 0.22:
            made = classics(r, held_out)[1]
            made.usual = made.name
            return made
        family = r.choices([f for f, _ in FAMILIES], [w for _, w in FAMILIES])[0]
        key, made = family(r)
        if is_held_out(key) == held_out:
            made.usual = made.name
            if r.random() < 0.3:
                made.name = r.choice([words.word(r), f"{words.word(r)}_{words.word(r)}", "solve", "f", "answer"])
            return made


def imperative(description):
    """'returns x' -> 'return x'"""
    first, rest = description.split(" ", 1)
    for ending, by in (("sses", "ss"), ("xes", "x"), ("ies", "y"), ("s", "")):
        if first.endswith(ending):
            return first.removesuffix(ending) + by + " " + rest
    return description


PLAIN_NAMES = {"n": "a number", "text": "a string", "nums": "a list", "words": "a list of words", "matrix": "a matrix", "d": "a dictionary", "year": "a year"}


def natural(r, task):
    """The description with the parameter as a person says it, once, where there is one parameter."""
    said = PLAIN_NAMES.get(task.parameters)
    if said is None or r.random() < 0.4:
        return task.description
    return re.sub(rf"(?<![\w(]){task.parameters}(?!\w)", said, task.description, count=1)


def request(r, task, held_out=False):
    """(the user's words, the docstring that the answer repeats)"""
    signature = f"{task.name}({task.parameters})"
    does, do = task.description, imperative(task.description)
    sentence = does[0].upper() + does[1:] + "."
    if r.random() < 0.35:
        if r.random() < 0.4:
            sentence = do[0].upper() + do[1:] + "."
        stub = f'def {signature}:\n    """{sentence}"""'
        return r.choice(["Complete this function:\n", "Implement this function:\n", "Write the body:\n", "Fill in this Python function.\n", "Finish the function below.\n", ""]) + f"```python\n{stub}\n```", sentence
    if not held_out and r.random() < 0.2:  # no signature is given
        task.name = task.usual
        return r.choice(["Write a Python function that {}.", "Write a function that {}", "I need a Python function that {}.", "Python function that {}", "Give me a Python function that {}.",
                         "Write a Python function which {}."]).format(natural(r, task)), None
    return r.choice([
        f"Write a Python function `{signature}` that {does}.",
        f"Write a function `{signature}` that {does}.",
        f"Please write a Python function named {task.name} with the parameters ({task.parameters}) that {does}.",
        f"Write {signature} in Python. It {does}.",
        f"I need a Python function {signature} that {does}.",
        f"Define a function `{signature}` which {does}.",
        f"Can you write a Python function `{signature}`? It should {do}.",
        f"Implement `{signature}` in Python: {do}.",
        f"Python function {signature}: {do}.",
        f"def {signature}: {do}",
    ]), None


def thought(r, task):
    return r.choice([
        f"I write {task.name}({task.parameters}). It {task.description}.",
        f"The function {task.name} takes {task.parameters} and {task.description}.",
    ])


def conversation(r, held_out=False):
    """A conversation; its task, if `held_out`, for checking the answer."""
    talk = cmd4.Conversation(reasoning=r.random() < 0.5)
    if not held_out and r.random() < 0.06:
        question, answer, why = programs.exchange(r)
        talk.user(question)
        talk.answer(answer, why)
        return talk
    for _ in range(1 if held_out else r.choice([1, 1, 1, 1, 2])):
        made = talk.task = task(r, held_out)
        asked, docstring = request(r, made, held_out)
        code = made.code(docstring)
        talk.user(asked)
        talk.answer(f"```python\n{code}\n```", thought(r, made))
        if not held_out and r.random() < 0.15:
            question, answer, why = programs.follow_up(r, made, code)
            talk.user(question)
            talk.answer(answer, why)
    return talk
