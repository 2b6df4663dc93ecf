"""Requests that a declared tool answers. Names, schemas and values are drawn anew each time, so
what can be learnt is to choose a tool and to copy values into its arguments.

Evaluation uses verbs and objects of its own (`held_out`), which training never combines into tools.
"""

import dataclasses
import json

import cmd4
from generators import chat, words

VERBS = """get find create delete update send list set start stop open close count check move rename
export import lock schedule search fetch read add remove cancel book show compare convert calculate
share archive print upload download assign approve play pause measure record track""".split()
OBJECTS = """weather invoice order user ticket report event meeting flight hotel room song playlist file
folder photo task reminder alarm timer price stock account payment message email contact device sensor
door light camera printer route map package delivery recipe menu table backup server job branch issue
release note document page product customer coupon subscription match score translation currency""".split()
UNSEEN_VERBS = "register inspect verify duplicate publish rotate attach restore merge ship".split()
UNSEEN_OBJECTS = "passport warehouse telescope orchard vaccine museum locomotive aquarium parking_spot lecture".split()

# key words -> (kind, how a person says it besides the plain ways; {v} is the value)
KEYS = {
    "city": ("city", ["in {v}", "for {v}"]), "location": ("city", ["in {v}", "at {v}"]),
    "destination": ("city", ["to {v}"]), "origin": ("city", ["from {v}"]), "country": ("city", ["in {v}"]),
    "recipient": ("email", ["to {v}"]), "email": ("email", ["at {v}", "for {v}"]), "sender": ("email", ["from {v}"]),
    "date": ("date", ["on {v}", "for {v}"]), "start_date": ("date", ["from {v}", "starting {v}"]), "deadline": ("date", ["by {v}"]),
    "end_date": ("date", ["until {v}"]), "time": ("clock", ["at {v}"]), "start_time": ("clock", ["from {v}"]),
    "count": ("number", []), "limit": ("number", ["at most {v}"]), "quantity": ("number", []), "amount": ("number", []),
    "page": ("number", ["on page {v}"]), "days": ("number", ["for {v} days"]), "minutes": ("number", ["for {v} minutes"]),
    "guests": ("number", ["for {v} guests"]), "year": ("number", ["in {v}"]), "port": ("number", ["on port {v}"]),
    "level": ("number", ["at level {v}"]), "duration": ("number", []), "max_price": ("number", ["under {v}"]),
    "price": ("decimal", ["for {v}"]), "latitude": ("decimal", []), "longitude": ("decimal", []), "threshold": ("decimal", []),
    "temperature": ("decimal", ["to {v} degrees"]), "rate": ("decimal", []), "weight": ("decimal", []),
    "order_id": ("code", []), "user_id": ("code", []), "id": ("code", []), "reference": ("code", []), "code": ("code", []),
    "ticket_id": ("code", []), "account": ("code", ["from account {v}"]), "serial": ("code", []), "token": ("code", []),
    "name": ("full_name", ["named {v}", "called {v}"]), "owner": ("full_name", ["owned by {v}"]), "assignee": ("full_name", ["to {v}"]),
    "user": ("name", ["for {v}"]), "author": ("full_name", ["by {v}"]), "contact": ("name", ["with {v}"]),
    "message": ("sentence", ["saying {q}", "with the text {q}"]), "text": ("sentence", ["with the text {q}"]), "body": ("sentence", ["saying {q}"]),
    "note": ("sentence", ["with the note {q}"]), "comment": ("sentence", []), "description": ("sentence", []),
    "title": ("title", ["titled {q}", "called {q}"]), "subject": ("title", ["with the subject {q}"]), "query": ("title", ["for {q}", "about {q}"]),
    "topic": ("title", ["about {v}"]), "keyword": ("word", ["for {v}"]), "label": ("word", []), "category": ("word", ["in the category {v}"]),
    "language": ("word", ["in {v}"]), "tag": ("word", ["tagged {v}"]), "branch": ("word", ["on the branch {v}"]), "project": ("word", ["in the project {v}"]),
    "path": ("path", ["at {v}", "in {v}"]), "file": ("path", ["from {v}"]), "target": ("path", ["to {v}"]), "source": ("path", ["from {v}"]),
    "url": ("url", ["from {v}", "at {v}"]), "link": ("url", []),
    "urgent": ("flag", []), "verbose": ("flag", []), "recursive": ("flag", []), "dry_run": ("flag", []), "notify": ("flag", []),
    "public": ("flag", []), "force": ("flag", []), "archived": ("flag", []),
    "unit": ("enum", []), "priority": ("enum", []), "mode": ("enum", []), "format": ("enum", []), "size": ("enum", []),
    "status": ("enum", []), "color": ("enum", []), "type": ("enum", []),
    "tags": ("words", []), "names": ("names", []), "recipients": ("emails", ["to {v}"]), "files": ("paths", []), "ids": ("numbers", []),
}
ENUMS = {"unit": ["celsius", "fahrenheit", "meters", "miles", "kg", "pounds", "liters"], "priority": ["low", "medium", "high", "critical"],
         "mode": ["fast", "slow", "safe", "auto", "manual", "silent"], "format": ["json", "csv", "xml", "pdf", "text", "html"],
         "size": ["small", "medium", "large", "xl"], "status": ["open", "closed", "pending", "done", "failed"],
         "color": ["red", "green", "blue", "black", "white"], "type": ["public", "private", "internal", "draft", "final"]}


