"""Loops of a coding agent with OpenCode's tools: read, edit, write, bash.

The schemas and the wording of results are those of OpenCode 1.18. Descriptions vary, and are often
long text of other kinds, because a real prompt is full of instructions that the model must look past.
"""

import cmd4
from generators import chat, files, python_tasks, words

BIG = 9007199254740991
SCHEMAS = {
    "bash": ({"command": {"type": "string", "description": "The command to execute"},
              "timeout": {"minimum": -BIG, "exclusiveMinimum": 0, "type": "integer", "maximum": BIG, "description": "Optional timeout in milliseconds"},
              "workdir": {"type": "string", "description": "The working directory to run the command in. Defaults to the current directory."}}, ["command"]),
    "edit": ({"filePath": {"type": "string", "description": "The absolute path to the file to modify"},
              "oldString": {"type": "string", "description": "The text to replace"},
              "newString": {"type": "string", "description": "The text to replace it with (must be different from oldString)"},
              "replaceAll": {"type": "boolean", "description": "Replace all occurrences of oldString (default false)"}}, ["filePath", "oldString", "newString"]),
    "read": ({"filePath": {"type": "string", "description": "The absolute path to the file or directory to read"},
              "offset": {"minimum": 0, "type": "integer", "maximum": BIG, "description": "The line number to start reading from (1-indexed)"},
              "limit": {"minimum": 0, "type": "integer", "maximum": BIG, "description": "The maximum number of lines to read (defaults to 2000)"}}, ["filePath"]),
    "write": ({"content": {"type": "string", "description": "The content to write to the file"},
               "filePath": {"type": "string", "description": "The absolute path to the file to write (must be absolute, not relative)"}}, ["content", "filePath"]),
    "glob": ({"pattern": {"type": "string", "description": "The glob pattern to match files against"},
              "path": {"type": "string", "description": "The directory to search in."}}, ["pattern"]),
    "grep": ({"pattern": {"type": "string", "description": "The regex pattern to search for in file contents"},
              "path": {"type": "string", "description": "The directory to search in."},
              "include": {"type": "string", "description": "File pattern to include in the search"}}, ["pattern"]),
}
SHORT = {"bash": "Runs a shell command.", "edit": "Replaces a string in a file.", "read": "Reads a file.", "write": "Writes a file.", "glob": "Finds files by pattern.", "grep": "Searches file contents."}
PROMPTS = ["You are a coding agent. Use the tools. Be brief.", "You are a coding agent. Use the tools to do what the user asks, then say in one sentence what you did.",
           "You are opencode, an agent that helps with code. Read a file before you edit it.", "You are a software engineer. Work with the tools.", "Help the user with the project."]
