"""Python that is no function with a known answer: little programs, classes, and questions about code."""

from generators import words


def spread(r):
    n, w, k, v = r.randint(2, 50), words.word(r), words.word(r), words.word(r)
    path = words.path(r, "txt")
    name = words.word(r).capitalize()
    fields = list(dict.fromkeys(words.word(r) for _ in range(r.randint(1, 4))))
    arguments = ", ".join(fields)
    body = "\n".join(f"        self.{f} = {f}" for f in fields)
    shown = ", ".join(f"{f}={{self.{f}}}" for f in fields)
    klass = f"class {name}:\n    def __init__(self, {arguments}):\n{body}"
    text = " ".join(words.word(r) for _ in range(r.randint(1, 3)))
    return r.choice([
        ([f"print {text}", f"prints {text}"], f"print('{text}')"),
        ([f"print '{text}' {n} times"], f"for _ in range({n}):\n    print('{text}')"),
        ([f"print the numbers from 1 to {n}", f"count from 1 to {n}"], f"for i in range(1, {n + 1}):\n    print(i)"),
        ([f"print the squares of the numbers from 1 to {n}"], f"for i in range(1, {n + 1}):\n    print(i ** 2)"),
        ([f"count down from {n} to 1"], f"for i in range({n}, 0, -1):\n    print(i)"),
        ([f"print every line of {path}", f"read {path} and print its lines"], f"with open('{path}') as file:\n    for line in file:\n        print(line.rstrip())"),
        ([f"count the lines of {path}", f"print how many lines {path} has"], f"with open('{path}') as file:\n    print(sum(1 for _ in file))"),
        ([f"write {text} to {path}", f"save {text} in {path}"], f"with open('{path}', 'w') as file:\n    file.write('{text}\\n')"),
        ([f"make a dictionary {w} with {k} mapped to {n} and print it"], f"{w} = {{'{k}': {n}}}\nprint({w})"),
        ([f"make a list {w} with {k} and {v} and print its length"], f"{w} = ['{k}', '{v}']\nprint(len({w}))"),
        ([f"ask the user for the {w} and print it"], f"{w} = input('{w}? ')\nprint({w})"),
        ([f"parse {path} as JSON and print the value of {k}"], f"import json\n\nwith open('{path}') as file:\n    data = json.load(file)\nprint(data['{k}'])"),
        ([f"define a class {name} with the fields {arguments}", f"define a class {name} with {arguments}"], klass),
        ([f"define a class {name} with the fields {arguments} and a __repr__ method"],
         klass + f"\n\n    def __repr__(self):\n        return f'{name}({shown})'"),
    ])


def exchange(r):
    """(question, answer, thought)"""
    ways, code = spread(r)
    way = r.choice(ways)
    lead = r.choice(["Write a Python program that {}", "Write Python code to {}", "Use Python to {}", "In Python, {}", "Python: {}", "Write a script to {}", "Please {} in Python"])
    if lead.endswith("that {}"):
        first, rest = way.split(" ", 1)
        way = f"{first}s {rest}" if not first.endswith("s") else way
    elif way.startswith("prints "):
        way = "print " + way.removeprefix("prints ")
    return lead.format(way) + r.choice(["", "."]), f"```python\n{code}\n```", "A short program is enough."


def follow_up(r, task, code):
    """The same about a function that was just written."""
    new = r.choice([words.word(r), f"{words.word(r)}_{words.word(r)}"])
    renamed = code.replace(f"def {task.name}(", f"def {new}(")
    return r.choice([
        (r.choice([f"Rename it to {new}.", f"Call it {new} instead.", f"Please rename the function to {new}"]), f"```python\n{renamed}\n```", f"I rename {task.name} to {new}."),
        (r.choice(["Add a docstring.", "Please add a docstring to it", "Document it."]),
         f"```python\n{task.code(task.description[0].upper() + task.description[1:] + '.')}\n```", "I add a docstring."),
        (r.choice(["What does it do?", "Explain it.", "Explain the function."]), f"{task.name}({task.parameters}) {task.description}.", "I explain the function."),
    ])
