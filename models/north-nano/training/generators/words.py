"""Random words, names and values. Most are made up or rare, so that a model can only copy them."""

import builtins
import keyword
import re
import string

CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"
COMMON = """apple river stone cloud green silver market window garden bridge winter summer paper
table music train ocean forest mountain yellow simple small large quick quiet bright lamp chair
engine signal report budget invoice project team client server backup folder photo video ticket
order parcel flight hotel room lunch dinner meeting review draft release branch sensor battery
north south east west alpha beta gamma delta omega orange purple copper iron glass leaf wind rain
snow fire water bread sugar coffee tea milk doctor driver teacher farmer pilot sailor writer
painter king queen castle tower harbor island valley desert planet rocket comet""".split()
NAMES = """Alice Bob Carol David Emma Frank Grace Henry Irene Jack Karen Leo Mia Noah Olivia Paul
Quinn Rosa Sam Tina Uma Victor Wendy Xavier Yara Zoe Anna Ben Clara Daniel Eva Felix Hanna Ivan Julia
Kofi Lena Marco Nadia Omar Petra Ravi Sofia Tomas Vera Yusuf""".split()
CITIES = """Paris London Berlin Madrid Rome Vienna Oslo Dublin Prague Lisbon Athens Warsaw Tokyo Osaka
Seoul Delhi Mumbai Cairo Lagos Nairobi Toronto Boston Chicago Denver Seattle Austin Miami Lima Quito
Sydney Perth Auckland Helsinki Zurich Geneva Milan Porto Lyon Hamburg Munich""".split()


VOCABULARY = list(COMMON)  # learn() adds to it

# Words that name tools in evaluations only; training never sees a tool called so.
RESERVED = set("""register inspect verify duplicate publish rotate attach restore merge ship passport
warehouse telescope orchard vaccine museum locomotive aquarium parking lecture""".split())


# Words that would break a program as names in it.
TAKEN = set(keyword.kwlist) | set(dir(builtins)) | {"math", "json", "key", "value", "limit", "threshold", "bound", "self", "file", "data"}


def learn(texts):
    """Adds the words of some texts to those that are drawn."""
    found = {w for text in texts for w in re.findall(r"(?<![A-Za-z_])[a-z]{3,11}(?![A-Za-z_])", text)}
    VOCABULARY[:] = sorted((found | set(COMMON)) - RESERVED - TAKEN)


def syllables(r, low=2, high=3):
    return "".join(r.choice(CONSONANTS) + r.choice(VOWELS) + (r.choice("nrslmtk") if r.random() < 0.25 else "")
                   for _ in range(r.randint(low, high)))


def letters(r):
    drawn = "".join(r.choice(string.ascii_lowercase) for _ in range(r.randint(2, 7)))
    return drawn if drawn not in TAKEN else letters(r)


def word(r):
    kind = r.random()
    if kind < 0.2:
        return r.choice(COMMON)
    if kind < 0.7:
        return r.choice(VOCABULARY)
    return syllables(r) if kind < 0.93 else letters(r)


def name(r):
    return r.choice(NAMES) if r.random() < 0.5 else (syllables if r.random() < 0.7 else word)(r).capitalize()


def city(r):
    return r.choice(CITIES) if r.random() < 0.5 else syllables(r).capitalize()


def full_name(r):
    return f"{name(r)} {syllables(r).capitalize()}"


def code(r):
    alphabet = r.choice([string.ascii_uppercase + string.digits, string.ascii_lowercase + string.digits,
                         string.digits, string.hexdigits[:16]])
    body = "".join(r.choice(alphabet) for _ in range(r.randint(4, 9)))
    return r.choice(["", "", "", r.choice(string.ascii_uppercase) + "-", word(r).upper() + "-", "#"]) + body


def number(r):
    return r.choice([r.randint(0, 9), r.randint(10, 99), r.randint(100, 999), r.randint(1000, 99999)])


def decimal(r):
    return round(r.uniform(0, 10 ** r.randint(0, 3)), r.randint(1, 2))


def date(r):
    return f"{r.randint(2019, 2031)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}"


def clock(r):
    return f"{r.randint(0, 23):02}:{r.choice(['00', '15', '30', '45', f'{r.randint(0, 59):02}'])}"


def email(r):
    return f"{word(r)}{r.choice(['', '.' + word(r), str(r.randint(1, 99))])}@{word(r)}.{r.choice(['com', 'org', 'net', 'io', 'de'])}"


EXTENSIONS = "py py py txt md json csv yaml toml js c h cpp html css sh log ini".split()


def file_name(r, extension=None):
    stem = word(r) if r.random() < 0.6 else f"{word(r)}_{word(r)}"
    return f"{stem}.{extension or r.choice(EXTENSIONS)}"


def path(r, extension=None):
    folders = [r.choice(["src", "lib", "docs", "tests", "data", "app", "config", word(r)])
               for _ in range(r.choice([0, 0, 1, 1, 2]))]
    return "/".join(folders + [file_name(r, extension)])


def sentence(r):
    return " ".join([r.choice(["Please", "Remember to", "We should", "Do not forget to", "I will", "They", "Let us"]),
                     r.choice(["check", "send", "review", "move", "open", "update", "bring", "call", "clean"]),
                     r.choice(["the", "a", "our", "my"]), word(r), *([word(r)] if r.random() < 0.5 else []),
                     r.choice(["today", "tomorrow", f"at {clock(r)}", f"before {date(r)}", f"with {name(r)}", "again",
                               f"in {city(r)}", f"for {name(r)}"])]) + r.choice([".", "", "!"])


def phrase(r):
    return " ".join(word(r) for _ in range(r.randint(2, 6)))


def title(r):
    return " ".join(word(r).capitalize() for _ in range(r.randint(1, 4)))


def url(r):
    return f"https://{word(r)}.{r.choice(['com', 'org', 'dev'])}/{word(r)}" + r.choice(["", f"/{r.randint(1, 999)}"])
