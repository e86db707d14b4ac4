"""Settings of the engine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from swelltree.hydro.data.cache import store_folder
from swelltree.jit import backend as engine
from swelltree.jit import jax, jnp


def test_numbers_are_float64():
    assert jnp.zeros(()).dtype == "float64"


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path / "cache"))
    assert engine.cache_folder() == tmp_path / "cache"
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", "off")
    assert engine.cache_folder() is None
    monkeypatch.delenv("SWELLTREE_CACHE_DIR")
    assert engine.cache_folder().name == "swelltree"


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    def none():
        raise RuntimeError("Could not determine home directory.")

    for name in ("SWELLTREE_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", none)
    assert engine.cache_folder() is None
    assert store_folder("bem") is None


def compiled_by_xla(folder):
    code = "from swelltree.jit import jax; jax.jit(lambda x: x + 1.0)(2.0)"
    source = str(Path(engine.__file__).parents[2])
    environment = os.environ | {"SWELLTREE_CACHE_DIR": str(folder), "PYTHONPATH": source}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return [file for file in (folder / "xla").iterdir() if not file.name.startswith(".")]


def test_compiled_programs_are_kept_on_disk_and_go_when_unused(tmp_path):
    assert compiled_by_xla(tmp_path)
    folder = tmp_path / "xla"
    old, other = folder / "jit_old-00ff-cache", folder / "note.txt"
    for file in (old, other, folder / ".cleaned"):
        file.write_text("x")
        os.utime(file, (0.0, 0.0))
    assert compiled_by_xla(tmp_path)
    assert not old.exists()
    assert other.exists()


ANOTHER = """
import sys, jax
from jax.extend.backend import get_backend, register_backend_factory
from jaxlib.xla_client import make_cpu_client
register_backend_factory("another", make_cpu_client, priority=1000)
if sys.argv[1] == "chosen":
    jax.config.update("jax_default_device", jax.devices()[0])
from swelltree.jit import jax, jnp, on_first_choice
def places():
    made = jnp.zeros(3), jax.jit(lambda x: x + 1.0)(2.0)
    clients = {device.client for x in made for device in x.devices()}
    return [name for name in ("cpu", "another") if get_backend(name) in clients]
usual = places()
with on_first_choice():
    print([usual, places()])
"""


@pytest.mark.parametrize(
    ("requested", "platforms", "place"),
    [
        ("nothing", "", "cpu"),
        ("chosen", "", "another"),
        ("platforms", "another,cpu", "another"),
    ],
)
def test_xla_runs_on_the_cpu_unless_another_device_was_asked_for(requested, platforms, place):
    """Where JAX prefers another device, as it does with a graphics processor."""
    environment = os.environ | {
        "SWELLTREE_CACHE_DIR": "off",
        "JAX_PLATFORMS": platforms,
        "PYTHONPATH": str(Path(engine.__file__).parents[2]),
    }
    environment.pop("JAX_DEFAULT_DEVICE", None)
    command = [sys.executable, "-c", ANOTHER, requested]
    reported = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    # large matrices go where JAX would put them
    assert reported.stdout.split("\n")[-2] == str([[place], ["another"]])


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no permissions of this kind")
def test_programs_are_not_kept_where_others_could_write(tmp_path):
    (tmp_path / "xla").mkdir()
    (tmp_path / "xla").chmod(0o777)
    assert compiled_by_xla(tmp_path) == []


@pytest.mark.skipif(
    jnp.zeros(()).device.platform != "cpu"
    or engine._ONE_KERNEL not in os.environ.get("XLA_FLAGS", ""),
    reason="the option is for the CPU and may be switched off",
)
def test_a_loop_without_dots_becomes_one_kernel():
    def loop(x):
        return jax.lax.fori_loop(0, 100, lambda i, y: y + 1e-3 * jnp.sin(y), x)

    compiled = jax.jit(loop).lower(jnp.ones(2000)).compile()
    assert "xla_cpu_small_call" in str(compiled.as_text())


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="no list of mapped memory")
def test_compiled_programs_are_let_go_when_there_are_many():
    def mapped() -> int:
        with open("/proc/self/maps", "rb") as file:
            return sum(1 for _ in file)

    programs = [jax.jit(lambda x, k=k: jax.numpy.sin(x) ** k) for k in range(2, 12)]
    values = [program(1.0) for program in programs]
    full = mapped()
    engine.NEW_PROGRAMS.clear()  # programs of the tests before
    engine.trim_cache(most=10**9)
    assert mapped() >= full - 2  # enough room: nothing happens
    engine.trim_cache(most=0)
    assert mapped() < full
    assert [program(1.0) for program in programs] == values


@pytest.mark.parametrize(("specified", "stored"), [(None, "false"), ("true", "true")])
def test_memory_of_a_graphics_processor_is_left_to_batches_and_other_processes(specified, stored):
    environment = {k: x for k, x in os.environ.items() if k != "XLA_PYTHON_CLIENT_PREALLOCATE"}
    environment |= {} if specified is None else {"XLA_PYTHON_CLIENT_PREALLOCATE": specified}
    code = "import os, swelltree.jit.backend as b\nb.jax.devices()\n"
    code += "print(os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'])"
    command = [sys.executable, "-c", code]
    reported = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    assert reported.stdout.split() == [stored]