@dataclasses.dataclass
class Parameter:
    key: str
    kind: str
    says: list
    choices: list
    spoken: str  # the key as words

    def schema(self, r, described):
        array = {"words": "string", "names": "string", "emails": "string", "paths": "string", "numbers": "integer"}.get(self.kind)
        kind = {"number": "integer", "decimal": "number", "flag": "boolean"}.get(self.kind, "string")
        result = {"type": "array", "items": {"type": array}} if array else {"type": kind}
        if self.kind == "enum":
            result["enum"] = self.choices
        if described:
            result["description"] = r.choice([f"The {self.spoken}", self.spoken.capitalize(), f"The {self.spoken} to use", f"{self.spoken.capitalize()} of the request"])
        return result

    def value(self, r):
        k = self.kind
        if k == "flag":
            return r.random() < 0.7
        if k == "enum":
            return r.choice(self.choices)
        many = {"words": words.word, "names": words.name, "emails": words.email, "paths": words.path, "numbers": words.number}
        if k in many:
            return [many[k](r) for _ in range(r.randint(1, 4))]
        if k == "sentence" and r.random() < 0.4:
            return words.phrase(r)
        return getattr(words, k)(r)


def spoken(key):
    out = "".join(" " + c.lower() if c.isupper() else c for c in key)
    return out.replace("_", " ").replace("-", " ").strip()


def styled(r, style, *pieces):
    pieces = [p for piece in pieces for p in piece.split("_")]
    if style == "camel":
        return pieces[0] + "".join(p.capitalize() for p in pieces[1:])
    return {"snake": "_", "kebab": "-", "dot": "."}[style].join(pieces)


def parameter(r, style, taken):
    if r.random() < 0.4:  # a key that nobody has seen
        key = r.choice([words.word(r), words.word(r), f"{words.word(r)}_{words.word(r)}"])
        kind = r.choice(["word", "number", "code", "sentence", "title", "decimal", "flag", "full_name", "words"])
        says = []
    else:
        key = r.choice(list(KEYS))
        kind, says = KEYS[key]
    if key in taken:
        return parameter(r, style, taken)
    taken.add(key)
    choices = list(ENUMS.get(key, [])) or [words.word(r) for _ in range(4)]
    r.shuffle(choices)
    key_styled = styled(r, "camel" if style == "camel" else "snake", key)
    return Parameter(key_styled, kind, says, choices[:r.randint(2, len(choices))], spoken(key_styled))


@dataclasses.dataclass
class Tool:
    name: str
    verb: str
    thing: str
    parameters: list
    required: int  # the first so many parameters
    description: str
    declared: dict


