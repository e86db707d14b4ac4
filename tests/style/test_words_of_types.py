"""`Any` stands only where nothing can be said; the number of places can fall, not grow."""

import ast
from collections import Counter
from pathlib import Path

import swelltree

SOURCE = Path(swelltree.__file__).parent
# of each folder; what is left are options handed on to functions that have many, values of packages
# without types (LLVM, CUDA, Capytaine, TOML), and fields that take one thing and hold another
MAX_ANY = {
    "studies": 20,
    "jit": 69,
    "accessor": 2,
    "campaigns": 1,
    "cli": 1,
    "forces": 2,
    "pto": 1,
    "gallery": 1,
    "hydro": 6,
    "interop": 5,
    "results": 1,
    "describe": 11,
    "report": 1,
    "waves": 1,
}


def _annotations(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            specified = node.args
            every = (
                *specified.posonlyargs,
                *specified.args,
                *specified.kwonlyargs,
                specified.vararg,
                specified.kwarg,
            )
            yield from (arg.annotation for arg in every if arg is not None and arg.annotation)
            yield from [node.returns] if node.returns is not None else []
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation


def _unsaid(path):
    hints = _annotations(ast.parse(path.read_text(encoding="utf-8")))
    names = (part for hint in hints for part in ast.walk(hint))
    return sum(isinstance(part, ast.Name) and part.id == "Any" for part in names)


def test_any_is_said_no_more_often_than_it_must():
    count = Counter()
    for path in SOURCE.rglob("*.py"):
        count[path.relative_to(SOURCE).parts[0].removesuffix(".py")] += _unsaid(path)
    grown = {part: n for part, n in count.items() if n > MAX_ANY.get(part, 0)}
    assert not grown, f"say what these are: {grown}"


def test_the_count_sees_any_in_arguments_results_and_fields(tmp_path):
    file = tmp_path / "one.py"
    file.write_text("x: Any = 1\ndef f(a: list[Any], *b: Any, c: int) -> dict[str, Any]: ...\n")
    assert _unsaid(file) == 4
