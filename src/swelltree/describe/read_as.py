"""Types of fields that functions of ours read: what they hold when they are read.

Type checkers see that type. pydantic sees no type: the reader before it has checked and converted
the value, and says what is wrong with it in our words.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    ReadAs = Annotated[T, "read"]
    Row = Sequence
    Converted = T | Any
else:

    class ReadAs:
        """ReadAs[float]: a number to type checkers, anything to pydantic."""

        def __class_getitem__(cls, item: object) -> object:
            return Any

    class Row(ReadAs):
        """Row[Body]: bodies in brackets, kept as a tuple."""

    class Converted(ReadAs):
        """Converted[Point]: a point when read; a body, a name or a table too when given.

        A field has one type to type checkers. What is read is checked against that of the
        converted value, what is given is left to the reader.
        """
