"""`Script`: what the assignments of a MATLAB script leave behind.

Nothing of the script is executed by Python or MATLAB: its tree is walked, only known functions are
called, and matrices count towards a work limit. What cannot be read is reported with its line.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

import numpy as np

from swelltree.interop.wecsim.matlab import (
    Assign,
    Brackets,
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
from swelltree.interop.wecsim.values import (
    CONSTANTS,
    FUNCTIONS,
    OPERATIONS,
    Object,
    Objects,
    Unknown,
    Value,
    Work,
    as_integer,
    is_true,
    joined,
    length_of,
    matrix,
    meshgrid,
    number,
    picked,
    placed,
)

MAX_STATEMENTS = 5_000
MAX_ITEMS = 10_000  # objects, cells and fields
# they show, print and tidy up
QUIET = ("clc", "close", "fprintf", "disp", "figure", "format", "warning", "tic", "toc", "hold")


def _place_of(word: str) -> Place | None:
    """The field that a word names, None where it names none."""
    match statements_of(f"{word} = 0"):
        case (Assign(targets=(Place(steps=(*_, Step(sign="."))) as place,)),):
            return place
    return None


class Script:
    """The variables of a script after its last line, and what was not read.

    Args:
        text: of the script.
    """

    def __init__(self, text: str) -> None:
        self.variables: dict[str, Value] = {}
        self.unread: dict[int, str] = {}  # by line
        self._work = Work()
        self._left = MAX_STATEMENTS
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
        other = copy.deepcopy(self)
        for word, value in values:
            place = _place_of(word)
            if place is not None:
                other._set(place, number(value))
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
                why = f"the script has more than {MAX_STATEMENTS} steps or computes too much"
                self.unread.setdefault(statement.line, why)
                return
            self._line = statement.line
            try:
                with np.errstate(all="ignore"):
                    self._carry_out(statement)
            except CannotRead as error:
                self._forget(statement, str(error))
            except (ValueError, IndexError, TypeError, OverflowError, RecursionError):
                # a value of a kind or size that the statement does not expect
                self._forget(statement, "the values do not fit what is done with them")
            finally:
                self._ends.clear()

    def _carry_out(self, statement: Statement) -> None:
        match statement:
            case Unread(why=why):
                raise CannotRead(why)
            case Assign(targets=(target,), value=value):
                self._set(target, self._value(value))
            case Assign(targets=(), value=value):
                self._call(value)
            case Assign(targets=targets, value=Place("meshgrid", (Step(indices=parts),))):
                grids = meshgrid(self._work, *map(self._value, parts))
                for place, result in zip(targets, grids, strict=True):
                    if place.name:
                        self._set(place, result)
            case For(name=name, value=value, body=body):
                for column in matrix(self._value(value)).T:
                    self._set(Place(name), column[:, None])
                    self._run(body)
                    if self._is_spent:
                        return
            case If(branches=branches):
                for condition, body in branches:
                    if condition is None or is_true(self._value(condition)):
                        self._run(body)
                        return
            case _:
                raise CannotRead("several values at once come only from meshgrid")

    def _forget(self, statement: Statement, why: str) -> None:
        """Report a line; what it would have set is not known from here on."""
        self.unread.setdefault(statement.line, why)
        for place in statement.targets if isinstance(statement, Assign) else ():
            try:
                self._set(place, Unknown(f"'{place.name}' was not read in line {statement.line}"))
            except (CannotRead, ValueError, IndexError, TypeError):
                continue  # its place is not readable either; the line is reported

    def _call(self, value: Node) -> None:
        """A statement that sets nothing by itself."""
        match value:
            case Place(name=name) if name in QUIET:
                return
            case Place("clear" | "clearvars", steps):
                for word in [self._value(x) for step in steps for x in step.indices] or ["all"]:
                    if word in ("all", "variables"):
                        self.variables.clear()
                    self.variables.pop(str(word), None)
            case Place(name, (*steps, Step(".") as method, Step("(", arguments))):
                # body(1).setInitDisp(...): kept as a field of its arguments
                cells: Value = [self._value(x) for x in arguments]
                self._set(Place(name, (*steps, method)), cells)
            case Place(name=name) if name not in self.variables:
                raise CannotRead(f"'{name}' is not carried out")
            case Place():
                return  # shows a variable
            case _:
                self._value(value)

    # values

    def _value(self, node: Node) -> Value:
        match node:
            case Constant(value):
                return value if isinstance(value, str) else number(value)
            case Brackets("[", rows):
                return joined([[self._value(x) for x in row] for row in rows], self._work)
            case Brackets(_, rows):
                self._work.take(sum(map(len, rows)))
                return [self._value(x) for row in rows for x in row]
            case Operation(sign, parts):
                return self._operation(sign, parts)
            case Place():
                return self._read(node)

    def _operation(self, sign: str, parts: tuple[Node, ...]) -> Value:
        if sign in ("&&", "||"):
            first = is_true(self._value(parts[0]))
            decided = first == (sign == "||")
            return number(first if decided else is_true(self._value(parts[1])))
        values = [self._value(part) for part in parts]
        if len(values) == 1:
            x = matrix(values[0])
            return {"+": x, "-": -x, "'": x.T}.get(sign, np.asarray(x == 0, dtype=float))
        if sign not in OPERATIONS:
            raise CannotRead(f"'{sign}' is not carried out")
        return OPERATIONS[sign](self._work, *values)

    def _read(self, place: Place) -> Value:
        name, steps = place.name, place.steps
        if name == "end" and self._ends:
            return number(self._ends[-1])
        if name not in self.variables:
            return self._function(name, steps)
        value = self.variables[name]
        for step in steps:
            if isinstance(value, Unknown):
                raise CannotRead(value.why)
            if step.sign == ".":
                fields = _only(value).fields
                if step.field not in fields:
                    raise CannotRead(f"'{name}' has no '{step.field}' yet in this script")
                value = fields[step.field]
            else:
                value = self._indexed(value, step)
        if isinstance(value, Unknown):
            raise CannotRead(value.why)
        return value

    def _function(self, name: str, steps: tuple[Step, ...]) -> Value:
        """A constant, a new object, or what a function gives."""
        if name in CONSTANTS and not steps:
            return number(CONSTANTS[name])
        is_class = name.endswith("Class")
        if (
            not (is_class or name in FUNCTIONS)
            or len(steps) > 1
            or (steps and steps[0].sign != "(")
        ):
            raise CannotRead(f"'{name}' is not known here")
        arguments = tuple(self._value(x) for x in (steps[0].indices if steps else ()))
        if is_class:
            return Objects({1: Object(name, arguments, self._line)})
        return FUNCTIONS[name](self._work, *arguments)

    def _indices(self, value: Value | None, step: Step) -> tuple[Value, ...]:
        """The values of indices, in which `end` stands for the size of their axis."""
        sizes = [length_of(value)]
        if isinstance(value, np.ndarray) and len(step.indices) > 1:
            sizes = list(value.shape)
        built = []
        for k, part in enumerate(step.indices):
            self._ends.append(sizes[min(k, len(sizes) - 1)])
            built.append(self._value(part))
            self._ends.pop()
        return tuple(built)

    def _indexed(self, value: Value, step: Step) -> Value:
        indices = self._indices(value, step)
        if not isinstance(value, Objects | list):
            return picked(value, indices, self._work) if indices else value
        number = as_integer(indices[-1]) if indices else 1
        if isinstance(value, Objects):
            if number not in value.items:
                raise CannotRead(f"there is no object {number}")
            return Objects({1: value.items[number]})
        if not 1 <= number <= len(value):
            raise CannotRead(f"a cell has no entry {number}")
        return value[number - 1] if step.sign == "{" else [value[number - 1]]

    # places

    def _set(self, place: Place, value: Value) -> None:
        """Put a value where a name and its steps lead, and make objects on the way."""
        if place.name in ("end", ""):
            raise CannotRead(f"'{place.name}' is not a name")
        if len(self.variables) > MAX_ITEMS:
            raise CannotRead("the script has too many names")
        self.variables[place.name] = self._with(self.variables.get(place.name), place.steps, value)

    def _with(self, old: Value | None, steps: tuple[Step, ...], value: Value) -> Value:
        """The old value with a new one at the end of the steps."""
        if not steps:
            return value
        first, second = steps[0], steps[1] if len(steps) > 1 else None
        if first.sign == ".":
            return self._with_field(old, 1, first.field, steps[1:], value)
        if first.sign == "{":
            return self._with_cell(old, first, steps[1:], value)
        makes_object = isinstance(value, Objects) or (second is not None and second.sign == ".")
        if isinstance(old, Objects) or (old is None and makes_object):
            indices = self._indices(old if old is not None else Objects(), first)
            number = _position(indices)
            if second is not None and second.sign == ".":
                return self._with_field(old, number, second.field, steps[2:], value)
            if second is None and isinstance(value, Unknown) and old is not None:
                return old
            if second is not None or not isinstance(value, Objects):
                raise CannotRead("only an object can stand beside objects")
            return Objects((old.items if old else {}) | {number: _only(value)})
        if second is not None:
            raise CannotRead("a matrix has no fields")
        if isinstance(value, Unknown):
            return value
        return placed(old, self._indices(old, first), value, self._work)

    def _with_field(
        self, old: Value | None, number: int, name: str, rest: tuple[Step, ...], value: Value
    ) -> Objects:
        if old is not None and not isinstance(old, Objects | Unknown):
            raise CannotRead("fields belong to objects")
        items = dict(old.items) if isinstance(old, Objects) else {}
        item = items.setdefault(number, Object(line=self._line))
        if len(item.fields) > MAX_ITEMS:
            raise CannotRead("an object has too many fields")
        item.fields[name] = self._with(item.fields.get(name), rest, value)
        item.lines[name] = self._line
        return Objects(items)

    def _with_cell(
        self, old: Value | None, step: Step, rest: tuple[Step, ...], value: Value
    ) -> list[Value]:
        cells = list(old) if isinstance(old, list) else []
        number = _position(self._indices(cells, step))
        self._work.take(number)
        cells += [np.zeros((0, 0))] * (number - len(cells))
        cells[number - 1] = self._with(cells[number - 1], rest, value)
        return cells


def _only(value: Value) -> Object:
    """The one object of a name without a number."""
    if not isinstance(value, Objects) or 1 not in value.items:
        raise CannotRead("fields belong to objects")
    return value.items[1]


def _position(indices: tuple[Value, ...]) -> int:
    """The number of an object or a cell that is set."""
    result = as_integer(indices[-1]) if indices else 1
    if not 1 <= result <= MAX_ITEMS:
        raise CannotRead(f"an object cannot have the number {result}")
    return result
