"""`Script`: what the assignments of a MATLAB script leave behind.

Nothing of the script is executed by Python or MATLAB: its words are read from left to right, only
known functions are called, and matrices count towards a work limit. What cannot be read is reported
with its line, and reading goes on with the next one.

The words of a MATLAB script: numbers, names, texts and signs, each with its line.

Two signs need their neighbours: a quote closes a matrix (transposed) or opens a text, and a blank
inside brackets may part two entries. The first is settled here, the second where words are carried
out, which is why every word knows whether a blank stands before it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import numpy as np

from swelltree.interop.wecsim.values import (
    CONSTANTS,
    FUNCTIONS,
    OPERATIONS,
    CannotRead,
    Object,
    Objects,
    Step,
    Unknown,
    Value,
    Variables,
    is_true,
    joined,
    length_of,
    matrix,
    meshgrid,
    number,
    only,
    picked,
    position_of,
)

MAX_WORDS = 200_000
CLOSES = {"(": ")", "[": "]", "{": "}"}
# the point of 2.*x belongs to the product
WORD = re.compile(
    r"""(?P<number>(?:\d+(?:\.(?![*/\\^'])\d*)?|\.\d+)(?:[eEdD][+-]?\d+)?)
    |(?P<name>[A-Za-z]\w*)
    |(?P<sign>\.\^'|[=~!<>]=|&&|\|\||\.[*/\\^']|[-+*/\\^<>=&|~!@?()\[\]{},;:.'])""",
    re.ASCII | re.VERBOSE,
)
TEXTS = {quote: re.compile(f"{quote}((?:[^{quote}]|{quote}{quote})*+){quote}") for quote in "'\""}


class Word(NamedTuple):
    """A token: number, name, text, sign, line (end of line), end (of the script) or bad."""

    kind: str
    text: str
    line: int
    blank: bool  # before it


def words_of(text: str, first: int = 1) -> list[Word]:
    """All tokens of a script; invalid characters have the kind bad."""
    result: list[Word] = []
    stack: list[str] = []  # open brackets
    hidden = 0  # depth of block comments
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    joined = False  # by ... with the line before
    for k, line in enumerate(lines, first):
        if line.strip() == "%{":
            hidden += 1
        elif line.strip() == "%}" and hidden:
            hidden -= 1
        elif not hidden:
            joined = _cut(line, k, result, stack, joined)
        if not joined:
            result.append(Word("line", "\n", k, True))
    return [*result[:MAX_WORDS], Word("end", "", len(lines), True)]


def _cut(line: str, k: int, result: list[Word], stack: list[str], blank: bool) -> bool:
    """Append the tokens of one line; true if it continues on the next."""
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
        result.append(Word(kind, text, k, blank))
        if kind == "sign" and text in CLOSES:
            stack.append(text)
        elif kind == "sign" and text in ")]}" and stack:
            stack.pop()
        at, blank = match.end() if match else at + len(text), False
    return False


def _transposes(result: list[Word], stack: list[str], blank: bool) -> bool:
    if not result or (blank and stack and stack[-1] in "[{"):
        return False
    kind, text, *_ = result[-1]
    if kind == "sign":
        return text in (")", "]", "}", "'", ".'")
    return kind in ("number", "name", "text")


MAX_DEPTH = 30  # brackets and blocks within one another
MAX_OPERATORS = 60  # in a row
MAX_STATEMENTS = 5_000
BLOCKS = ("for", "parfor", "while", "if", "switch", "try", "function", "classdef")
BREAKS = ("end", "else", "elseif", "case", "otherwise", "catch")
# they show, print and tidy up
QUIET = ("clc", "close", "fprintf", "disp", "figure", "format", "warning", "tic", "toc", "hold")
# from the loosest; unary signs stand between products and powers
LEVELS: tuple[tuple[str, ...], ...] = (
    *(("||",), ("&&",), ("|",), ("&",), ("==", "~=", "!=", "<", ">", "<=", ">="), (":",)),
    *(("+", "-"), ("*", "/", "\\", ".*", "./", ".\\")),
)
FIELD = re.compile(r"[A-Za-z]\w*(\(\d{1,6}\))?(\.[A-Za-z]\w*)+", re.ASCII)
MISFIT = "the values do not fit what is done with them"
# of a value of a kind or size that a statement does not expect
ERRORS = (ValueError, IndexError, TypeError, OverflowError, RecursionError)
ZERO = number(0.0)  # for what is not needed
T = TypeVar("T")


class Place(NamedTuple):
    """A variable with its indices and fields, and its value; `Unknown` if undefined."""

    name: str
    steps: tuple[Step, ...]
    value: Value


class _SpentError(Exception):
    """The script exceeds the limits of input scripts."""


class Script(Variables):
    """The variables of a script after its last line, and what was not read.

    Args:
        text: of the script.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.unread: dict[int, str] = {}  # by line
        _Reading(self, words_of(text)).run()

    def objects(self, name: str) -> dict[int, Object]:
        result = self.variables.get(name)
        return dict(sorted(result.items.items())) if isinstance(result, Objects) else {}

    def is_place(self, word: str) -> bool:
        """Whether a word such as "pto(1).damping" names a field."""
        return FIELD.fullmatch(word) is not None

    def changed(self, values: Iterable[tuple[str, float]]) -> Script:
        """A copy with changed fields."""
        other = copy.deepcopy(self)
        for word, value in values:
            _Reading(other, words_of(f"{word} = {float(value)!r}", self.line)).run()
        return other


class _Reading:
    """Interpreter of the tokens of a script."""

    def __init__(self, script: Script, words: list[Word]) -> None:
        self.script, self.words = script, words
        self.at = 0
        self.depth = 0
        self.left = MAX_STATEMENTS
        self.rows = False  # blanks part entries
        self.ends: list[tuple[Value | None, int]] = []  # what is indexed, and in which axis

    # words

    @property
    def word(self) -> Word:
        return self.words[self.at]

    @property
    def following(self) -> Word:
        return self.words[min(self.at + 1, len(self.words) - 1)]

    @property
    def is_at_end(self) -> bool:
        return self.word.kind in ("line", "end") or self.is_sign(";", ",")

    def is_sign(self, *signs: str) -> bool:
        return self.word.kind == "sign" and self.word.text in signs

    def take(self) -> Word:
        """Consume the next token; the end marker stays."""
        word = self.word
        self.at += word.kind != "end"
        return word

    def skip(self, *signs: str) -> bool:
        """Consume one of these signs if it is next."""
        return self.is_sign(*signs) and bool(self.take())

    def expect(self, sign: str) -> None:
        if not self.skip(sign):
            text = self.word.text.strip()[:30]
            place = f" before '{text}'" if text else " at the end of the line"
            raise CannotRead(f"'{sign}' is missing{place}")

    def deeper(self) -> None:
        """Enter a nesting level; too many are rejected before the stack overflows."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise CannotRead(f"brackets or blocks are more than {MAX_DEPTH} deep")

    # statements

    def run(self) -> None:
        try:
            while self.word.kind != "end":
                self.block()
                if self.word.kind != "end":  # an end without a beginning
                    why = f"'{self.word.text}' closes nothing"
                    self.script.unread.setdefault(self.word.line, why)
                    self.skip_line()
        except _SpentError:
            return

    def block(self) -> None:
        """Execute statements up to a token that ends a block, which is not consumed."""
        depth = self.depth
        while True:
            self.depth = depth
            while self.word.kind == "line" or self.is_sign(";", ","):
                self.take()
            first, start = self.word, self.at
            if first.kind == "end" or (first.kind == "name" and first.text in BREAKS):
                return
            self.left -= 1
            if self.left < 0 or self.script.work.left < 0:
                why = f"the script has more than {MAX_STATEMENTS} steps or computes too much"
                self.script.unread.setdefault(first.line, why)
                raise _SpentError
            self.script.line = first.line
            try:
                with np.errstate(all="ignore"):
                    self.statement(first)
                continue
            except CannotRead as error:
                why = str(error)
            except ERRORS:
                why = MISFIT
            self.script.unread.setdefault(first.line, why)
            # go on with the next line, or past the whole of a block
            self.at, self.rows = start, False
            self.ends.clear()
            is_block = first.kind == "name" and first.text in BLOCKS
            (self.skip_block if is_block else self.skip_line)()

    def skip_line(self) -> None:
        line = self.word.line
        while self.word.kind != "end" and self.word.line <= line:
            self.take()

    def skip_body(self) -> None:
        """Skip to the token that ends the body of a block, which is not consumed."""
        depth, brackets = 0, 0
        while self.word.kind != "end":
            kind, text, *_ = self.word
            if kind == "sign":
                brackets += (text in CLOSES) - (text in (")", "]", "}"))
            elif kind == "line":
                brackets = 0
            elif kind == "name" and brackets <= 0:
                if depth == 0 and text in BREAKS:
                    return
                depth += (text in BLOCKS) - (text == "end")
            self.take()

    def skip_block(self) -> None:
        """Skip past the `end` of this block."""
        self.take()
        while True:
            self.skip_body()
            if self.take().text in ("end", ""):
                return

    def statement(self, first: Word) -> None:
        if first.kind != "name":
            self.assignment(first)
        elif first.text in BLOCKS:
            self.compound(first.text)
        elif first.text in (*QUIET, "clear", "clearvars"):
            self.command(first.text)
        elif self.following.kind in ("name", "number") and self.following.blank:
            raise CannotRead(f"'{first.text}' is not supported")
        else:
            self.assignment(first)
        self.finish()

    def finish(self) -> None:
        if not self.is_at_end:
            raise CannotRead(f"'{self.word.text.strip()[:30]}' is not expected here")

    def command(self, name: str) -> None:
        """Execute a command-syntax statement; only `clear` has an effect."""
        start, brackets = self.at + 1, 0
        while self.word.kind not in ("line", "end") and (brackets or not self.is_at_end):
            kind, text, *_ = self.take()
            brackets += (kind == "sign") * ((text in CLOSES) - (text in (")", "]", "}")))
        if name not in QUIET:
            words = [w.text for w in self.words[start : self.at] if w.kind in ("name", "text")]
            for word in words or ["all"]:
                if word in ("all", "variables"):
                    self.script.variables.clear()
                self.script.variables.pop(word, None)

    def assignment(self, first: Word) -> None:
        start = self.at
        several = self.skip("[")
        targets: list[Place | None] = []
        try:
            while several and not self.skip("]"):
                if not self.skip(","):
                    targets.append(None if self.skip("~") else self.place())
        except CannotRead:
            targets = []  # a matrix
        if first.kind == "name":
            targets.append(self.place())
        if targets and self.skip("="):
            try:
                values = self.several() if len(targets) > 1 else [self.expression()]
                self.finish()
                for place, value in zip(targets, values, strict=True):
                    if place is not None:
                        self.script.put(place.name, place.steps, value)
            except (CannotRead, *ERRORS):
                self.forget(targets)
                raise
            return
        place = targets[0] if len(targets) == 1 and first.kind == "name" else None
        if place is None or not (self.is_at_end or isinstance(place.value, Unknown)):
            self.at = start
            self.expression()
            return
        self.finish()
        if [step.sign for step in place.steps[-2:]] == [".", "("]:
            # body(1).setInitDisp(...): kept as a field of its arguments
            self.script.put(place.name, place.steps[:-1], list(place.steps[-1].indices))
        elif place.name not in self.script.variables:
            raise CannotRead(f"'{place.name}' is not supported")
        elif isinstance(place.value, Unknown):
            raise CannotRead(place.value.why)

    def several(self) -> list[np.ndarray]:
        if self.take().text != "meshgrid" or not self.is_sign("("):
            raise CannotRead("several values at once come only from meshgrid")
        return meshgrid(self.script.work, *self.inside(self.arguments))

    def forget(self, targets: list[Place | None]) -> None:
        """Mark the targets of a failed statement as unknown."""
        for place in targets:
            try:
                if place is not None:
                    why = f"'{place.name}' was not read in line {self.script.line}"
                    self.script.put(place.name, place.steps, Unknown(why))
            except (CannotRead, *ERRORS):
                continue  # its place is not readable either; the line is reported

    def compound(self, kind: str) -> None:
        """Execute `for` and `if`; other blocks are not supported."""
        if kind not in ("for", "if"):
            raise CannotRead(f"'{kind}' is not supported; write the values")
        self.deeper()
        self.take()
        (self.loop if kind == "for" else self.choice)()
        self.depth -= 1

    def loop(self) -> None:
        closed = self.skip("(")
        if self.word.kind != "name":
            raise CannotRead("the name of the loop is missing")
        place = Place(self.take().text, (), ZERO)
        self.expect("=")
        columns = matrix(self.expression()).T
        if closed:
            self.expect(")")
        start = self.at
        self.skip_body()
        for column in columns:
            self.at = start
            self.script.put(place.name, place.steps, column[:, None])
            self.block()
        if self.take().text != "end":
            raise CannotRead("'end' of the block is missing")

    def choice(self) -> None:
        done, condition = False, is_true(self.expression())
        while True:
            (self.block if condition else self.skip_body)()
            done = done or condition
            text = self.take().text
            if text == "end":
                return
            if text not in ("else", "elseif"):
                raise CannotRead("'if' has no 'end'")
            condition = not done and (text == "else" or is_true(self.expression()))

    # expressions

    def expression(self, level: int = 0) -> Value:
        """Parse an expression from a precedence level, by precedence climbing."""
        left = self.unary()
        for _ in range(MAX_OPERATORS):
            found = next((k for k, signs in enumerate(LEVELS) if self.is_sign(*signs)), -1)
            # inside brackets a sign may begin a new entry: [1 -2]
            parts_entries = self.rows and self.word.blank and not self.following.blank
            if found < level or (parts_entries and self.is_sign("+", "-")):
                return left
            sign = self.take().text
            parts = [left, self.expression(found + 1)]
            if sign == ":" and self.skip(":"):
                parts.append(self.expression(found + 1))
            left = self.operation(sign, *parts)
        raise CannotRead(f"an expression has more than {MAX_OPERATORS} operators in a row")

    def operation(self, sign: str, *values: Value) -> Value:
        if len(values) == 2 or sign == ":":
            if sign not in OPERATIONS:
                raise CannotRead(f"'{sign}' is not supported")
            return OPERATIONS[sign](self.script.work, *values)
        if sign in ("'", ".'"):
            return values[0] if isinstance(values[0], str) else matrix(values[0]).T
        x = matrix(values[0])
        return {"+": x, "-": -x}.get(sign, np.asarray(x == 0, dtype=float))

    def unary(self) -> Value:
        signs: list[str] = []
        while self.is_sign("+", "-", "~", "!"):
            signs.append(self.take().text)
            if len(signs) > MAX_DEPTH:
                raise CannotRead("too many signs in a row")
        value = self.power()
        for sign in reversed(signs):
            value = self.operation(sign, value)
        return value

    def power(self) -> Value:
        """Powers, left associative; exponents may have a sign."""
        left = self.operand()
        while self.is_sign("^", ".^"):
            sign, minus = self.take().text, False
            while self.is_sign("+", "-"):
                minus ^= self.take().text == "-"
            right = self.operand()
            left = self.operation(sign, left, self.operation("-", right) if minus else right)
        return left

    def operand(self) -> Value:
        kind, text, *_ = self.word
        self.deeper()
        if kind == "number":
            value: Value = number(float(self.take().text.lower().replace("d", "e")))
        elif kind == "text":
            value = self.take().text
        elif kind == "name":
            value = self.place().value
            if isinstance(value, Unknown):
                raise CannotRead(value.why)
        elif self.is_sign("("):
            value = self.inside(self.expression)
        elif self.is_sign("[", "{"):
            value = self.brackets()
        elif kind in ("line", "end"):
            raise CannotRead("the line ends where a value is expected")
        elif text == "@":
            raise CannotRead("user functions are not supported")
        elif kind == "bad" and text[0] in TEXTS:
            raise CannotRead("a text has no closing quote")
        else:
            raise CannotRead(f"'{text.strip()[:30]}' stands where a value is expected")
        while self.is_sign("'", ".'") and not (self.rows and self.word.blank):
            value = self.operation(self.take().text, value)
        self.depth -= 1
        return value

    def inside(self, read: Callable[[], T]) -> T:
        """Parse the content of brackets in which blanks do not separate entries."""
        right = CLOSES[self.take().text]
        rows, self.rows = self.rows, False
        built = read()
        self.rows = rows
        self.expect(right)
        return built

    def place(self) -> Place:
        """Parse a name with indices and fields, and evaluate it."""
        if self.word.kind != "name":
            raise CannotRead(f"'{self.word.text.strip()[:30]}' stands where a name is expected")
        self.deeper()
        name = self.take().text
        variables = self.script.variables
        value = variables.get(name, Unknown(f"'{name}' is not known here"))
        steps: list[Step] = []
        while not (self.rows and self.word.blank):
            if self.is_sign("(", "{"):
                sign, inner = self.word.text, value if name in variables else None
                step = Step(sign, self.inside(lambda x=inner: self.arguments(x)))
            elif self.is_sign(".") and self.following.kind == "name":
                self.take()
                step = Step(".", field=self.take().text)
            else:
                break
            if len(steps) == MAX_DEPTH:
                raise CannotRead(f"more than {MAX_DEPTH} fields and brackets in a row")
            if name not in variables and not steps and step.sign == "(":
                value = self.tried(self.called, name, step.indices)
            else:
                value = self.tried(self.stepped, name, value, step)
            steps.append(step)
        if name not in variables and not steps:
            value = self.tried(self.called, name, ())
        self.depth -= 1
        return Place(name, tuple(steps), value)

    def tried(self, act: Callable[..., Value], *values: object) -> Value:
        """A value, or why there is none: a place may be there to be set."""
        try:
            return act(*values)
        except CannotRead as error:
            return Unknown(str(error))
        except ERRORS:
            return Unknown(MISFIT)

    def called(self, name: str, values: tuple[Value, ...]) -> Value:
        if name == "end" and self.ends:
            return self.size()
        if name in CONSTANTS and not values:
            return number(CONSTANTS[name])
        if name.endswith("Class"):
            return Objects({1: Object(name, values, self.script.line)})
        if name not in FUNCTIONS:
            raise CannotRead(f"'{name}' is not known here")
        return FUNCTIONS[name](self.script.work, *values)

    def size(self) -> np.ndarray:
        """Value of `end` in an index: size of the axis, or number of entries for a single index."""
        value, axis = self.ends[-1]
        depth, at = 0, self.at
        while axis == 0 and at < len(self.words):
            kind, text, *_ = self.words[at]
            if kind == "sign" and depth == 0 and text in (",", ")", "}"):
                axis = 0 if text == "," else -1
                break
            depth += (kind == "sign") * ((text in CLOSES) - (text in (")", "]", "}")))
            at += 1
        if axis < 0 or not isinstance(value, np.ndarray):
            return number(length_of(value))
        return number(value.shape[min(axis, 1)])

    def stepped(self, name: str, value: Value, step: Step) -> Value:
        if isinstance(value, Unknown):
            raise CannotRead(value.why)
        if step.sign == ".":
            fields = only(value).fields
            if step.field not in fields:
                raise CannotRead(f"'{name}' has no '{step.field}' yet in this script")
            return fields[step.field]
        if not isinstance(value, Objects | list):
            return picked(value, step.indices, self.script.work) if step.indices else value
        position = position_of(step)
        if isinstance(value, Objects) and position in value.items:
            return Objects({1: value.items[position]})
        if isinstance(value, Objects) or position > len(value):
            raise CannotRead(f"there is no object or entry {position}")
        return value[position - 1] if step.sign == "{" else [value[position - 1]]

    def arguments(self, value: Value | None = None) -> tuple[Value, ...]:
        """Parse arguments or indices, including a bare colon."""
        result: list[Value] = []
        while not self.is_sign(")", "}"):
            alone = self.is_sign(":") and self.following.text in (",", ")", "}")
            self.ends.append((value, len(result)))
            result.append(self.take().text if alone else self.expression())
            self.ends.pop()
            if not self.skip(",") and not self.is_sign(")", "}"):
                self.expect(")")
        return tuple(result)

    def brackets(self) -> Value:
        """Parse rows of entries separated by blanks, commas, semicolons and lines."""
        left = self.take().text
        outer, self.rows = self.rows, True
        rows: list[list[Value]] = [[]]
        while not self.skip(CLOSES[left]):
            if self.word.kind == "end":
                raise CannotRead(f"'{CLOSES[left]}' is missing")
            if self.word.kind == "line" or self.is_sign(";"):
                self.take()
                rows.append([])
            elif not self.skip(","):
                rows[-1].append(self.expression())
        self.rows = outer
        if left == "[":
            return joined([row for row in rows if row], self.script.work)
        self.script.work.take(sum(map(len, rows)))
        return [entry for row in rows for entry in row]
