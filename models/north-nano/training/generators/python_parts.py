"""Pieces of small Python tasks: what to keep, what to make of it, what to return.

Each piece is (phrase, code, name), where the code speaks of one element `x`; {k}, {c} and {w} stand
for a number, a letter and a word that the task draws.
"""

NUMBER_FILTERS = [
    ("even numbers", "x % 2 == 0", "even"),
    ("odd numbers", "x % 2 == 1", "odd"),
    ("positive numbers", "x > 0", "positive"),
    ("negative numbers", "x < 0", "negative"),
    ("non-zero numbers", "x != 0", "nonzero"),
    ("numbers greater than {k}", "x > {k}", "above"),
    ("numbers less than {k}", "x < {k}", "below"),
    ("numbers that are at least {k}", "x >= {k}", "at_least"),
    ("numbers that are at most {k}", "x <= {k}", "at_most"),
    ("numbers divisible by {k}", "x % {k} == 0", "divisible"),
    ("multiples of {k}", "x % {k} == 0", "multiples"),
    ("numbers not divisible by {k}", "x % {k} != 0", "not_divisible"),
    ("numbers not equal to {k}", "x != {k}", "other"),
    ("numbers that end in the digit {d}", "abs(x) % 10 == {d}", "ending"),
    ("numbers between {a} and {b} inclusive", "{a} <= x <= {b}", "between"),
]
NUMBER_MAPS = [
    ("squares of the", "x ** 2", "squares"),
    ("cubes of the", "x ** 3", "cubes"),
    ("doubles of the", "x * 2", "doubles"),
    ("absolute values of the", "abs(x)", "absolute"),
    ("negated", "-x", "negated"),
    ("integer halves of the", "x // 2", "halves"),
    ("remainders modulo {m} of the", "x % {m}", "remainders"),
]
# (phrase around the items, code over `{e}`, name); {e} is a generator expression.
NUMBER_ENDS = [
    ("the sum of {p}", "sum({e})", "sum"),
    ("the list of {p}", "[{e}]", "list"),
    ("the {p} as a list", "[{e}]", "collect"),
    ("a sorted list of {p}", "sorted({e})", "sorted"),
    ("{p} sorted in descending order", "sorted(({e}), reverse=True)", "descending"),
    ("the largest of {p}, or None if there are none", "max(({e}), default=None)", "largest"),
    ("the smallest of {p}, or None if there are none", "min(({e}), default=None)", "smallest"),
    ("the product of {p}", "math.prod({e})", "product"),
    ("the number of distinct values among {p}", "len(set({e}))", "distinct"),
    ("the set of {p}", "set({e})", "set"),
    ("the first of {p}, or None if there are none", "next(({e}), None)", "first"),
]
NUMBER_COUNTS = [
    ("how many {p} there are", "sum(1 for x in {v} if {f})", "count"),
    ("the number of {p}", "sum(1 for x in {v} if {f})", "number_of"),
    ("True if {v} contains any {p}", "any({f} for x in {v})", "has"),
    ("True if {v} contains only {p}", "all({f} for x in {v})", "only"),
    ("{v} without the {p}", "[x for x in {v} if not ({f})]", "without"),
]