DAYS, MONTHS = "Mon Tue Wed Thu Fri Sat Sun".split(), "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def declarations(r, corpus):
    names = ["bash", "edit", "read", "write"] + (r.sample(["glob", "grep"], r.randint(1, 2)) if r.random() < 0.3 else [])
    if r.random() < 0.3:
        names = r.sample(names, len(names))
    if r.random() < 0.15:
        names.remove("bash")
    wordy = r.random() < 0.4
    declared = []
    for name in names:
        description = SHORT[name]
        if wordy:
            description += r.choice([" ", "\n\n", "\n\nUsage:\n- "]) + corpus.excerpt(r, r.choice([100, 400, 1200, 3500 if name == "bash" else 600]))
        properties, required = SCHEMAS[name]
        declared.append({"name": name, "description": description, "parameters": {
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": properties, "required": required}})
    return declared


class Ambiguous(Exception):
    """The text to replace occurs more than once: another conversation is drawn."""


class Session:
    """One conversation with the agent, in a folder."""

    def __init__(self, r, corpus):
        self.r = r
        root = r.choice(["tmp", "tmp", "srv", "opt", "work", "home/" + words.name(r).lower(), "root", f"tmp/{words.code(r).strip('#')}"])
        self.folder = f"/{root}/{words.word(r)}" + r.choice(["", "", f"/{words.word(r)}"])
        self.talk = cmd4.Conversation(declarations(r, corpus), reasoning=r.random() < 0.65)
        self.bash = "bash" in [t["name"] for t in self.talk.tools]
        model = words.word(r)
        prompt = r.choice(PROMPTS) + r.choice(["", " " + words.sentence(r)])
        self.talk.system(
            f"{prompt}\nYou are powered by the model named {model}. The exact model ID is {words.word(r)}/{model}\nHere is some useful information about the environment you are running in:\n<env>\n"
            f"  Working directory: {self.folder}\n  Workspace root folder: {self.folder}\n  Is directory a git repo: {r.choice(['yes', 'no'])}\n  Platform: linux\n"
            f"  Today's date: {r.choice(DAYS)} {r.choice(MONTHS)} {r.randint(1, 28):02} {r.randint(2025, 2030)}\n</env>")

    def absolute(self, path):
        return f"{self.folder}/{path}"

    def user(self, *ways, also=""):
        text = self.r.choice(ways)
        text = text.rstrip(".") + also if also else text
        self.talk.user(f'"{text}"' if self.r.random() < 0.5 else text)

    def named(self, file):
        """How the user writes the path."""
        return self.r.choice([file.path, file.path, file.path, f"`{file.path}`", self.absolute(file.path), "@" + file.path])

    def read(self, file, why=None):
        self.talk.call([("read", {"filePath": self.absolute(file.path)})], why or f"I read {file.path} first.")
        self.talk.result(file.shown(self.absolute(file.path)))

    def edit(self, file, at, new, why):
        """Replaces line `at`, which must be unique in the file."""
        old = file.lines[at]
        if file.content().count(old) != 1 or old == new:
            raise Ambiguous
        self.talk.call([("edit", {"filePath": self.absolute(file.path), "oldString": old, "newString": new})], why)
        self.talk.result("Edit applied successfully.")
        file.lines[at:at + 1] = new.split("\n")

    def write(self, path, content, why):
        self.talk.call([("write", {"content": content, "filePath": self.absolute(path)})], why)
        self.talk.result("Wrote file successfully.")

    def run(self, command, output, why):
        self.talk.call([("bash", {"command": command})], why)
        self.talk.result(output or "(no output)")

    def done(self, text, fact=""):
        self.talk.answer(text, "I am done.", fact)


def create(s):
    r = s.r
    kind = r.random()
    if kind < 0.5:
        path = words.path(r, r.choice(["txt", "txt", "md", "log", "csv"]))
        text = r.choice([words.sentence, words.phrase, words.phrase, words.word, words.title, words.code, words.full_name])(r)
        quoted = r.choice([text, f"'{text}'", f"`{text}`", f"the text {text}", f"the line {text}"])
        s.user(f"Create a file {path} with the content {quoted}", f"Create {path} containing {quoted}", f"Write {quoted} to {path}", f"Please make a file named {path} that contains {quoted}",
               f"Make {path} with {quoted} in it", f"Save {quoted} in a new file {path}", f"create the file {path}; its content is {quoted}")
        content = text + "\n"
    elif kind < 0.8:
        task = python_tasks.task(r)
        path = words.path(r, "py")
        content = task.code() + "\n"
        signature = f"{task.name}({task.parameters})"
        check = s.bash and r.random() < 0.3
        also = r.choice([" Then run it.", " Run it too.", " And run the file."]) if check else ""
        s.user(f"Create {path} with a function {signature} that {task.description}.{also}", f"Write a function {signature} to {path}. It {task.description}.{also}",
               f"Add a new file {path} with a Python function `{signature}` that {task.description}.{also}")
        s.write(path, content, f"I write the function to {path}.")
        if check:
            s.run(f"python3 {path}", "", f"I run {path}.")
        s.done(f"I created {path} with {task.name}.", path)
        return None
    else:
        file = files.any_file(r) if r.random() < 0.4 else files.settings(r)
        path, content = file.path, file.content()
        s.user(f"Create {path} with these lines:\n{content.rstrip()}", f"Write this to {path}:\n```\n{content}```", f"Make a file {path}:\n\n{content}")
    s.write(path, content, f"I write {path}.")
    s.done(r.choice([f"I created {path}.", f"I wrote {path}."]), path)
    return None


def ask(s):
    r = s.r
    kind = r.random()
    if kind < 0.35:
        file, asked = files.facts(r)
        question, fact = r.choice(asked)
        named = s.named(file)
        s.user(f"{question} It is in {named}.", f"Read {named} and tell me: {question}", f"Look into {named}: {question}", f"{question} See {named}", f"According to {named}, {question[0].lower()}{question[1:]}")
        s.read(file)
        s.done(f"It is {fact}.", fact)
        return file
    file = r.choice([files.settings, files.json_file, files.python_file])(r)
    named = s.named(file)
    if file.values and (kind < 0.75 or not file.functions):
        k, v, _ = r.choice(file.values)
        s.user(f"What is {k} in {named}?", f"What is the value of {k} in {named}?", f"Read {named} and tell me the value of {k}.", f"Which {k} does {named} set?", f"Tell me {k} from {named}", f"look up {k} in {named}")
        s.read(file)
        v = v.strip('"')
        s.done(f"{k} is {v} in {file.path}.", v)
    elif file.functions and kind < 0.9:
        names = ", ".join(t.name for t, _ in file.functions)
        s.user(f"Which functions does {named} define?", f"List the functions in {named}", f"What functions are in {named}?")
        s.read(file)
        s.done(f"{file.path} defines {names}.", names)
    elif file.functions:
        task, _ = r.choice(file.functions)
        s.user(f"What does {task.name} in {named} do?", f"Explain the function {task.name} in {named}", f"Which parameters does {task.name} in {named} take?")
        s.read(file)
        s.done(f"{task.name}({task.parameters}) {task.description}.", task.parameters)
    else:
        return ask(s)
    return file


def other_value(r, old):
    quote = '"' if old.startswith('"') else ""
    inner = old.strip('"')
    if inner in ("true", "false", "True", "False"):
        return {"true": "false", "false": "true", "True": "False", "False": "True"}[inner]
    new = r.choice([words.number, words.decimal])(r) if inner.replace(".", "").isdigit() else r.choice([words.word, words.code, words.city, words.path])(r)
    return f"{quote}{new}{quote}" if str(new) != inner else f"{quote}{new}1{quote}"


def change(s, file=None):
    r = s.r
    known = file is not None
    while file is None or not file.values:
        file, known = r.choice([files.settings, files.json_file, files.python_file])(r), False
    named = s.named(file)
    index = r.randrange(len(file.values))
    k, old, at = file.values[index]
    new = other_value(r, old)
    plain, plain_old = new.strip('"'), old.strip('"')
    check = s.bash and file.path.endswith("py") and r.random() < 0.25
    s.user(f"Change {k} to {plain} in {named}", f"In {named} set {k} to {plain}", f"Set {k} to {plain} in {named}.", f"Edit {named}: {k} must be {plain}", f"In {named}, change {k} from {plain_old} to {plain}",
           f"Replace {plain_old} with {plain} in {named}" if file.content().count(plain_old) == 1 else f"Please set {k} in {named} to {plain}", f"Update {named} so that {k} is {plain}", f"{k} should be {plain} in {named}",
           also=r.choice([". Then run it.", ", then run it", " and run the file"]) if check else "")
    if not known:
        s.read(file)
    line = file.lines[at]
    cut = line.rindex(old)
    s.edit(file, at, line[:cut] + new + line[cut + len(old):], f"I change {k} from {plain_old} to {plain}.")
    file.values[index] = (k, new, at)
    if check:
        s.run(f"python3 {file.path}", "", f"I run {file.path}.")
    s.done(r.choice([f"I changed {k} to {plain} in {file.path}.", f"{k} is now {plain} in {file.path}."]), plain)
    return file


def replace_line(s):
    r = s.r
    file = files.notes(r)
    at = r.randrange(len(file.lines))
    named, old = s.named(file), file.lines[at]
    if file.lines.count(old) > 1:
        return replace_line(s)
    if r.random() < 0.5:
        new = words.sentence(r)
        s.user(f"Replace the line '{old}' in {named} with '{new}'", f"In {named} replace \"{old}\" by \"{new}\"", f"Change line {at + 1} of {named} to: {new}", f"Make line {at + 1} of {named} say '{new}'")
    else:
        pieces = old.rstrip(".!").split(" ")
        i = r.randrange(len(pieces))
        if old.count(pieces[i]) > 1:
            return replace_line(s)
        other = words.word(r)
        new = old.replace(pieces[i], other)
        s.user(f"In {named} change '{pieces[i]}' to '{other}' in line {at + 1}", f"Change the word {pieces[i]} in line {at + 1} of {named} to {other}")
    s.read(file)
    s.edit(file, at, new, f"I replace line {at + 1}.")
    s.done(f"I changed line {at + 1} of {file.path}.", "")
    return file


MISTAKES = [(" > ", " < "), (" < ", " > "), (" >= ", " <= "), (" == ", " != "), (" + ", " - "), (" - ", " + "), (" * ", " + "), ("max(", "min("), ("min(", "max("), ("sum(", "len("),
            ("% 2 == 0", "% 2 == 1"), ("% 2 == 1", "% 2 == 0"), ("[::-1]", "[::1]"), (".upper()", ".lower()"), (".lower()", ".upper()"), ("return True", "return False"), (" not in ", " in "),
            ("** 2", "** 3"), ("reverse=True", "reverse=False"), ("startswith", "endswith"), ("endswith", "startswith")]


def fix(s):
    r = s.r
    while True:
        task = python_tasks.task(r)
        lines = task.code(f"{task.description[0].upper()}{task.description[1:]}.").split("\n")
        spots = [(i, good, bad) for i, line in enumerate(lines) for good, bad in MISTAKES if good in line and '"""' not in line]
        if spots:
            break
    at, good, bad = r.choice(spots)
    right = lines[at]
    lines[at] = right.replace(good, bad, 1)
    file = files.File(words.path(r, "py"), lines, [], [(task, 0)])
    if file.lines.count(lines[at]) > 1:
        return fix(s)
    named = s.named(file)
    folder, _, name = file.path.rpartition("/")
    test = f"{folder}/test_{name}".lstrip("/")
    command = f"python3 -m pytest {test}"
    before, after = (r.random() < 0.2, r.random() < 0.4) if s.bash else (False, False)
    also = {(True, True): r.choice([f" Run {test} before and after.", f" First run {test}, and again at the end."]),
            (True, False): r.choice([f" First run {test}.", f" Start by running {test}."]),
            (False, True): r.choice([f" Then run {test}.", f" Run {test} when you are done.", f" Check it with {test}."])}.get((before, after), "")
    s.user(f"Fix the bug in {task.name} in {named}.", f"{task.name} in {named} is wrong, please fix it.", f"Please fix the {task.name} function in {named}.", f"There is a bug in {named}. Fix it.",
           f"The docstring of {task.name} in {named} is right, the code is not. Fix the code.", f"{task.name} in {named} has a mistake. Correct it.", also="." + also if also else "")
    if before:
        s.run(command, f"E   AssertionError\n1 failed in 0.0{r.randint(1, 9)}s\n", "I run the tests.")
    s.read(file)
    s.edit(file, at, right, f"{task.name} {task.description}. Line {at + 1} is wrong: it says {bad.strip()} and needs {good.strip()}.")
    if after:
        s.run(command, f"1 passed in 0.0{r.randint(1, 9)}s\n", "I run the tests.")
    s.done(f"I fixed {task.name} in {file.path}.", task.name)
    return None


def add_function(s):
    r = s.r
    file = files.python_file(r)
    task = python_tasks.task(r)
    if "math." in task.body or len(file.lines) > 30 or file.lines.count(file.lines[-1]) > 1:
        return add_function(s)
    named, signature = s.named(file), f"{task.name}({task.parameters})"
    s.user(f"Add a function {signature} to {named} that {task.description}", f"Append `{signature}` to {named}. It {task.description}.", f"In {named}, add {signature}: it {task.description}")
    s.read(file)
    s.edit(file, len(file.lines) - 1, f"{file.lines[-1]}\n\n\n{task.code()}", f"I add {task.name} after the last line.")
    s.done(f"I added {task.name} to {file.path}.", task.name)
    return None


def run_command(s):
    r = s.r
    if not s.bash:
        return ask(s)
    path = words.path(r, r.choice(["py", "sh"]))
    command = r.choice(["ls", "git status", "pwd", "ls -la", "make test", f"python3 {words.path(r, 'py')}", f"bash {words.path(r, 'sh')}", f"echo {words.word(r)}", f"ls {words.word(r)}", f"echo {words.word(r)} {words.word(r)}", f"wc -l {path}", f"python3 -c 'print({r.randint(2, 99)} + {r.randint(2, 99)})'",
                        f"mkdir {words.word(r)}", f"rm {path}", f"mv {path} {words.path(r)}", "git log --oneline", "python3 -m pytest"])
    output = r.choice([words.word(r), str(words.number(r)), words.sentence(r), "", "\n".join(words.file_name(r) for _ in range(r.randint(1, 5))), f"{r.randint(1, 9)} passed in 0.1s", f"bash: {path}: No such file or directory", words.code(r)])
    s.user(f"Run {command}", f"Please run `{command}` and tell me what it prints", f"Execute {command}", f"What does `{command}` print?", f"run the command {command}")
    s.run(command, output + "\n" if output else "", "I run the command.")
    s.done(f"The output is:\n{output}" if output else "The command printed nothing.", output or "nothing")
    return None


def missing(s):
    r = s.r
    file = files.any_file(r)
    k = files.key(r)
    s.user(f"What is {k} in {s.named(file)}?", f"Set {k} to {words.number(r)} in {s.named(file)}", f"Read {s.named(file)}")
    s.talk.call([("read", {"filePath": s.absolute(file.path)})], f"I read {file.path} first.")
    s.talk.result(f"File not found: {s.absolute(file.path)}")
    s.done(f"The file {file.path} does not exist.", "does not exist")
    return None


def plain(s):
    question, answer, why = chat.exchange(s.r)
    s.talk.user(question)
    s.talk.answer(answer, why)
    return None


def title(r):
    """OpenCode also asks for a title of each session."""
    talk = cmd4.Conversation(reasoning=r.random() < 0.7)
    talk.system(r.choice(["You are a title generator. You output ONLY a thread title. Nothing else.", "You are a title generator."]) + r.choice(["", "\n\n<task>\nGenerate a brief title that would help the user find this conversation later.\n</task>\n", "\n" + words.sentence(r)]))
    talk.user("Generate a title for this conversation:\n")
    topic = f"{r.choice(['fix', 'create', 'edit', 'read', 'run', 'explain', 'change'])} {r.choice(['the', 'a', 'my'])} {words.word(r)} {r.choice(['in', 'of', 'from'])} {words.path(r)}"
    talk.user(f'"{topic}"')
    pieces = [w for w in topic.split() if w not in ("the", "a", "my")]
    talk.answer(" ".join([pieces[0].capitalize()] + pieces[1:]), "A short title.", "")
    return talk


KINDS = [(create, 5), (ask, 5), (change, 6), (replace_line, 2), (fix, 3), (add_function, 2), (run_command, 2), (missing, 1), (plain, 1)]


def conversation(r, corpus, held_out=False):
    """Values, names and files are drawn anew each time; nothing else is held out."""
    if not held_out and r.random() < 0.03:
        return title(r)
    try:
        session, file = Session(r, corpus), None
        for _ in range(1 if held_out else r.choice([1, 1, 1, 2, 3])):
            if file is not None and file.values and r.random() < 0.4:
                file = change(session, file)
            else:
                file = r.choices([k for k, _ in KINDS], [w for _, w in KINDS])[0](session)
        return session.talk
    except Ambiguous:
        return conversation(r, corpus, held_out)
