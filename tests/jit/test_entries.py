"""Programs found on disk before anything is traced."""

import functools
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import swelltree as sw
from swelltree.jit import cache
from swelltree.jit import fingerprint as contents
from swelltree.jit import program as programs
from swelltree.jit.arrays import pytree
from swelltree.jit.backend import jnp
from swelltree.jit.program import Program
from validation.pto.pto_systems import oscillator


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path))
    return tmp_path / "machine"


@pytest.fixture
def ours(monkeypatch):
    """Functions of this file count as the package's own."""
    monkeypatch.setattr(contents, "_is_users", lambda module: False)


@pytest.fixture
def traced(monkeypatch):
    """How often a program was flattened."""
    requested, count = [], programs.count_numbers

    def counted(jaxpr, *more):
        requested.append(1)
        return count(jaxpr, *more)

    monkeypatch.setattr(programs, "count_numbers", counted)
    return requested


def scaled(gain):
    return lambda A, x: {"y": gain * (A @ x), "size": jnp.abs(x).sum()}


def shifted(gain):
    return lambda A, x: {"y": gain + (A @ x), "size": jnp.abs(x).sum()}


A = np.array([[1.0, 0.0, 2.5], [0.0, 3.5, 0.0]])
X = np.array([0.3, -0.7, 1.1])


def test_a_program_is_traced_once_for_all_numbers_of_a_pattern(folder, ours, traced):
    for matrix in (A, A * np.array([1.0, 2.0, 3.0])):
        result = Program(scaled(2.5))(matrix, X)
        np.testing.assert_allclose(result["y"], 2.5 * (matrix @ X), rtol=1e-14)
        assert result["size"] == pytest.approx(2.1)
    assert len(traced) == 1


def test_what_shapes_a_program_has_an_entry_of_its_own(folder, ours, traced):
    Program(scaled(2.5))(A, X)
    again = [
        (Program(scaled(3.0)), A, 3.0 * (A @ X)),  # what it closes over
        (Program(shifted(2.5)), A, 2.5 + A @ X),  # its code
        (Program(scaled(2.5)), A + 0.5, 2.5 * ((A + 0.5) @ X)),  # the pattern of zeros and ones
        (Program(scaled(2.5), fixed=0), A, 2.5 * (A @ X)),  # none
    ]
    for count, (program, matrix, right) in enumerate(again, 2):
        np.testing.assert_allclose(program(matrix, X)["y"], right, rtol=1e-14)
        assert len(traced) == count
    wide = np.ones((2, 4)) * 1.5
    assert Program(scaled(2.5))(wide, np.ones(4))["y"] == pytest.approx([15.0, 15.0])
    assert len(traced) == 6


def test_two_functions_of_one_name_are_told_apart(folder, ours):
    first = [lambda x: {"y": x + 1.5}, lambda x: {"y": x * 1.5}]
    for _ in range(2):
        assert Program(first[0], fixed=0)(2.0)["y"] == 3.5
        assert Program(first[1], fixed=0)(2.0)["y"] == 3.0


def test_functions_of_the_user_are_traced_in_every_process(folder, traced):
    for _ in range(2):
        Program(scaled(2.5))(A, X)
    assert len(traced) == 2


@pytree("name")
class Named:
    y: np.ndarray
    name: str


def test_results_of_any_nesting_are_found_again(folder, ours, traced):
    def pair(x):
        return x + 1.0, {"double": 2.0 * x, "none": None, "list": [x]}

    for _ in range(2):
        y, more = Program(pair, fixed=0)(X)
        np.testing.assert_allclose(y, X + 1.0)
        np.testing.assert_allclose(more["double"], 2.0 * X)
        assert more["none"] is None
    assert len(traced) == 1


def test_results_with_static_parts_are_found_again(folder, ours, traced):
    for _ in range(2):
        found = Program(lambda x: Named(x + 1.0, "of a result"), fixed=0)(X)
        np.testing.assert_allclose(found.y, X + 1.0)
        assert found.name == "of a result"
    assert len(traced) == 1


def test_results_that_no_other_process_can_name_are_traced_in_each(folder, ours, traced):
    @pytree()
    class Local:
        y: np.ndarray

    for _ in range(2):
        np.testing.assert_allclose(Program(lambda x: Local(2.0 * x), fixed=0)(X).y, 2.0 * X)
    assert len(traced) == 2