def tool(r, held_out, style, verb=None, thing=None):
    verbs, objects = (UNSEEN_VERBS, UNSEEN_OBJECTS) if held_out else (VERBS, OBJECTS)
    verb = verb or (r.choice(verbs) if r.random() < 0.5 or held_out else words.word(r))
    if thing is None:
        kind = r.random()
        if held_out:
            thing = r.choice(objects) if kind < 0.7 else words.syllables(r)
        else:
            thing = r.choice(objects) if kind < 0.3 else words.word(r) if kind < 0.8 else f"{words.word(r)}_{words.word(r)}"
    taken, made = set(), []
    for _ in range(r.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5])):
        made.append(parameter(r, style, taken))
    required = r.randint(min(1, len(made)), len(made))
    described = r.random() < 0.6
    spoken_thing = spoken(thing)
    description = r.choice([f"{verb.capitalize()} a {spoken_thing}", f"{verb.capitalize()} the {spoken_thing}.", f"Use this to {verb} a {spoken_thing}",
                            f"{verb.capitalize()} {spoken_thing} data.", f"Tool to {verb} the {spoken_thing} of a user.", ""])
    schema = {"type": "object", "properties": {p.key: p.schema(r, described) for p in made}}
    if r.random() < 0.85:
        schema["required"] = [p.key for p in made[:required]]
    if r.random() < 0.2:
        schema["additionalProperties"] = False
    if r.random() < 0.1:
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    name = styled(r, style, verb, thing) if r.random() < 0.9 else styled(r, style, thing, verb)
    return Tool(name, verb, spoken_thing, made, required, description,
                {"name": name, "description": description, "parameters": schema})


def toolbox(r, held_out):
    """The tool to use first, then others whose names differ."""
    style = r.choice(["snake", "snake", "snake", "camel", "kebab", "dot"])
    chosen = [tool(r, held_out, style)]
    for _ in range(r.choice([0, 1, 2, 3, 3, 4, 5, 7])):
        kind = r.random()
        verb = chosen[0].verb if kind < 0.2 else None
        thing = chosen[0].thing.replace(" ", "_") if kind > 0.8 else None
        other = tool(r, held_out, style, verb, thing)
        if other.name not in [t.name for t in chosen]:
            chosen.append(other)
    return chosen


def said(r, p, value):
    """How a person gives one value."""
    if p.kind == "flag":
        yes = ["with {n} on", "with {n} enabled", "with {n} set to true", "{n}: true", "{n} = yes"]
        no = ["with {n} off", "with {n} disabled", "with {n} set to false", "{n}: false", "{n} = no"]
        return r.choice(yes if value else no).format(n=p.spoken)
    if isinstance(value, list):
        plain = ", ".join(map(str, value[:-1])) + (" and " if len(value) > 1 else "") + str(value[-1])
        v = q = r.choice([plain, ", ".join(map(str, value)), json.dumps(value)])
    else:
        v = str(value)
        q = r.choice(['"{}"', "'{}'", '"{}"']).format(v)
        if p.kind in ("sentence",) or r.random() < 0.15:
            v = q
    ways = ["with {n} {v}", "{n}: {v}", "{n} {v}", "with the {n} {v}", "where the {n} is {v}", "using {v} as the {n}", "set the {n} to {v}",
            "{n} = {v}", "the {n} should be {v}"]
    way = r.choice(p.says) if p.says and r.random() < 0.6 else r.choice(ways)
    return way.format(n=p.spoken, v=v, q=q)


def arguments_for(r, t):
    given = [p for i, p in enumerate(t.parameters) if i < t.required or r.random() < 0.35]
    return {p.key: p.value(r) for p in given}, given


def join(r, phrases):
    if not phrases:
        return ""
    if len(phrases) == 1:
        return " " + phrases[0]
    return " " + ", ".join(phrases[:-1]) + r.choice([" and ", ", ", ", and "]) + phrases[-1]