CHARACTER_FILTERS = [
    ("vowels", "x.lower() in 'aeiou'", "vowels"),
    ("consonants", "x.isalpha() and x.lower() not in 'aeiou'", "consonants"),
    ("digits", "x.isdigit()", "digits"),
    ("letters", "x.isalpha()", "letters"),
    ("uppercase letters", "x.isupper()", "uppercase"),
    ("lowercase letters", "x.islower()", "lowercase"),
    ("spaces", "x == ' '", "spaces"),
    ("characters that are not spaces", "x != ' '", "non_spaces"),
    ("characters other than '{c}'", "x != '{c}'", "others"),
    ("occurrences of '{c}'", "x == '{c}'", "occurrences"),
    ("letters and digits", "x.isalnum()", "alphanumeric"),
]
CHARACTER_ENDS = [
    ("the number of {p} in {v}", "sum(1 for x in {v} if {f})", "count"),
    ("how many {p} {v} has", "sum(1 for x in {v} if {f})", "how_many"),
    ("a string of only the {p} of {v}", "''.join(x for x in {v} if {f})", "only"),
    ("{v} without its {p}", "''.join(x for x in {v} if not ({f}))", "remove"),
    ("the list of {p} in {v}", "[x for x in {v} if {f}]", "list"),
    ("True if {v} contains any {p}", "any({f} for x in {v})", "has"),
    ("the set of {p} in {v}", "{{x for x in {v} if {f}}}", "set"),
    ("the positions of the {p} in {v}", "[i for i, x in enumerate({v}) if {f}]", "positions"),
    ("a dictionary that counts each of the {p} in {v}", "{{x: {v}.count(x) for x in {v} if {f}}}", "counts"),
]

WORD_FILTERS = [
    ("that start with '{c}'", "x.startswith('{c}')", "starting"),
    ("that end with '{c}'", "x.endswith('{c}')", "ending"),
    ("that contain '{c}'", "'{c}' in x", "containing"),
    ("that do not contain '{c}'", "'{c}' not in x", "lacking"),
    ("longer than {k} characters", "len(x) > {k}", "long"),
    ("shorter than {k} characters", "len(x) < {k}", "short"),
    ("with exactly {k} characters", "len(x) == {k}", "exact"),
    ("that are palindromes", "x == x[::-1]", "palindrome"),
    ("that are not empty", "x", "nonempty"),
    ("that consist of digits", "x.isdigit()", "digit"),
    ("that are uppercase", "x.isupper()", "upper"),
    ("with an even length", "len(x) % 2 == 0", "even_length"),
    ("with an odd length", "len(x) % 2 == 1", "odd_length"),
]
WORD_MAPS = [
    ("the lengths of the {n}", "len(x)", "lengths"),
    ("the {n} in uppercase", "x.upper()", "upper"),
    ("the {n} in lowercase", "x.lower()", "lower"),
    ("the {n} reversed", "x[::-1]", "reversed"),
    ("the {n} capitalized", "x.capitalize()", "capitalized"),
    ("the first letters of the {n}", "x[:1]", "initials"),
    ("the last letters of the {n}", "x[-1:]", "finals"),
    ("the {n} without surrounding spaces", "x.strip()", "stripped"),
    ("the {n} repeated twice", "x * 2", "twice"),
    ("the {n}", "x", "plain"),
]
WORD_ENDS = [
    ("a list of {p}", "[{e}]", "list"),
    ("{p} as a list", "[{e}]", "collect"),
    ("{p} sorted", "sorted({e})", "sorted"),
    ("{p} joined with '{s}'", "'{s}'.join(str(y) for y in ({e}))", "join"),
    ("the set of {p}", "set({e})", "set"),
]
WORD_COUNTS = [
    ("the number of {n} {f}", "sum(1 for x in {v} if {c})", "count"),
    ("True if any of the {n} is one {f}", "any(bool({c}) for x in {v})", "any"),
    ("the longest of the {n} {f}, or an empty string", "max((x for x in {v} if {c}), key=len, default='')", "longest"),
    ("the shortest of the {n} {f}, or an empty string", "min((x for x in {v} if {c}), key=len, default='')", "shortest"),
    ("the total length of the {n} {f}", "sum(len(x) for x in {v} if {c})", "total_length"),
    ("a dictionary from each of the {n} {f} to its length", "{{x: len(x) for x in {v} if {c}}}", "length_map"),
]

