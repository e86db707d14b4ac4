"""The fingerprint of a run knows the content of everything the run depends on."""

import functools
import importlib
import sys
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from swelltree.integrate.stepper import run_key
from swelltree.jit import jax, jnp

LAW = """
import numpy as np
from fingerprint_gains import GAIN
from fingerprint_gains import scaled as my_scaled

def law(t, y):
    return my_scaled(GAIN * y)

def late(t, y):
    import fingerprint_late
    return fingerprint_late.K * y

class Law:
    def __init__(self, k):
        self.k = k
    def __call__(self, t, y):
        return self.k * law(t, y)
"""
GAINS = "GAIN = 2.0\ndef scaled(y):\n    return 3.0 * y\n"
FILES = {"fingerprint_law": LAW, "fingerprint_gains": GAINS, "fingerprint_late": "K = 1.0\n"}


@pytest.fixture
def laws(tmp_path, monkeypatch):
    """Import the user's modules anew, with some of their text changed."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)

    def imported(**changed):
        for name, text in (FILES | changed).items():
            (tmp_path / f"{name}.py").write_text(text)
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module("fingerprint_law")

    yield imported
    for name in FILES:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    "changed",
    [
        {"fingerprint_law": LAW.replace("GAIN * y", "GAIN + y")},
        {"fingerprint_gains": GAINS.replace("2.0", "2.5")},
        {"fingerprint_gains": GAINS.replace("3.0 * y", "3.0 + y")},
        {"fingerprint_late": "K = 1.5\n"},
    ],
)
def test_an_edited_law_or_a_module_that_it_imports_gives_another_key(laws, changed):
    built = {
        "function": lambda module: module.law,
        "import inside": lambda module: module.late,
        "object": lambda module: module.Law(4.0),
        "jitted": lambda module: jax.jit(module.law),
        "partial": lambda module: functools.partial(module.law, 0.0),
        "closure": lambda module: lambda t, y: module.law(t, y) + 1.0,
    }
    keys = {name: run_key(make(laws())) for name, make in built.items()}
    assert keys == {name: run_key(make(laws())) for name, make in built.items()}
    assert len(set(keys.values())) == len(built)
    after = {name: run_key(make(laws(**changed))) for name, make in built.items()}
    assert not any(after[name] == keys[name] for name in built)


def test_what_a_law_is_bound_to_gives_another_key(laws):
    module = laws()

    def bound(k, *, table=(1.0, 2.0)):
        def law(t, y, gain=k):
            return gain * np.interp(t, (0.0, 1.0), table) * y

        return law

    assert run_key(bound(1.0)) == run_key(bound(1.0))
    assert run_key(bound(1.0)) != run_key(bound(1.5))
    assert run_key(bound(1.0)) != run_key(bound(1.0, table=(1.0, 2.1)))
    assert run_key(module.Law(4.0)) != run_key(module.Law(4.1))
    assert run_key(module.Law(4.0).__call__) != run_key(module.Law(4.1).__call__)


def test_equal_content_gives_equal_keys_whoever_shares_it():
    row = (1.0, 2.0)
    assert run_key([row, row]) == run_key([(1.0, 2.0), (1.0, 2.0)])
    assert run_key({"a": 1, "b": 2}) == run_key({"b": 2, "a": 1})
    assert run_key(np.arange(3.0)) == run_key(jnp.arange(3.0))
    assert run_key({"x", "y", "zz"}) == run_key({"zz", "y", "x"})


def test_other_content_gives_other_keys():
    @dataclass(frozen=True)
    class Setting:
        name: str
        values: np.ndarray

    spline = CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    things = [
        None,
        0,
        0.0,
        -0.0,
        False,
        "",
        (),
        [],
        ("ab", "c"),
        ("a", "bc"),
        (("a",), "b"),
        ("a", ("b",)),
        np.zeros(2),
        np.zeros((2, 1)),
        np.zeros(2, np.float32),
        np.array(["a"], object),
        Setting("a", np.zeros(2)),
        Setting("a", np.array([0.0, 1e-300])),
        Setting("b", np.zeros(2)),
        spline,
        spline.derivative(),
        np.sin,
        np.cos,
        len,
        Setting,
    ]
    assert len({run_key(thing) for thing in things}) == len(things)


def test_circles_and_things_without_content_are_no_obstacle():
    circle: list = [1.0]
    circle.append(circle)
    assert run_key(circle) == run_key(circle)

    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n > 0 and even(n - 1)

    assert run_key(even) != run_key(odd)
    assert run_key(threading.Lock()) == run_key(threading.Lock())
