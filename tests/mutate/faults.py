# SPDX-License-Identifier: GPL-2.0-or-later
"""The small faults that can be put into a C source, and the choice of some of them.

Only code in function bodies is changed: no declarations, no preprocessor lines, no comments. Each
fault changes one place and no line numbers.
"""

import random
import re

TOKEN = re.compile(r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|\d[\w.]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|.)
""", re.S | re.X)

COMPARISONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
               "==": ("!=",), "!=": ("==",)}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "+=": "-=", "-=": "+=", "++": "--", "--": "++", "<<": ">>",
              ">>": "<<", "&": "|", "|": "&", "|=": "&=", "&=": "|="}
NEEDS_OPERANDS = ("+", "-", "&", "|", "<", ">")  # other uses are signs or take an address
TYPES = {"const", "struct", "enum", "union", "static", "unsigned", "signed", "volatile", "own",
         "typedef", "extern", "_Static_assert", "goto", "asm"}
HEADED = ("if", "while", "for", "switch")
WITHOUT_EFFECT = ("UNWIND_OPAQUE", "index_prefetch")  # they steer compilers, verifiers, caches


class Fault:
    """One change: `before` at `start` of the file's text becomes `after`."""

    function = ""  # whose body has it

    def __init__(self, text, kind, start, before, after):
        self.kind = kind
        self.start = start
        self.before = before
        self.after = after
        self.line = text.count("\n", 0, start) + 1
        self.column = start - text.rfind("\n", 0, start)

    def name(self):
        return f"{self.line}:{self.column}:{self.kind}:{one_line(self.after)}"

    def put_into(self, text):
        """The whole text with the fault; a statement of several lines keeps their number."""
        after = self.after + "\n" * (self.before.count("\n") - self.after.count("\n"))
        return text[:self.start] + after + text[self.start + len(self.before):]

    def lines(self, text):
        """The line, or the lines of a statement, without and with the fault."""
        begin = text.rfind("\n", 0, self.start) + 1
        end = text.find("\n", self.start + len(self.before))
        with_fault = text[begin:self.start] + self.after + text[self.start + len(self.before):end]
        return one_line(text[begin:end]), one_line(with_fault)


def one_line(code):
    return " ".join(code.split())


def tokens_of(text):
    """(kind, start, string) of each token that is compiled, without preprocessor lines."""
    blank = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]), text,
                   flags=re.M)
    return [(m.lastgroup, m.start(), m[0]) for m in TOKEN.finditer(blank)
            if m.lastgroup != "space"]


def bodies(tokens):
    """(first, last) of each function's tokens, its braces included."""
    depth, begin = 0, None
    for i, (_, _, string) in enumerate(tokens):
        if string == "{":
            if depth == 0 and i and tokens[i - 1][2] == ")":
                begin = i
            depth += 1
        elif string == "}":
            depth -= 1
            if depth == 0 and begin is not None:
                yield begin, i
                begin = None


def name_before(tokens, brace):
    """The name of the function whose body begins there; of a BPF program its first argument."""
    i, depth = brace - 1, 0
    while True:
        depth += (tokens[i][2] == ")") - (tokens[i][2] == "(")
        if depth == 0:
            break
        i -= 1
    return tokens[i + 1 if tokens[i - 1][2].startswith("BPF_") else i - 1][2]


def matching(tokens, i):
    """The token that closes the parenthesis at i."""
    depth = 0
    while True:
        depth += (tokens[i][2] == "(") - (tokens[i][2] == ")")
        if depth == 0:
            return i
        i += 1


def statements(tokens, first, last):
    """(first, last) of each simple statement, its semicolon included."""
    i = begin = first + 1
    while i < last:
        string = tokens[i][2]
        if string in HEADED and i == begin:
            i = begin = matching(tokens, i + 1) + 1
        elif string in ("else", "do", "{", "}") and (i == begin or string in "{}"):
            i = begin = i + 1
        elif string in ("case", "default") and i == begin:
            while tokens[i][2] != ":":
                i += 1
            i = begin = i + 1
        elif string == "(":
            i = matching(tokens, i) + 1
        elif string == ";":
            if i > begin:
                yield begin, i
            i = begin = i + 1
        else:
            i += 1