def test_what_cannot_be_flattened_is_not_tried_again(folder, ours, traced):
    def refused(x):
        return {"roots": jnp.linalg.eigvalsh(x * jnp.eye(3))}

    for _ in range(2):
        assert "eigh" in Program(refused, fixed=0).engine(np.array(2.0))
    assert len(traced) == 1


def entries(folder):
    return [file for file in folder.iterdir() if not file.name.startswith(".")]


def test_damaged_and_half_entries_are_made_again(folder, ours, traced):
    def value():
        return Program(scaled(2.5))(A, X)["y"]

    right = value()
    assert len(entries(folder)) == 2  # the entry and the object code
    for damage in (lambda file: file.write_bytes(b"damaged"), os.unlink):
        for file in entries(folder):
            damage(file)
            assert np.array_equal(value(), right)
    assert len(traced) >= 4
    count = len(traced)
    assert np.array_equal(value(), right)
    assert len(traced) == count


def test_unused_entries_go_and_the_oldest_of_too_many(folder):
    names = [cache.hashed(str(k)) for k in range(6)]
    private = cache.private_folder(folder.parent)
    for age, name in enumerate(names):
        cache.write(private, name, bytes(1000))
        os.utime(folder / name, (time.time() - age * 3600.0,) * 2)
    other, lost, fresh = folder / "note.txt", folder / ".new-lost", folder / ".new-fresh"
    for file in (other, lost, fresh):
        file.write_text("x")
    for file in (other, lost):
        os.utime(file, (0.0, 0.0))
    os.utime(folder / names[5], (time.time() - 100 * cache.DAY,) * 2)
    cache.write(private, cache.hashed("at once"), bytes(10))
    assert (folder / names[5]).exists()  # looked through a moment ago
    os.utime(folder / cache.CLEANED, (0.0, 0.0))
    cache.write(private, cache.hashed("new"), bytes(10))
    assert not (folder / names[5]).exists()
    assert other.exists()
    assert fresh.exists()
    assert not lost.exists()
    cache.clean(private, most=4000)
    left = [name for name in names if (folder / name).exists()]
    assert left == names[:2]


def test_an_entry_that_is_read_counts_as_used(folder):
    private, name = cache.private_folder(folder.parent), cache.hashed("a")
    cache.write(private, name, b"content")
    os.utime(folder / name, (time.time() - 80 * cache.DAY,) * 2)
    assert cache.read(private, name) == b"content"
    assert time.time() - (folder / name).stat().st_mtime < cache.DAY


RUN = """
import numpy as np
import swelltree as sw
from swelltree.jit import program
count, asked = program.count_numbers, []
program.count_numbers = lambda *args: asked.append(1) or count(*args)
body = sw.Body("link", mass=3.0, inertia=(0.3, 0.5, 0.4), position=(0.2, 0.0, -0.5))
top = sw.Hinge("top", sw.WORLD, body.at(-0.2, 0, 0.5), axis="y", velocity=LENGTH)
model = sw.compile(sw.System("pendulum", [body], [top]))
run = sw.simulate(model, duration=2.0, output_step=0.1)
print(len(asked), run.attrs["engine"], run.position.values.tobytes().hex()[-400:])
"""


def test_another_process_finds_the_programs_of_a_run(folder):
    def run(speed):
        text = RUN.replace("LENGTH", str(speed))
        how = {"capture_output": True, "text": True, "check": True, "timeout": 300}
        return subprocess.run([sys.executable, "-c", text], **how).stdout.split()

    first, second, other = run(0.7), run(0.7), run(0.9)
    assert first[0] == "2"  # the stepper, and the observation
    assert second[0] == other[0] == "0"
    assert first[1] == second[1] == "LLVM"
    assert first[2] == second[2] != other[2]


