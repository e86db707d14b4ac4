"""A MATLAB script as a tree of statements: assignments, calls, for and if.

A statement that cannot be read is kept as `Unread` with its line and the reason, and reading goes
on with the next line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from swelltree.interop.wecsim.script.words import Word, words_of

DEEPEST = 30  # brackets and blocks within one another
LONGEST = 60  # operators in a row
MOST_WORDS = 200_000
BLOCKS = ("for", "parfor", "while", "if", "switch", "try", "function", "classdef")
BREAKS = ("end", "else", "elseif", "case", "otherwise", "catch")
COMPARISONS = ("==", "~=", "!=", "<", ">", "<=", ">=")
# from the loosest; unary signs stand between products and powers
LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("|",),
    ("&",),
    COMPARISONS,
    (":",),
    ("+", "-"),
    ("*", "/", "\\", ".*", "./", ".\\"),
)
POWERS = ("^", ".^")


T = TypeVar("T")


class CannotRead(Exception):
    """Why a statement cannot be read or carried out."""


@dataclass(frozen=True)
class Constant:
    """A number, a text, or the colon that stands for all of an axis."""

    value: float | str


@dataclass(frozen=True)
class Place:
    """A name and the steps from it: ("(", arguments), ("{", arguments), (".", field)."""

    name: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Operation:
    """A sign and what it acts on: one, two or (for ranges) three parts."""

    sign: str
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Brackets:
    """Rows of entries, in [] or {}."""

    sign: str
    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True)
class Assign:
    """targets = value."""

    line: int
    targets: tuple[Place, ...]
    value: Node


@dataclass(frozen=True)
class Call:
    """An expression on its own, or a command with words: clear all."""

    line: int
    value: Node


@dataclass(frozen=True)
class For:
    """for name = value, body, end."""

    line: int
    name: str
    value: Node
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class If:
    """Conditions with their bodies; the condition of else is None."""

    line: int
    branches: tuple[tuple[Node | None, tuple[Statement, ...]], ...]


@dataclass(frozen=True)
class Unread:
    """A statement that was left out, and why."""

    line: int
    why: str


Node = Constant | Place | Operation | Brackets  # an expression
Statement = Assign | Call | For | If | Unread
Step = tuple[str, Any]  # an index with the expressions in it, or a dot with the name of a field
ALL = Constant(":")


def statements_of(text: str) -> tuple[Statement, ...]:
    """The statements of a script, those that cannot be read included."""
    return _Parser(words_of(text)).script()


class _Parser:
    def __init__(self, words: list[Word]) -> None:
        self.words = words[:MOST_WORDS]
        if len(words) > MOST_WORDS:
            self.words.append(Word("end", "", words[MOST_WORDS].line, True))
        self.at = 0
        self.depth = 0
        self.rows = False  # blanks part entries

    # words

    @property
    def word(self) -> Word:
        """The next word."""
        return self.words[self.at]

    def is_sign(self, *signs: str) -> bool:
        """Whether the next word is one of these signs."""
        return self.word.kind == "sign" and self.word.text in signs

    def take(self) -> Word:
        """The next word, and go on; the end stays."""
        word = self.word
        if word.kind != "end":
            self.at += 1
        return word

    def expect(self, sign: str) -> None:
        """Take a sign that must stand here."""
        if not self.is_sign(sign):
            raise CannotRead(f"'{sign}' is missing{self._before()}")
        self.take()

    def _before(self) -> str:
        text = self.word.text.strip()[:30]
        return f" before '{text}'" if text else " at the end of the line"

    # statements

    def script(self) -> tuple[Statement, ...]:
        """All statements."""
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
                result.append(Unread(self.words[start].line, str(error)))
                self.depth = depth
                self.recover(start)

    def recover(self, start: int) -> None:
        """Go on with the line after that of a word; past the whole of a block."""
        first = self.words[start]
        self.rows = False
        self.at = start
        if first.kind == "name" and first.text in BLOCKS:
            self.skip_block()
        else:
            self.skip_line()

    def skip_line(self) -> None:
        """To the first word of a later line."""
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
                depth += word.text in BLOCKS
                depth -= word.text == "end"
                if depth == 0:
                    return

    def statement(self) -> Statement:
        """One statement, up to the end of its line."""
        first = self.word
        if first.kind == "name" and first.text in BLOCKS:
            built = self.compound(first)
        elif self.is_command():
            built = self.command()
        else:
            built = self.simple(first.line)
        if not (self.word.kind in ("line", "end") or self.is_sign(";", ",")):
            raise CannotRead(f"'{self.word.text.strip()[:30]}' is not expected here")
        return built

    def is_command(self) -> bool:
        """Whether words follow a name as in `clear all`."""
        word, after = self.word, self.words[min(self.at + 1, len(self.words) - 1)]
        return (
            word.kind == "name"
            and after.kind in ("name", "number")
            and after.blank
            and word.line == after.line
        )

    def command(self) -> Call:
        """A name and the words after it as texts."""
        name = self.take()
        words = []
        while self.word.kind not in ("line", "end") and not self.is_sign(";", ","):
            words.append(Constant(self.take().text))
        return Call(name.line, Place(name.text, (("(", tuple(words)),)))

    def simple(self, line: int) -> Statement:
        """An assignment or an expression."""
        if self.is_sign("["):
            targets = self.several()
            if targets:
                return Assign(line, targets, self.expression())
        start = self.at
        if self.word.kind == "name":
            place = self.place()
            if self.is_sign("="):
                self.take()
                return Assign(line, (place,), self.expression())
            self.at = start
        return Call(line, self.expression())

    def several(self) -> tuple[Place, ...]:
        """Targets of [a, b] = ..., or none where it is a matrix."""
        start = self.at
        result: list[Place] = []
        self.take()
        try:
            while not self.is_sign("]"):
                if self.is_sign(","):
                    self.take()
                elif self.is_sign("~"):
                    self.take()
                    result.append(Place(""))
                else:
                    result.append(self.place())
            self.take()
        except CannotRead:
            result = []
        if not result or not self.is_sign("="):
            self.at = start
            return ()
        self.take()
        return tuple(result)

    def compound(self, first: Word) -> Statement:
        """for and if; the others are not carried out."""
        if first.text not in ("for", "if"):
            raise CannotRead(f"'{first.text}' is not supported; write the values")
        self.deeper()
        self.take()
        built = self.loop(first.line) if first.text == "for" else self.choice(first.line)
        self.depth -= 1
        return built

    def loop(self, line: int) -> For:
        """The rest of a for."""
        closed = self.is_sign("(")
        if closed:
            self.take()
        if self.word.kind != "name":
            raise CannotRead("the name of the loop is missing")
        name = self.take().text
        self.expect("=")
        value = self.expression()
        if closed:
            self.expect(")")
        body = self.block()
        self.close("end")
        return For(line, name, value, tuple(body))

    def choice(self, line: int) -> If:
        """The rest of an if."""
        branches: list[tuple[Node | None, tuple[Statement, ...]]] = []
        condition: Node | None = self.expression()
        while True:
            body = tuple(self.block())
            branches.append((condition, body))
            word = self.take()
            if word.text == "elseif" and condition is not None:
                condition = self.expression()
            elif word.text == "else" and condition is not None:
                condition = None
            elif word.text == "end":
                return If(line, tuple(branches))
            else:
                raise CannotRead("'if' has no 'end'")

    def close(self, text: str) -> None:
        """Take the end of a block."""
        if self.word.kind != "name" or self.word.text != text:
            raise CannotRead(f"'{text}' of the block is missing")
        self.take()

    # expressions

    def deeper(self) -> None:
        """One more level; too many are rejected before they fill the stack."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise CannotRead(f"brackets or blocks are more than {DEEPEST} deep")

    def expression(self, level: int = 0) -> Node:
        """An expression of operators from a level on, by precedence climbing."""
        left = self.unary()
        for _ in range(LONGEST):
            result = self.level_here()
            if result is None or result < level or self.parts_entries():
                return left
            sign = self.take().text
            parts = [left, self.expression(result + 1)]
            if sign == ":" and self.is_sign(":"):
                self.take()
                parts.append(self.expression(result + 1))
            left = Operation(sign, tuple(parts))
        raise CannotRead(f"an expression has more than {LONGEST} operators in a row")

    def level_here(self) -> int | None:
        """How tightly the operator that stands here binds, None where there is none."""
        for level, signs in enumerate(LEVELS):
            if self.is_sign(*signs):
                return level
        return None

    def parts_entries(self) -> bool:
        """Whether a sign inside brackets begins a new entry: [1 -2]."""
        after = self.words[min(self.at + 1, len(self.words) - 1)]
        return self.rows and self.is_sign("+", "-") and self.word.blank and not after.blank

    def unary(self) -> Node:
        """Signs before an operand."""
        signs: list[str] = []
        while self.is_sign("+", "-", "~", "!"):
            signs.append(self.take().text)
            if len(signs) > DEEPEST:
                raise CannotRead("too many signs in a row")
        value = self.power()
        for sign in reversed(signs):
            value = Operation({"!": "~"}.get(sign, sign), (value,))
        return value

    def power(self) -> Node:
        """Powers, from left to right; their exponents may have a sign."""
        left = self.operand()
        while self.is_sign(*POWERS):
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
            self.take()
            built: Node = Constant(float(word.text.lower().replace("d", "e")))
        elif word.kind == "text":
            self.take()
            built = Constant(word.text)
        elif word.kind == "name":
            built = self.place()
        elif self.is_sign("("):
            built = self.inside("(", ")", self.expression)
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
            return "user functions are not supported"
        if word.kind == "bad" and word.text[0] in "'\"":
            return "a text has no closing quote"
        return f"'{word.text.strip()[:30]}' stands where a value is expected"

    def inside(self, left: str, right: str, read: Callable[[], T]) -> T:
        """What stands in round brackets, where blanks mean nothing."""
        self.expect(left)
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
            if self.is_sign("("):
                steps.append(("(", self.inside("(", ")", self.arguments)))
            elif self.is_sign("{"):
                steps.append(("{", self.inside("{", "}", self.arguments)))
            elif self.is_sign(".") and self.words[self.at + 1].kind == "name":
                self.take()
                steps.append((".", self.take().text))
            else:
                break
            if len(steps) > DEEPEST:
                raise CannotRead(f"more than {DEEPEST} fields and brackets in a row")
        self.depth -= 1
        return Place(name, tuple(steps))

    def arguments(self) -> tuple[Node, ...]:
        """Arguments or indices, a colon alone among them."""
        result: list[Node] = []
        while not self.is_sign(")", "}"):
            following = self.words[min(self.at + 1, len(self.words) - 1)].text
            if self.is_sign(":") and following in (",", ")", "}"):
                self.take()
                result.append(ALL)
            else:
                result.append(self.expression())
            if self.is_sign(","):
                self.take()
            elif not self.is_sign(")", "}"):
                raise CannotRead(f"',' or ')' is missing{self._before()}")
        return tuple(result)

    def brackets(self) -> Brackets:
        """Rows of entries, parted by blanks, commas, semicolons and lines."""
        sign = self.take().text
        right = "]" if sign == "[" else "}"
        outer, self.rows = self.rows, True
        rows: list[tuple[Node, ...]] = []
        row: list[Node] = []
        while not self.is_sign(right):
            if self.word.kind == "end":
                raise CannotRead(f"'{right}' is missing")
            if self.is_sign(";") or self.word.kind == "line":
                self.take()
                rows, row = [*rows, tuple(row)] if row else rows, []
            elif self.is_sign(","):
                self.take()
            else:
                row.append(self.expression())
        self.take()
        self.rows = outer
        return Brackets(sign, tuple([*rows, tuple(row)] if row else rows))
