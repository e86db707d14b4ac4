"""Settings of the engine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from swelltree.engine import backend as engine
from swelltree.engine.backend import jax, jnp


def test_numbers_are_float64():
    assert jnp.zeros(()).dtype == "float64"


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path / "cache"))
    assert engine.cache_folder() == tmp_path / "cache"
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", "off")
    assert engine.cache_folder() is None
    monkeypatch.delenv("SWELLTREE_CACHE_DIR")
    assert engine.cache_folder().name == "swelltree"


def test_compiled_programs_are_kept_on_disk(tmp_path):
    code = "from swelltree.engine.backend import jax; jax.jit(lambda x: x + 1.0)(2.0)"
    source = str(Path(engine.__file__).parents[2])
    environment = os.environ | {"SWELLTREE_CACHE_DIR": str(tmp_path), "PYTHONPATH": source}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    assert any(tmp_path.iterdir())


@pytest.mark.skipif(
    jax.default_backend() != "cpu" or engine._ONE_KERNEL not in os.environ.get("XLA_FLAGS", ""),
    reason="the option is for the CPU and may be switched off",
)
def test_a_loop_without_dots_becomes_one_kernel():
    def loop(x):
        return jax.lax.fori_loop(0, 100, lambda i, y: y + 1e-3 * jnp.sin(y), x)

    assert engine.is_one_kernel(loop, jnp.ones(2000))


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="no list of mapped memory")
def test_compiled_programs_are_let_go_when_there_are_many():
    def mapped() -> int:
        with open("/proc/self/maps", "rb") as file:
            return sum(1 for _ in file)

    programs = [jax.jit(lambda x, k=k: jax.numpy.sin(x) ** k) for k in range(2, 12)]
    values = [program(1.0) for program in programs]
    full = mapped()
    engine.make_room(most=10**9)
    assert mapped() >= full - 2  # enough room: nothing happens
    engine.make_room(most=0)
    assert mapped() < full
    assert [program(1.0) for program in programs] == values
