"""`run_script`: what the assignments of a MATLAB script leave behind.

Nothing of the script is executed by Python or MATLAB: its tree is walked, only known functions are
called, and matrices count towards a work limit. What cannot be read is reported with its line.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

import numpy as np

from swelltree.interop.wecsim.script import functions
from swelltree.interop.wecsim.script.tree import (
    Assign,
    Brackets,
    Call,
    CannotRead,
    Constant,
    For,
    If,
    Node,
    Operation,
    Place,
    Statement,
    Step,
    Unread,
    statements_of,
)
from swelltree.interop.wecsim.script.values import (
    MOST_ITEMS,
    TWO,
    Object,
    Objects,
    Unknown,
    Value,
    Work,
    as_integer,
    is_true,
    joined,
    matrix,
    picked,
    placed,
    scalar,
    spaced,
)

MOST_STATEMENTS = 5_000
# they show, print and tidy up
QUIET = ("clc", "close", "fprintf", "disp", "figure", "format", "warning", "tic", "toc", "hold")


def _place_of(word: str) -> Place | None:
    """The field that a word names, None where it names none."""
    result = statements_of(f"{word} = 0")
    if len(result) != 1 or not isinstance(result[0], Assign) or len(result[0].targets) != 1:
        return None
    place = result[0].targets[0]
    return place if place.steps and place.steps[-1][0] == "." else None


class Script:
    """The variables of a script after its last line, and what was not read.

    Args:
        text: of the script.
    """

    def __init__(self, text: str) -> None:
        self.variables: dict[str, Value] = {}
        self.unread: dict[int, str] = {}  # by line
        self._work = Work()
        self._left = MOST_STATEMENTS
        self._ends: list[int] = []  # what `end` stands for
        self._line = 0
        self._run(statements_of(text))

    def objects(self, name: str) -> dict[int, Object]:
        """The objects of a name by number."""
        result = self.variables.get(name)
        return dict(sorted(result.items.items())) if isinstance(result, Objects) else {}

    def is_place(self, word: str) -> bool:
        """Whether a word such as "pto(1).damping" names a field."""
        return _place_of(word) is not None

    def changed(self, values: Iterable[tuple[str, float]]) -> Script:
        """A copy in which fields have other values."""
        rows = list(values)
        if not rows:
            return self
        other = copy.deepcopy(self)
        for word, value in rows:
            place = _place_of(word)
            if place is not None:
                other._set(place, np.array([[value]]))
        return other

    # statements

    @property
    def _is_spent(self) -> bool:
        """Whether the script has done more than input scripts do; nothing more is carried out."""
        return self._left < 0 or self._work.left < 0

    def _run(self, statements: tuple[Statement, ...]) -> None:
        for statement in statements:
            self._left -= 1
            if self._is_spent:
                why = f"the script has more than {MOST_STATEMENTS} steps or computes too much"
                self.unread.setdefault(statement.line, why)
                return
            self._line = statement.line
            try:
                self._carry_out(statement)
            except CannotRead as error:
                self.unread.setdefault(statement.line, str(error))
                self._forget(statement, str(error))
            except (ValueError, IndexError, TypeError, OverflowError, RecursionError):
                # a value of a kind or size that the statement does not expect
                why = "the values do not fit what is done with them"
                self.unread.setdefault(statement.line, why)
                self._forget(statement, why)
            finally:
                self._ends.clear()

    def _carry_out(self, statement: Statement) -> None:
        match statement:
            case Unread(why=why):
                raise CannotRead(why)
            case Assign(targets=targets, value=value):
                self._assign(targets, value)
            case Call(value=value):
                self._call(value)
            case For(name=name, value=value, body=body):
                row = matrix(self._value(value))
                for k in range(row.shape[1]):
                    self._set(Place(name), row[:, k : k + 1])
                    self._run(body)
                    if self._is_spent:
                        return
            case If(branches=branches):
                for condition, body in branches:
                    if condition is None or is_true(self._value(condition)):
                        self._run(body)
                        return

    def _forget(self, statement: Statement, why: str) -> None:
        """What a statement would have set is not known from here on."""
        for place in statement.targets if isinstance(statement, Assign) else ():
            try:
                self._set(place, Unknown(f"'{place.name}' was not read in line {statement.line}"))
            except (CannotRead, ValueError, IndexError, TypeError):
                continue  # its place is not readable either; the line is reported

    def _assign(self, targets: tuple[Place, ...], value: Node) -> None:
        if len(targets) == 1:
            self._set(targets[0], self._value(value))
            return
        if not isinstance(value, Place) or value.name != "meshgrid" or len(targets) > 2:
            raise CannotRead("several values at once come only from meshgrid")
        specified = tuple(self._value(x) for x in value.steps[0][1]) if value.steps else ()
        for place, result in zip(targets, functions.meshgrid(specified, self._work), strict=True):
            if place.name:
                self._set(place, result)

    def _call(self, value: Node) -> None:
        """A statement that sets nothing by itself."""
        if not isinstance(value, Place):
            self._value(value)
            return
        name, steps = value.name, value.steps
        if name in QUIET:
            return
        if name in ("clear", "clearvars"):
            specified = [self._value(x) for _, row in steps for x in row] or ["all"]
            for word in map(str, specified):
                if word in ("all", "variables"):
                    self.variables.clear()
                self.variables.pop(word, None)
            return
        last = steps[-1] if steps else None
        if last is not None and last[0] == "(" and len(steps) > 1 and steps[-2][0] == ".":
            self._method(Place(name, steps[:-2]), steps[-2][1], last[1])
            return
        if name in self.variables:
            return  # shows a variable
        raise CannotRead(f"'{name}' is not supported")

    def _method(self, place: Place, name: str, specified: tuple[Node, ...]) -> None:
        """body(1).setInitDisp(...): kept as a field of its arguments."""
        values = [self._value(x) for x in specified]
        self._set(Place(place.name, (*place.steps, (".", name))), values)

    # values

    def _value(self, node: Node) -> Value:
        match node:
            case Constant(value=value):
                return value if isinstance(value, str) else np.array([[value]])
            case Brackets(sign="[", rows=rows):
                return joined([[self._value(x) for x in row] for row in rows], self._work)
            case Brackets(rows=rows):
                self._work.take(sum(map(len, rows)))
                return [self._value(x) for row in rows for x in row]
            case Operation(sign=sign, parts=parts):
                return self._operation(sign, parts)
            case Place():
                return self._read(node)
        raise CannotRead("this is not read")

    def _operation(self, sign: str, parts: tuple[Node, ...]) -> Value:
        if sign in ("&&", "||"):
            first = is_true(self._value(parts[0]))
            decided = first == (sign == "||")
            return np.array([[float(first if decided else is_true(self._value(parts[1])))]])
        values = [self._value(part) for part in parts]
        with np.errstate(all="ignore"):
            if sign == ":":
                ends = [scalar(value) for value in values]
                first, step, last = ends if len(ends) == 3 else (ends[0], 1.0, ends[-1])
                return spaced(first, step, last, self._work)
            if sign == "'":
                return values[0] if isinstance(values[0], str) else matrix(values[0]).T
            if len(values) == 1:
                x = matrix(values[0])
                return {"+": x, "-": -x}[sign] if sign in "+-" else np.asarray(x == 0, dtype=float)
            if sign not in TWO:
                raise CannotRead(f"'{sign}' is not supported")
            return TWO[sign](values[0], values[1], self._work)

    def _read(self, place: Place) -> Value:
        name, steps = place.name, place.steps
        if name == "end":
            if not self._ends:
                raise CannotRead("'end' stands outside an index")
            return np.array([[float(self._ends[-1])]])
        if name not in self.variables:
            return self._function(place)
        value = self.variables[name]
        for k, (kind, step) in enumerate(steps):
            if isinstance(value, Unknown):
                raise CannotRead(value.why)
            if kind == ".":
                value = self._field(value, step, name)
            else:
                value = self._indexed(value, kind, step, k + 1 < len(steps))
        if isinstance(value, Unknown):
            raise CannotRead(value.why)
        return value

    def _function(self, place: Place) -> Value:
        name, steps = place.name, place.steps
        if name in functions.CONSTANTS and not steps:
            return np.array([[functions.CONSTANTS[name]]])
        if len(steps) > 1 or (steps and steps[0][0] != "("):
            raise CannotRead(f"'{name}' is not known here")
        specified = tuple(self._value(x) for x in steps[0][1]) if steps else ()
        if name.endswith("Class"):
            return Objects({1: Object(name, specified, self._line)})
        if not functions.is_function(name):
            raise CannotRead(f"'{name}' is not known here")
        return functions.call(name, specified, self._work)

    def _field(self, value: Value, name: str, of: str) -> Value:
        item = self._only(value)
        if name not in item.fields:
            raise CannotRead(f"'{of}' has no '{name}' yet in this script")
        return item.fields[name]

    def _only(self, value: Value) -> Object:
        """The one object of a name without a number."""
        if not isinstance(value, Objects) or 1 not in value.items:
            raise CannotRead("fields belong to objects")
        return value.items[1]

    def _indices(self, value: Value | None, step: tuple[Node, ...]) -> tuple[Value, ...]:
        """The values of indices, in which `end` stands for the size of their axis."""
        if isinstance(value, Objects):
            sizes = [max(value.items, default=0)]
        elif isinstance(value, str | list):
            sizes = [len(value)]
        elif value is None or isinstance(value, Unknown):
            sizes = [0]
        else:
            result = matrix(value)
            sizes = [result.size] if len(step) == 1 else list(result.shape)
        built = []
        for k, part in enumerate(step):
            self._ends.append(sizes[min(k, len(sizes) - 1)])
            built.append(self._value(part))
            self._ends.pop()
        return tuple(built)

    def _indexed(self, value: Value, kind: str, step: tuple[Node, ...], further: bool) -> Value:
        indices = self._indices(value, step)
        if isinstance(value, Objects):
            number = as_integer(indices[-1]) if indices else 1
            if number not in value.items:
                raise CannotRead(f"there is no object {number}")
            return Objects({1: value.items[number]})
        if isinstance(value, list):
            number = as_integer(indices[-1]) if indices else 0
            if not 1 <= number <= len(value):
                raise CannotRead(f"a cell has no entry {number}")
            return value[number - 1] if kind == "{" else [value[number - 1]]
        return value if not indices else picked(value, indices, self._work)

    # places

    def _set(self, place: Place, value: Value) -> None:
        """Put a value where a name and its steps lead, and make objects on the way."""
        if place.name in ("end", ""):
            raise CannotRead(f"'{place.name}' is not a name")
        if len(self.variables) > MOST_ITEMS:
            raise CannotRead("the script has too many names")
        self.variables[place.name] = self._with(self.variables.get(place.name), place.steps, value)

    def _with(self, old: Value | None, steps: tuple[Step, ...], value: Value) -> Value:
        """The old value with a new one at the end of the steps."""
        if not steps:
            return value
        kind, step = steps[0]
        if kind == ".":
            return self._with_field(old, 1, step, steps[1:], value)
        is_object = isinstance(old, Objects) or (old is None and self._makes_objects(steps, value))
        if is_object:
            number = self._number_of(old, step)
            if len(steps) == 1:
                if isinstance(value, Unknown) and old is not None:
                    return old
                return self._with_object(old, number, value)
            if steps[1][0] != ".":
                raise CannotRead("an object has no index of its own")
            return self._with_field(old, number, steps[1][1], steps[2:], value)
        if kind == "{":
            return self._with_cell(old, step, steps[1:], value)
        if len(steps) > 1:
            raise CannotRead("a matrix has no fields")
        if isinstance(value, Unknown):
            return value
        return placed(old, self._indices(old, step), value, self._work)

    def _makes_objects(self, steps: tuple[Step, ...], value: Value) -> bool:
        return steps[0][0] == "(" and (
            isinstance(value, Objects) or (len(steps) > 1 and steps[1][0] == ".")
        )

    def _number_of(self, old: Value | None, step: tuple[Node, ...]) -> int:
        indices = self._indices(old if old is not None else Objects(), step)
        number = as_integer(indices[-1]) if indices else 1
        if not 1 <= number <= MOST_ITEMS:
            raise CannotRead(f"an object cannot have the number {number}")
        return number

    def _with_object(self, old: Value | None, number: int, value: Value) -> Objects:
        if not isinstance(value, Objects):
            raise CannotRead("only objects can be combined with objects")
        items = dict(old.items) if isinstance(old, Objects) else {}
        return Objects(items | {number: self._only(value)})

    def _with_field(
        self, old: Value | None, number: int, name: str, rest: tuple[Step, ...], value: Value
    ) -> Objects:
        if old is not None and not isinstance(old, Objects | Unknown):
            raise CannotRead("fields belong to objects")
        items = dict(old.items) if isinstance(old, Objects) else {}
        item = items.setdefault(number, Object(line=self._line))
        if len(item.fields) > MOST_ITEMS:
            raise CannotRead("an object has too many fields")
        item.fields[name] = self._with(item.fields.get(name), rest, value)
        item.lines[name] = self._line
        return Objects(items)

    def _with_cell(
        self, old: Value | None, step: tuple[Node, ...], rest: tuple[Step, ...], value: Value
    ) -> list[Value]:
        cells = list(old) if isinstance(old, list) else []
        indices = self._indices(cells, step)
        number = as_integer(indices[-1]) if indices else 0
        if not 1 <= number <= MOST_ITEMS:
            raise CannotRead(f"a cell cannot have the number {number}")
        self._work.take(number)
        cells += [np.zeros((0, 0))] * (number - len(cells))
        cells[number - 1] = self._with(cells[number - 1], rest, value)
        return cells
