"""Shapes of results, traced once and found on disk from then on."""

import numpy as np
import pytest

from swelltree.jit import entries
from swelltree.jit.backend import jax, jnp
from swelltree.jit.cache import hashed
from swelltree.jit.entries import Entry, shapes_of


def channels(model, x):
    return {"force": model["A"] @ x, "works": x[0] > 0.0, "pair": (x[:2], jnp.ones((3, 2)))}


ARGS = {"A": np.ones((4, 3))}, np.ones(3)


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(entries, "_known", {})
    return monkeypatch


def test_shapes_are_those_of_jax(fresh):
    ours, theirs = shapes_of(channels, *ARGS), jax.eval_shape(channels, *ARGS)
    assert set(ours) == {"force", "works", "pair"}
    for name in ("force", "works"):
        assert (ours[name].shape, ours[name].dtype) == (theirs[name].shape, theirs[name].dtype)
    assert [x.shape for x in ours["pair"]] == [(2,), (3, 2)]


def test_another_process_finds_them_without_tracing(fresh, tmp_path):
    # functions of users have no entry: this one is given one
    fresh.setattr(entries, "entry_of", lambda *about: Entry(hashed(str(about[-1])), tmp_path))
    first = shapes_of(channels, *ARGS)
    fresh.setattr(entries, "_known", {})
    fresh.setattr(jax, "eval_shape", None)
    assert shapes_of(channels, *ARGS) == first
    with pytest.raises(TypeError):  # other shapes are not known
        shapes_of(channels, {"A": np.ones((2, 3))}, np.ones(3))
