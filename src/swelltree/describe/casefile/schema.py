"""JSON schemas of descriptions, for editors that check a case file while one types."""

from collections.abc import Callable, Mapping

from swelltree.describe.spec import Description, help_of_arguments
from swelltree.describe.values import NamedValues


class SchemaOf:
    """Gives an annotated field a schema that is made only when someone asks for it.

    Args:
        make: returns the schema.
    """

    def __init__(self, make: Callable[[], NamedValues]) -> None:
        self.make = make

    def __get_pydantic_json_schema__(self, core_schema: object, handler: object) -> NamedValues:
        return self.make()


def choice_schema(classes: Mapping[str, type[Description]]) -> NamedValues:
    """Schema of an item whose class is chosen by `type`."""
    return {"oneOf": [class_schema(cls) for cls in classes.values()]}


def class_schema(cls: type[Description]) -> NamedValues:
    """Schema of one class, with its `type` as a constant."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(cls).json_schema()
    # TOML has no null: a field is left out instead
    texts = help_of_arguments(cls)
    properties = {key: _without_null(value) for key, value in schema["properties"].items()}
    for key in {*properties} & {*texts}:
        properties[key] = {"description": texts[key], **properties[key]}
    required = schema.get("required", [])
    if cls.type:
        properties = {"type": {"const": cls.type}, **properties}
        required = ["type", *required]
    return {
        "title": schema["title"],
        "description": (cls.__doc__ or "").split("\n")[0],
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _without_null(schema: NamedValues) -> NamedValues:
    choices = [choice for choice in schema.get("anyOf", []) if choice != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default", "title")}
    default = (
        {"default": schema["default"]}
        if schema.get("default") not in (None, [], float("inf"))
        else {}
    )
    return {
        **rest,
        **default,
        **(choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {}),
    }