def is_declaration(tokens, first):
    kinds = [t[0] for t in tokens[first:first + 3]]
    strings = [t[2] for t in tokens[first:first + 3]]
    return (strings[0] in TYPES or kinds[:2] == ["name", "name"] or
            (kinds[0] == "name" and strings[1] == "*" and kinds[2] in ("name", "sign")))


def of_statement(text, tokens, first, last):
    start = tokens[first][1]
    before = text[start:tokens[last][1] + 1]
    if tokens[first][2] == "return":
        value = one_line(before[len("return"):-1])
        if value in ("true", "false"):
            yield Fault(text, "return", start, before,
                        f"return {'false' if value == 'true' else 'true'};")
        elif value and value not in ("0", "NULL"):
            yield Fault(text, "return", start, before, "return 0;")
        elif not value:
            yield Fault(text, "drop", start, before, ";")
    elif not is_declaration(tokens, first) and tokens[first][2] not in WITHOUT_EFFECT:
        yield Fault(text, "drop", start, before, ";")


def number_faults(text, start, string):
    m = re.fullmatch(r"(0[xX])?([0-9a-fA-F]+?)([uUlL]*)", string)
    if not m or (not m[1] and not m[2].isdigit()):
        return
    value = int(m[2], 16 if m[1] else 10)
    for other in (value + 1, value - 1):
        if other >= 0:
            yield Fault(text, "constant", start, string,
                        (f"{m[1]}{other:x}" if m[1] else str(other)) + m[3])


def of_token(text, tokens, i):
    kind, start, string = tokens[i]
    before, before_string = tokens[i - 1][0], tokens[i - 1][2]
    has_left = (before in ("name", "number") and before_string not in ("return", "case")) or \
        before_string in (")", "]")
    if kind == "number":
        yield from number_faults(text, start, string)
    elif string in NEEDS_OPERANDS and not has_left:
        return
    elif string in COMPARISONS:
        for after in COMPARISONS[string]:
            yield Fault(text, "comparison", start, string, after)
    elif string in LOGIC:
        yield Fault(text, "logic", start, string, LOGIC[string])
    elif string in ARITHMETIC:
        yield Fault(text, "arithmetic", start, string, ARITHMETIC[string])
    elif string in ("!", "~"):
        yield Fault(text, "negation", start, string, " ")


def all_faults(text):
    """All faults of the text, in its order."""
    tokens = tokens_of(text)
    found = []
    for first, last in bodies(tokens):
        of_body = []
        for begin, end in statements(tokens, first, last):
            of_body += of_statement(text, tokens, begin, end)
        for i in range(first + 1, last):
            of_body += of_token(text, tokens, i)
        for fault in of_body:
            fault.function = name_before(tokens, first)
        found += of_body
    return sorted(found, key=lambda fault: (fault.start, fault.kind, fault.after))


def choose(text, file, seed, most):
    """
    Lists of faults, spread evenly over the file. The first fault of a list that changes an object
    file is used; the others are its replacements. A kind with many faults is not chosen more often.
    """
    faults = all_faults(text)
    lines = len({fault.line for fault in faults})
    n = max(1, min(most, lines // 3))
    for part in range(n):
        of_part = faults[len(faults) * part // n:len(faults) * (part + 1) // n]
        rng = random.Random(f"{seed}/{file}/{part}")
        ordered = []
        while of_part:
            kind = rng.choice(sorted({fault.kind for fault in of_part}))
            fault = rng.choice([fault for fault in of_part if fault.kind == kind])
            of_part.remove(fault)
            ordered.append(fault)
        yield ordered
