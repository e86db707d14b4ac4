"""Studies at rest, linear, periodic and of control: machine code, without anything left to XLA."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.engine.machine.points import Points

WAVE = sw.RegularWave(amplitude=0.3, omega=0.8)
STUDIES = {
    "equilibrium": sw.equilibrium,
    "modes": sw.modes,
    "rao": lambda model: sw.rao(model, omega=[0.5, 0.8]),
    "steady_state": lambda model: sw.steady_state(model, WAVE, 5),
}
QUICK = ("rm3", "sphere")
SYSTEMS = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
    for name in ("rm3", "sphere", "oswec", "spar", "barges")
]


@pytest.fixture
def engines(monkeypatch):
    """What ran every program of a study."""
    ran, run = [], Points._run

    def watched(self, *args):
        found = run(self, *args)
        ran.append(self.engine)
        return found

    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    monkeypatch.setattr(Points, "_run", watched)
    return ran


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("name", SYSTEMS)
def test_study_leaves_nothing_to_xla(engines, name, study):
    found = STUDIES[study](getattr(sw.gallery, name)().model())
    assert engines
    assert set(engines) == {"LLVM"}
    if study in ("equilibrium", "steady_state"):
        assert found.attrs["engine"] == "LLVM"


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("method", ["linear", "nonlinear"])
def test_optimal_control_leaves_nothing_to_xla(engines, method):
    model = sw.gallery.rm3().model()
    sw.optimal_control(model, WAVE, harmonics=3, method=method, force_max=1e6, replay=False)
    assert engines
    assert set(engines) == {"LLVM"}


@pytest.mark.slow  # XLA compiles for a minute
@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("formulation", ["path_matrix", "lagrange"])
def test_periodic_motion_by_llvm_is_that_by_xla(monkeypatch, formulation):
    model = sw.gallery.rm3().model()
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    found = sw.steady_state(model, WAVE, 4, formulation=formulation)
    monkeypatch.setenv("SWELLTREE_ENGINE", "xla")
    right = sw.steady_state(model, WAVE, 4, formulation=formulation)
    assert found.attrs["engine"] == "LLVM"
    assert right.attrs["engine"].startswith("XLA: ")
    size = float(np.abs(right.position_harmonics).max())
    assert found.position_harmonics.values == pytest.approx(
        right.position_harmonics.values, rel=1e-9, abs=1e-9 * size
    )
