"""A MATLAB script as a tree of statements: assignments, calls, for and if.

A statement that cannot be read is kept as `Unread` with its line and the reason, and reading goes
on with the next line. Two signs need their neighbours: a quote closes a matrix (transposed) or
opens a text, and a blank inside brackets may part two entries. The first is settled where the text
is cut into words, the second by the parser, so every word knows whether a blank stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias, TypeVar

MAX_DEPTH = 30  # brackets and blocks within one another
MAX_OPERATORS = 60  # in a row
MAX_WORDS = 200_000
BLOCKS = ("for", "parfor", "while", "if", "switch", "try", "function", "classdef")
BREAKS = ("end", "else", "elseif", "case", "otherwise", "catch")
# from the loosest; unary signs stand between products and powers
LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("|",),
    ("&",),
    ("==", "~=", "!=", "<", ">", "<=", ">="),
    (":",),
    ("+", "-"),
    ("*", "/", "\\", ".*", "./", ".\\"),
)
# the point of 2.*x belongs to the product
WORD = re.compile(
    r"""(?P<number>(?:\d+(?:\.(?![*/\\^'])\d*)?|\.\d+)(?:[eEdD][+-]?\d+)?)
    |(?P<name>[A-Za-z]\w*)
    |(?P<sign>\.\^'|[=~!<>]=|&&|\|\||\.[*/\\^']|[-+*/\\^<>=&|~!@?()\[\]{},;:.'])""",
    re.ASCII | re.VERBOSE,
)
TEXTS = {quote: re.compile(f"{quote}((?:[^{quote}]|{quote}{quote})*+){quote}") for quote in "'\""}

T = TypeVar("T")


class CannotRead(Exception):
    """Why a statement cannot be read or carried out."""


class Word(NamedTuple):
    """One word: number, name, text, sign, line (its end), end (of the script) or bad."""

    kind: str
    text: str
    line: int
    blank: bool  # before it


class Constant(NamedTuple):
    """A number, a text, or the colon that stands for all of an axis."""

    value: float | str


class Place(NamedTuple):
    """A name and the steps from it: ("(", arguments), ("{", arguments), (".", field)."""

    name: str
    steps: tuple[Step, ...] = ()


class Operation(NamedTuple):
    """A sign and what it acts on: one, two or (for ranges) three parts."""

    sign: str
    parts: tuple[Node, ...]


class Brackets(NamedTuple):
    """Rows of entries, in [] or {}."""

    sign: str
    rows: tuple[tuple[Node, ...], ...]


class Assign(NamedTuple):
    """targets = value; without targets an expression on its own, or a command: clear all."""

    line: int
    targets: tuple[Place, ...]
    value: Node


class For(NamedTuple):
    """for name = value, body, end."""

    line: int
    name: str
    value: Node
    body: tuple[Statement, ...]


class If(NamedTuple):
    """Conditions with their bodies; the condition of else is None."""

    line: int
    branches: tuple[tuple[Node | None, tuple[Statement, ...]], ...]


class Unread(NamedTuple):
    """A statement that was left out, and why."""

    line: int
    why: str


Node: TypeAlias = Constant | Place | Operation | Brackets  # an expression
Statement: TypeAlias = Assign | For | If | Unread


class Step(NamedTuple):
    """A bracket with the indices in it, or a dot with the name of a field."""

    sign: str
    indices: tuple[Node, ...] = ()
    field: str = ""


def words_of(text: str) -> list[Word]:
    """All words of a script; anything else comes as one of the kind bad."""
    result: list[Word] = []
    stack: list[str] = []  # open brackets
    hidden = 0  # depth of block comments
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    joined = False  # by ... with the line before
    for number, line in enumerate(lines, 1):
        if line.strip() == "%{":
            hidden += 1
        elif line.strip() == "%}" and hidden:
            hidden -= 1
        elif not hidden:
            joined = _cut(line, number, result, stack, joined)
        if not joined:
            result.append(Word("line", "\n", number, True))
    result.append(Word("end", "", len(lines), True))
    return result


def _cut(line: str, number: int, result: list[Word], stack: list[str], blank: bool) -> bool:
    """Add the words of one line; true where it goes on in the next."""
    at = 0
    while at < len(line):
        char = line[at]
        if char in " \t\f\v\xa0":
            blank, at = True, at + 1
            continue
        if char == "%" or line.startswith("...", at):
            return char != "%"
        if char == '"' or (char == "'" and not _transposes(result, stack, blank)):
            match = TEXTS[char].match(line, at)
            kind, text = ("text", match[1].replace(2 * char, char)) if match else ("bad", line[at:])
        else:
            match = WORD.match(line, at)
            kind, text = (str(match.lastgroup), match[0]) if match else ("bad", char)
        result.append(Word(kind, text, number, blank))
        if kind == "sign" and text in "([{":
            stack.append(text)
        elif kind == "sign" and text in ")]}" and stack:
            stack.pop()
        at, blank = match.end() if match else at + len(text), False
    return False


def _transposes(result: list[Word], stack: list[str], blank: bool) -> bool:
    """Whether a quote here belongs to what stands before it."""
    if not result or (blank and stack and stack[-1] in "[{"):
        return False
    kind, text, *_ = result[-1]
    if kind == "sign":
        return text in (")", "]", "}", "'", ".'")
    return kind in ("number", "name", "text")


def statements_of(text: str) -> tuple[Statement, ...]:
    """The statements of a script, those that cannot be read included."""
    return _Parser(words_of(text)).script()


class _Parser:
    def __init__(self, words: list[Word]) -> None:
        self.words = words[:MAX_WORDS]
        if len(words) > MAX_WORDS:
            self.words.append(Word("end", "", words[MAX_WORDS].line, True))
        self.at = 0
        self.depth = 0
        self.rows = False  # blanks part entries

    # words

    @property
    def word(self) -> Word:
        return self.words[self.at]

    @property
    def following(self) -> Word:
        return self.words[min(self.at + 1, len(self.words) - 1)]

    def is_sign(self, *signs: str) -> bool:
        return self.word.kind == "sign" and self.word.text in signs

    def take(self) -> Word:
        """The next word, and go on; the end stays."""
        word = self.word
        if word.kind != "end":
            self.at += 1
        return word

    def skip(self, *signs: str) -> bool:
        """Take one of these signs if it stands here."""
        return self.is_sign(*signs) and bool(self.take())

    def expect(self, sign: str) -> None:
        if not self.skip(sign):
            raise CannotRead(f"'{sign}' is missing{self._before()}")

    def _before(self) -> str:
        text = self.word.text.strip()[:30]
        return f" before '{text}'" if text else " at the end of the line"

    # statements

    def script(self) -> tuple[Statement, ...]:
        result: list[Statement] = []
        while self.word.kind != "end":
            result += self.block()
            if self.word.kind != "end":  # an end without a beginning
                result.append(Unread(self.word.line, f"'{self.word.text}' closes nothing"))
                self.skip_line()
        return tuple(result)

    def block(self) -> list[Statement]:
        """Statements up to a word that ends a block, which is not taken."""
        result: list[Statement] = []
        depth = self.depth
        while True:
            while self.word.kind == "line" or self.is_sign(";", ","):
                self.take()
            if self.word.kind == "end" or (self.word.kind == "name" and self.word.text in BREAKS):
                return result
            start = self.at
            try:
                result.append(self.statement())
            except CannotRead as error:
                first = self.words[start]
                result.append(Unread(first.line, str(error)))
                # go on with the next line, or past the whole of a block
                self.at, self.depth, self.rows = start, depth, False
                is_block = first.kind == "name" and first.text in BLOCKS
                (self.skip_block if is_block else self.skip_line)()

    def skip_line(self) -> None:
        line = self.word.line
        while self.word.kind != "end" and self.word.line <= line:
            self.take()

    def skip_block(self) -> None:
        """Past the end that closes the block which begins here."""
        depth, brackets = 0, 0
        while self.word.kind != "end":
            word = self.take()
            if word.kind == "sign":
                brackets += (word.text in "([{") - (word.text in ")]}")
            elif word.kind == "line":
                brackets = 0
            elif word.kind == "name" and brackets <= 0:
                depth += (word.text in BLOCKS) - (word.text == "end")
                if depth == 0:
                    return

    def statement(self) -> Statement:
        """One statement, up to the end of its line."""
        first, after = self.word, self.following
        if first.kind == "name" and first.text in BLOCKS:
            built = self.compound(first)
        elif (
            first.kind == "name"
            and after.kind in ("name", "number")
            and after.blank
            and first.line == after.line
        ):
            built = self.command()
        else:
            built = self.simple(first.line)
        if not (self.word.kind in ("line", "end") or self.is_sign(";", ",")):
            raise CannotRead(f"'{self.word.text.strip()[:30]}' is not expected here")
        return built

    def command(self) -> Assign:
        """A name and the words after it as texts: clear all."""
        name = self.take()
        words = []
        while self.word.kind not in ("line", "end") and not self.is_sign(";", ","):
            words.append(Constant(self.take().text))
        return Assign(name.line, (), Place(name.text, (Step("(", tuple(words)),)))

    def simple(self, line: int) -> Assign:
        """An assignment or an expression."""
        start = self.at
        targets: list[Place] = []
        try:
            if self.skip("["):
                while not self.skip("]"):
                    if not self.skip(","):
                        targets.append(Place("") if self.skip("~") else self.place())
            elif self.word.kind == "name":
                targets.append(self.place())
        except CannotRead:
            if self.words[start].text != "[":
                raise
            targets = []  # a matrix
        if targets and self.skip("="):
            return Assign(line, tuple(targets), self.expression())
        self.at = start
        return Assign(line, (), self.expression())

    def compound(self, first: Word) -> Statement:
        if first.text not in ("for", "if"):
            raise CannotRead(f"'{first.text}' is not carried out; write the values themselves")
        self.deeper()
        self.take()
        built = self.loop(first.line) if first.text == "for" else self.choice(first.line)
        self.depth -= 1
        return built

    def loop(self, line: int) -> For:
        closed = self.skip("(")
        if self.word.kind != "name":
            raise CannotRead("the name of the loop is missing")
        name = self.take().text
        self.expect("=")
        value = self.expression()
        if closed:
            self.expect(")")
        body = self.block()
        if self.take().text != "end":
            raise CannotRead("'end' of the block is missing")
        return For(line, name, value, tuple(body))

    def choice(self, line: int) -> If:
        branches: list[tuple[Node | None, tuple[Statement, ...]]] = []
        condition: Node | None = self.expression()
        while True:
            branches.append((condition, tuple(self.block())))
            word = self.take()
            if word.text == "end":
                return If(line, tuple(branches))
            if word.text not in ("else", "elseif") or condition is None:
                raise CannotRead("'if' has no 'end'")
            condition = self.expression() if word.text == "elseif" else None

    # expressions

    def deeper(self) -> None:
        """One more level; too many are rejected before they fill the stack."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise CannotRead(f"brackets or blocks are more than {MAX_DEPTH} deep")

    def expression(self, level: int = 0) -> Node:
        """An expression of operators from a level on, by precedence climbing."""
        left = self.unary()
        for _ in range(MAX_OPERATORS):
            result = next((k for k, signs in enumerate(LEVELS) if self.is_sign(*signs)), -1)
            # inside brackets a sign may begin a new entry: [1 -2]
            parts_entries = self.rows and self.word.blank and not self.following.blank
            if result < level or (parts_entries and self.is_sign("+", "-")):
                return left
            sign = self.take().text
            parts = [left, self.expression(result + 1)]
            if sign == ":" and self.skip(":"):
                parts.append(self.expression(result + 1))
            left = Operation(sign, tuple(parts))
        raise CannotRead(f"an expression has more than {MAX_OPERATORS} operators in a row")

    def unary(self) -> Node:
        signs: list[str] = []
        while self.is_sign("+", "-", "~", "!"):
            signs.append(self.take().text)
            if len(signs) > MAX_DEPTH:
                raise CannotRead("too many signs in a row")
        value = self.power()
        for sign in reversed(signs):
            value = Operation(sign, (value,))
        return value

    def power(self) -> Node:
        """Powers, from left to right; their exponents may have a sign."""
        left = self.operand()
        while self.is_sign("^", ".^"):
            sign = self.take().text
            minus = False
            while self.is_sign("+", "-"):
                minus ^= self.take().text == "-"
            right = self.operand()
            left = Operation(sign, (left, Operation("-", (right,)) if minus else right))
        return left

    def operand(self) -> Node:
        """A number, text, name, bracket, with quotes behind it."""
        word = self.word
        self.deeper()
        if word.kind == "number":
            built: Node = Constant(float(self.take().text.lower().replace("d", "e")))
        elif word.kind == "text":
            built = Constant(self.take().text)
        elif word.kind == "name":
            built = self.place()
        elif self.is_sign("("):
            built = self.inside(")", self.expression)
        elif self.is_sign("[", "{"):
            built = self.brackets()
        else:
            raise CannotRead(self._no_operand(word))
        while self.is_sign("'", ".'") and not (self.rows and self.word.blank):
            self.take()
            built = Operation("'", (built,))
        self.depth -= 1
        return built

    def _no_operand(self, word: Word) -> str:
        if word.kind in ("line", "end"):
            return "the line ends where a value is expected"
        if word.text == "@":
            return "functions of one's own are not carried out"
        if word.kind == "bad" and word.text[0] in "'\"":
            return "a text has no closing quote"
        return f"'{word.text.strip()[:30]}' stands where a value is expected"

    def inside(self, right: str, read: Callable[[], T]) -> T:
        """What stands in round brackets or behind a name in braces; blanks mean nothing there."""
        self.take()
        rows, self.rows = self.rows, False
        built = read()
        self.rows = rows
        self.expect(right)
        return built

    def place(self) -> Place:
        """A name with brackets and fields behind it."""
        if self.word.kind != "name":
            raise CannotRead(f"a name is missing{self._before()}")
        self.deeper()
        name = self.take().text
        steps: list[Step] = []
        while not (self.rows and self.word.blank):
            if self.is_sign("(", "{"):
                sign = self.word.text
                steps.append(Step(sign, self.inside({"(": ")", "{": "}"}[sign], self.arguments)))
            elif self.is_sign(".") and self.following.kind == "name":
                self.take()
                steps.append(Step(".", field=self.take().text))
            else:
                break
            if len(steps) > MAX_DEPTH:
                raise CannotRead(f"more than {MAX_DEPTH} fields and brackets in a row")
        self.depth -= 1
        return Place(name, tuple(steps))

    def arguments(self) -> tuple[Node, ...]:
        """Arguments or indices, a colon alone among them."""
        result: list[Node] = []
        while not self.is_sign(")", "}"):
            alone = self.is_sign(":") and self.following.text in (",", ")", "}")
            result.append(Constant(self.take().text) if alone else self.expression())
            if not self.skip(",") and not self.is_sign(")", "}"):
                raise CannotRead(f"',' or ')' is missing{self._before()}")
        return tuple(result)

    def brackets(self) -> Brackets:
        """Rows of entries, parted by blanks, commas, semicolons and lines."""
        sign = self.take().text
        right = "]" if sign == "[" else "}"
        outer, self.rows = self.rows, True
        rows: list[list[Node]] = [[]]
        while not self.skip(right):
            if self.word.kind == "end":
                raise CannotRead(f"'{right}' is missing")
            if self.word.kind == "line" or self.is_sign(";"):
                self.take()
                rows.append([])
            elif not self.skip(","):
                rows[-1].append(self.expression())
        self.rows = outer
        return Brackets(sign, tuple(tuple(row) for row in rows if row))
