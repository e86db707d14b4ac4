"""Programs of laws that are compiled anew each time are let go."""

import gc
from pathlib import Path

import pytest

import swelltree as sw
from swelltree.jit import backend


def test_traces_are_let_go_after_many_programs(monkeypatch):
    monkeypatch.setattr(backend, "NEW_PROGRAMS", ["program"] * (backend.MANY_PROGRAMS + 1))
    backend.trim_cache()
    assert backend.NEW_PROGRAMS == []
    backend.NEW_PROGRAMS.append("program")
    backend.trim_cache()
    assert backend.NEW_PROGRAMS == ["program"]


@pytest.mark.slow
def test_sixty_laws_take_no_more_memory_than_thirty():
    """They took 7 to 13 MB each, for ever."""
    body = sw.Body("cart", mass=2.0, inertia=(1, 1, 1))
    rail = sw.Slider("rail", sw.WORLD, body, axis="x", position=0.3)
    sizes = []
    for k in range(60):
        control = sw.Controller(
            "law", ["rail.Surge.rate"], ["motor"], law=lambda t, y, k=k: -(1.0 + k) * y
        )
        motor = sw.JointForce("motor", "rail")
        system = sw.System("cart", [body], [rail], [motor], controllers=[control])
        sw.simulate(sw.compile(system), duration=0.5, output_step=0.1)
        gc.collect()
        sizes.append(int(Path("/proc/self/statm").read_text().split()[1]) * 4096)
    assert sizes[-1] - sizes[30] < 50e6