def test_fingerprint_of_a_users_law_imports_nothing_that_its_file_mentions(tmp_path, monkeypatch):
    """A module for another system, imported in a branch that is not taken, stays unread."""
    package = tmp_path / "plant"
    package.mkdir()
    (package / "__init__.py").write_text("assert False, 'was imported'\n")
    (package / "elsewhere.py").write_text("GAIN = 3.0\n")
    (tmp_path / "law_of_user.py").write_text(
        "def law(x):\n    if x is None:\n        from plant.elsewhere import GAIN\n"
        "        return GAIN\n    return 2.0 * x\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import law_of_user

    before = contents.content_key(law_of_user.law)
    assert "plant" not in sys.modules
    (package / "elsewhere.py").write_text("GAIN = 4.0\n")
    assert contents.content_key(law_of_user.law) != before
    monkeypatch.delitem(sys.modules, "law_of_user")


def test_fingerprint_of_a_users_law_follows_relative_imports_of_its_package(tmp_path, monkeypatch):
    """`from . import` in the file of a package means that package, in its modules the same."""
    deep = tmp_path / "own_plant" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "own_plant" / "gains.py").write_text("GAIN = 3.0\n")
    (tmp_path / "own_plant" / "__init__.py").write_text(
        "def law(x):\n    from . import gains\n    from .deep import more\n"
        "    return gains.GAIN * more(x)\n"
    )
    (deep / "__init__.py").write_text("from .twice import more\n")
    (deep / "twice.py").write_text("def more(x):\n    from ..offsets import B\n    return x + B\n")
    (tmp_path / "own_plant" / "offsets.py").write_text("B = 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import own_plant

    keys = [contents.content_key(own_plant.law)]
    for file in ("gains.py", "offsets.py", "deep/twice.py"):
        with (tmp_path / "own_plant" / file).open("a") as text:
            text.write("C = 4.0\n")
        keys.append(contents.content_key(own_plant.law))
    assert len(set(keys)) == 4
    monkeypatch.delitem(sys.modules, "own_plant")


def test_packages_installed_into_any_folder_count_by_version(tmp_path, monkeypatch):
    """`pip install --target`, and the folders that modules of a cluster put on the path."""
    (tmp_path / "far_tool.py").write_text("__version__ = '1.0'\ndef law(x):\n    return x\n")
    (tmp_path / "far_tool-1.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    import far_tool

    before = contents.content_key(far_tool.law)
    (tmp_path / "far_tool.py").write_text("# said more\n")
    assert contents.content_key(far_tool.law) == before
    monkeypatch.setattr(far_tool, "__version__", "1.1")
    assert contents.content_key(far_tool.law) != before
    monkeypatch.delitem(sys.modules, "far_tool")


GAIN = 3.0


def braking(t, y):
    return -GAIN * y


class Brake:
    def __init__(self, gain):
        self.gain = gain

    def __call__(self, t, y):
        return -self.gain * y


def braked(law):
    control = sw.Controller("brake", ["rail.Surge.rate"], ["pto"], law=law)
    pto = sw.LinearPto("pto", joint="rail", stiffness=16.0)
    return sw.compile(oscillator(pto, controllers=[control]))


def test_a_model_compiled_again_follows_what_its_law_reads_then(monkeypatch):
    """A number that a function reads, a field of an object: no program of before serves."""
    brake = Brake(3.0)
    before = [braked(law) for law in (braking, brake)]
    assert braked(braking).users_code == before[0].users_code != before[1].users_code
    how = {"duration": 1.0, "output_step": 0.5}
    first = [sw.simulate(model, **how).position.values for model in before]
    monkeypatch.setitem(globals(), "GAIN", 5.0)
    brake.gain = 5.0
    then = [sw.simulate(braked(law), **how).position.values for law in (braking, brake)]
    assert np.array_equal(first[0], first[1])
    assert np.array_equal(then[0], then[1])
    assert np.abs(then[0] - first[0]).max() > 1e-2


def test_models_without_laws_of_the_user_share_their_programs():
    assert sw.compile(oscillator(sw.LinearPto("pto", joint="rail", damping=2.0))).users_code == ""


def test_a_bound_function_has_one_fingerprint_before_and_after_its_attributes_are_asked_for():
    """JAX asks for them, which makes the table of attributes of the object."""
    bound = functools.partial(oscillator, 1.0)
    before = contents.content_key(bound)
    assert vars(bound) == {}
    assert contents.content_key(bound) == before
    assert contents.content_key(functools.partial(oscillator, 2.0)) != before