def asked(r, t, arguments, given):
    order = given[:]
    if r.random() < 0.5:
        r.shuffle(order)
    phrases = [said(r, p, arguments[p.key]) for p in order]
    details = join(r, phrases)
    article = r.choice(["the", "a", "my", "this"])
    act = f"{t.verb} {article} {t.thing}"
    form = r.random()
    if form < 0.12:
        pairs = ", ".join(f"{p.key}={json.dumps(arguments[p.key])}" for p in order)
        return r.choice([f"Call {t.name} with {pairs}" if pairs else f"Call {t.name}", f"Use {t.name}" + (f": {pairs}" if pairs else ""), f"Run the tool {t.name}" + (f" ({pairs})" if pairs else "")])
    if form < 0.25:
        return r.choice([f"Use the {t.name} tool{details}.", f"Call {t.name}{details}", f"Please run {t.name}{details}."])
    return r.choice([f"{act.capitalize()}{details}.", f"Please {act}{details}.", f"Can you {act}{details}?", f"I want to {act}{details}.",
                     f"I need you to {act}{details}", f"{act}{details}", f"Could you {act} for me{details}?", f"Hi, {act}{details} please."])


def thought(r, t, given):
    names = ", ".join(p.key for p in given)
    return f"The user wants to {t.verb} the {t.thing}. I call {t.name}" + (f" with {names}." if names else " without arguments.")


def result(r):
    """(what a tool returns, what to say about it)"""
    kind = r.random()
    if kind < 0.2:
        return r.choice([('{"status": "ok"}', "Done."), ("ok", "Done."), ('{"success": true}', "Done."), ("", "Done. The tool returned nothing.")])
    if kind < 0.3:
        problem = r.choice(["not found", "permission denied", "timeout", f"invalid value {words.code(r)}", f"{words.word(r)} does not exist"])
        return r.choice([json.dumps({"error": problem}), f"Error: {problem}"]), f"The tool failed: {problem}."
    keys = r.sample(["id", "temperature", "price", "status", "name", "total", "count", "date", "city", "code", "balance", "score", words.word(r)], r.randint(1, 3))
    values = {k: r.choice([words.word, words.number, words.code, words.decimal, words.name, words.date])(r) for k in keys}
    says = ", ".join(f"the {k} is {v}" for k, v in values.items())
    return json.dumps(values), says[0].upper() + says[1:] + "."


def conversation(r, held_out=False):
    """`held_out`: always one call."""
    box = toolbox(r, held_out)
    calls_for = [box[0]]
    shown = box[:]
    kind = 1.0 if held_out else r.random()
    if kind < 0.10:
        shown = box[1:]
        if not shown:
            return conversation(r)
    r.shuffle(shown)
    talk = cmd4.Conversation([t.declared for t in shown], reasoning=r.random() < 0.5)
    if r.random() < 0.15:
        talk.system(r.choice(["You are a helpful assistant.", "Use the tools when they help.", "You are a careful assistant with tools. Be brief.", "Answer in English."]))
    if kind < 0.06:
        question, answer, why = chat.exchange(r)
        talk.user(question)
        talk.answer(answer, why)
        return talk
    if kind < 0.10:
        arguments, given = arguments_for(r, box[0])
        talk.user(asked(r, box[0], arguments, given))
        talk.answer(f"None of my tools can {box[0].verb} a {box[0].thing}.", f"The user wants to {box[0].verb} the {box[0].thing}. No tool fits.")
        return talk
    for round in range(1 if held_out else r.choice([1, 1, 1, 2])):
        t = box[0] if round == 0 else r.choice(shown)
        arguments, given = arguments_for(r, t)
        request = asked(r, t, arguments, given)
        calls, why = [(t.name, arguments)], thought(r, t, given)
        if not held_out and r.random() < 0.12:
            u = r.choice(shown)
            more, also = arguments_for(r, u)
            second = asked(r, u, more, also)
            request = request.rstrip(".?") + r.choice([". Also, ", ". Then ", " and also ", ". "]) + second[0].lower() + second[1:]
            calls.append((u.name, more))
            why += f" I also call {u.name}."
        talk.user(request)
        talk.call(calls, why)
        if held_out or r.random() < 0.3:
            break
        values, says = zip(*[result(r) for _ in calls])
        talk.result(*values)
        talk.answer(" ".join(says), "I have the result.")
    return talk
