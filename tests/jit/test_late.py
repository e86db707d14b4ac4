"""Modules that are imported when they are first used."""

import importlib.util
import subprocess
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

from swelltree.jit.lazy_import import Late, after_import, is_imported


@pytest.fixture
def slow_module(tmp_path, monkeypatch):
    (tmp_path / "slow_to_come.py").write_text("value = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "slow_to_come"
    sys.modules.pop("slow_to_come", None)


def test_a_module_is_imported_when_something_of_it_is_asked_for(slow_module):
    late = Late(slow_module)
    assert isinstance(late, ModuleType)
    assert late.__name__ == slow_module
    assert not is_imported(slow_module)
    assert late.value == 3
    assert is_imported(slow_module)
    with pytest.raises(AttributeError, match="slow_to_come"):
        _ = late.nothing


def test_what_is_to_follow_an_import_follows_it_once(slow_module):
    requested = []
    after_import(slow_module, lambda: requested.append(sys.modules[slow_module].value))
    assert requested == []
    __import__(slow_module)
    assert requested == [3]
    sys.modules.pop(slow_module)
    __import__(slow_module)
    assert requested == [3]
    after_import(slow_module, lambda: requested.append("at once"))
    assert requested == [3, "at once"]


def test_asking_for_a_module_without_importing_it_loses_nothing(slow_module):
    """As packages do that look whether another is installed."""
    requested = []
    after_import(slow_module, lambda: requested.append(1))
    for _ in range(2):
        assert importlib.util.find_spec(slow_module) is not None
    assert requested == []
    __import__(slow_module)
    assert requested == [1]


USERS = """
import importlib.util
import sys
import numpy as np
import swelltree as sw
ball = sw.Body("ball", mass=2.0, inertia=(1, 1, 1))
model = sw.compile(sw.System("ball", [ball], [sw.Free("float", sw.WORLD, ball)]))
assert importlib.util.find_spec("jax") is not None
assert "jax" not in sys.modules
import jax, jax.numpy as jnp
assert jnp.ones(2).dtype == np.float64
assert jax.tree.map(lambda x: x, model).bodies.mass.tolist() == [2.0]
print("set up")
"""


def test_whoever_imports_jax_finds_it_set_up():
    done = subprocess.run([sys.executable, "-c", USERS], capture_output=True, text=True)
    assert done.stdout == "set up\n", done.stderr


def test_module_that_a_thread_is_importing_is_not_there_yet(monkeypatch):
    module, spec = ModuleType("half_there"), ModuleSpec("half_there", None)
    module.__spec__ = spec
    monkeypatch.setitem(sys.modules, "half_there", module)
    assert is_imported("half_there")
    spec._initializing = True
    assert not is_imported("half_there")