# (phrase, statement on `v`)
STRING_STEPS = [
    ("strips surrounding spaces", "v = v.strip()"),
    ("converts it to lowercase", "v = v.lower()"),
    ("converts it to uppercase", "v = v.upper()"),
    ("reverses it", "v = v[::-1]"),
    ("replaces spaces with '{s}'", "v = v.replace(' ', '{s}')"),
    ("replaces '{c}' with '{e}'", "v = v.replace('{c}', '{e}')"),
    ("removes every '{c}'", "v = v.replace('{c}', '')"),
    ("removes the vowels", "v = ''.join(x for x in v if x.lower() not in 'aeiou')"),
    ("removes the digits", "v = ''.join(x for x in v if not x.isdigit())"),
    ("keeps only letters", "v = ''.join(x for x in v if x.isalpha())"),
    ("keeps the first {k} characters", "v = v[:{k}]"),
    ("keeps the last {k} characters", "v = v[-{k}:]"),
    ("drops the first character", "v = v[1:]"),
    ("drops the last character", "v = v[:-1]"),
    ("repeats it {k} times", "v = v * {k}"),
    ("capitalizes each word", "v = v.title()"),
    ("swaps upper and lower case", "v = v.swapcase()"),
    ("sorts its characters", "v = ''.join(sorted(v))"),
    ("reverses the order of its words", "v = ' '.join(v.split()[::-1])"),
    ("adds '{w}' at the end", "v = v + '{w}'"),
    ("adds '{w}' at the start", "v = '{w}' + v"),
    ("doubles every character", "v = ''.join(x * 2 for x in v)"),
]
LIST_STEPS = [
    ("sorts it", "v = sorted(v)"),
    ("sorts it in descending order", "v = sorted(v, reverse=True)"),
    ("reverses it", "v = v[::-1]"),
    ("removes duplicates but keeps the order", "v = list(dict.fromkeys(v))"),
    ("removes the zeros", "v = [x for x in v if x != 0]"),
    ("removes negative numbers", "v = [x for x in v if x >= 0]"),
    ("keeps the even numbers", "v = [x for x in v if x % 2 == 0]"),
    ("keeps the odd numbers", "v = [x for x in v if x % 2 == 1]"),
    ("keeps numbers greater than {k}", "v = [x for x in v if x > {k}]"),
    ("keeps the first {k} elements", "v = v[:{k}]"),
    ("keeps the last {k} elements", "v = v[-{k}:]"),
    ("drops the first element", "v = v[1:]"),
    ("drops the last element", "v = v[:-1]"),
    ("keeps every second element", "v = v[::2]"),
    ("squares each element", "v = [x ** 2 for x in v]"),
    ("doubles each element", "v = [x * 2 for x in v]"),
    ("adds {k} to each element", "v = [x + {k} for x in v]"),
    ("multiplies each element by {k}", "v = [x * {k} for x in v]"),
    ("takes absolute values", "v = [abs(x) for x in v]"),
    ("appends {k}", "v = v + [{k}]"),
    ("inserts {k} at the front", "v = [{k}] + v"),
    ("repeats the list twice", "v = v * 2"),
]
STRING_FINALS = [("returns the result", "v"), ("returns the result", "v"), ("returns its length", "len(v)"),
                 ("returns the list of its characters", "list(v)"), ("returns the set of its characters", "set(v)")]
LIST_FINALS = [("returns the result", "v"), ("returns the result", "v"), ("returns the sum", "sum(v)"),
               ("returns the number of elements", "len(v)"),
               ("returns the largest element, or None if it is empty", "max(v, default=None)")]

# Records: fields with a kind of value each.
FIELDS = {"name": "word", "title": "word", "city": "word", "color": "word", "brand": "word", "owner": "word",
          "age": "number", "price": "number", "score": "number", "year": "number", "weight": "number",
          "stock": "number", "rating": "number", "height": "number", "level": "number", "points": "number"}
RECORDS = ["items", "users", "products", "records", "people", "rows", "books", "orders", "players", "cars",
           "entries", "students", "employees", "movies"]
COMPARISONS = [("is greater than {k}", "> {k}"), ("is less than {k}", "< {k}"), ("is at least {k}", ">= {k}"),
               ("is at most {k}", "<= {k}"), ("equals {k}", "== {k}"), ("is above {k}", "> {k}"),
               ("is below {k}", "< {k}"), ("is not {k}", "!= {k}")]
