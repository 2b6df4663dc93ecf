"""Facts planted in long texts, and questions about them."""

import cmd4
from generators import words

KINDS = ["access code", "phone number", "favorite color", "serial number", "birthday", "locker number", "password", "room", "secret word", "invoice number", "home town", "best score",
         "license plate", "magic number", "account number", "username"]


def fact(r):
    """(statement, question, answer)"""
    kind = r.choice(KINDS)
    owner = r.choice([words.name(r), words.full_name(r), "project " + words.syllables(r).capitalize(), "the " + words.word(r), words.city(r)])
    value = r.choice([words.code, words.number, words.word, words.syllables, words.date, words.city])(r)
    statement = r.choice([f"The {kind} of {owner} is {value}.", f"{owner} has the {kind} {value}.", f"Remember: the {kind} of {owner} is {value}.", f"Note that the {kind} for {owner} is {value}."])
    question = r.choice([f"What is the {kind} of {owner}?", f"Which {kind} does {owner} have?", f"Tell me the {kind} of {owner}.", f"What is the {kind} for {owner}?", f"According to the text, what is the {kind} of {owner}?"])
    return statement[0].upper() + statement[1:], question, f"The {kind} of {owner} is {value}."


def sentences(r, size):
    out, total = [], 0
    while total < size:
        out.append(words.sentence(r))
        total += len(out[-1]) + 1
    return out


def haystack(r, corpus, size):
    """Lines of about `size` characters together."""
    kind = r.random()
    if kind < 0.6:
        return corpus.excerpt(r, size).split("\n")
    if kind < 0.8:
        return sentences(r, size)
    out, total = [], 0
    while total < size:
        out.append(fact(r)[0])
        total += len(out[-1]) + 1
    return out


def listing(r, size):
    """Many keys with values; (text, question, answer)"""
    form = r.choice(["{k}: {v}", "{k} = {v}", "{k} -> {v}", '"{k}": "{v}",', "{k}\t{v}", "| {k} | {v} |"])
    pairs, total = {}, 0
    while total < size:
        key, value = r.choice([words.syllables, words.code, words.file_name])(r), r.choice([words.code, words.number, words.syllables])(r)
        if key not in pairs:
            pairs[key] = value
            total += len(key) + len(str(value)) + 4
    key = r.choice(list(pairs))
    return ("\n".join(form.format(k=k, v=v) for k, v in pairs.items()),
            r.choice([f"What is the value of {key}?", f"Which value belongs to {key}?", f"Look up {key}.", f"{key}?"]), f"The value of {key} is {pairs[key]}.")


def conversation(r, corpus, size, held_out=False):
    """`size`: characters of the text, about."""
    talk = cmd4.Conversation(reasoning=r.random() < 0.5)
    if not held_out and r.random() < 0.3:
        body, question, answer = listing(r, size)
        asked = [(question, answer)]
    else:
        lines = haystack(r, corpus, size)
        facts = [fact(r) for _ in range(1 if held_out else r.choice([1, 1, 2, 3, 4]))]
        for statement, _, _ in facts:
            lines.insert(r.randint(0, len(lines)), statement)
        body = "\n".join(lines)
        asked = [(q, a) for _, q, a in facts]
        r.shuffle(asked)
    first = r.random() < 0.15
    question, answer = asked[0]
    talk.user(f"{question}\n\n{body}" if first else r.choice([f"{body}\n\n{question}", f"Here is a text:\n{body}\n\n{question}", f"```\n{body}\n```\n{question}"]))
    talk.answer(answer, "I look it up in the text.", answer.rstrip(".").rsplit(" is ", 1)[1])
    for question, answer in asked[1:]:
        talk.user(question)
        talk.answer(answer, "I look it up in the text.")
    return talk
