"""One stream of training documents from all generators, in given shares of tokens."""

from generators import agent, chat, needle, python_tasks, tools

CHARACTERS_PER_TOKEN = 2.6  # a careful guess for long texts, which must fit a row
LONGEST = 7_900  # tokens of a long text, about


class Source:
    def __init__(self, rng, mix, corpus):
        self.rng, self.mix, self.corpus = rng, mix, corpus
        self.spent = dict.fromkeys(mix, 1.0)

    def account(self, kind, tokens):
        self.spent[kind] += tokens

    def next(self):
        """(generator, text, whether it is a conversation): the generator furthest behind its share."""
        r = self.rng
        jitter = lambda kind: r.uniform(0.9, 1.1) * self.spent[kind] / self.mix[kind]
        kind = min(self.mix, key=jitter)
        self.spent[kind] += 300  # until it is known
        if kind == "text":
            return kind, "<BOS_TOKEN>" + self.corpus.excerpt(r, r.choice([2000, 6000, 12000])), False
        if kind == "needle":
            size = int(CHARACTERS_PER_TOKEN * LONGEST * r.random() ** 2) + 200
            return kind, needle.conversation(r, self.corpus, size).render(r), True
        make = {"python": python_tasks, "tools": tools, "chat": chat}.get(kind)
        talk = make.conversation(r) if make else agent.conversation(r, self.corpus)
        return kind, talk.render(r), True
