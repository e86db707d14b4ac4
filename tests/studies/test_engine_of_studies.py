"""Studies at rest, linear, periodic and of control: machine code, without anything left to XLA."""

import numpy as np
import pytest

import swelltree as sw
from swelltree.jit import XLA_REQUESTED, Points, note, noted
from swelltree.studies.engines import engine_of_study

WAVE = sw.RegularWave(amplitude=0.3, omega=0.8)
SEA = sw.IrregularSea(sw.Jonswap(Hs=1.0, Tp=8.0), components=5, omega_max=1.6)
STUDIES = {
    "equilibrium": sw.equilibrium,
    "modes": sw.modes,
    "rao": lambda model: sw.rao(model, omega=[0.5, 0.8]),
    "response": lambda model: sw.response(model, SEA),
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
    assert found.attrs["engine"] == "LLVM"


@pytest.mark.parametrize("study", ["equilibrium", "modes", "rao", "response"])
def test_study_tells_why_it_ran_by_xla(monkeypatch, study):
    monkeypatch.setenv("SWELLTREE_ENGINE", "xla")
    found = STUDIES[study](sw.gallery.sphere().model())
    assert found.attrs["engine"] == f"XLA: {XLA_REQUESTED}"


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("method", ["linear", "nonlinear"])
def test_optimal_control_leaves_nothing_to_xla(engines, method):
    model = sw.gallery.rm3().model()
    how = {"harmonics": 3, "method": method, "force_max": 1e6, "replay": False}
    first, again = (sw.optimal_control(model, WAVE, **how) for _ in range(2))
    assert engines
    assert set(engines) == {"LLVM"}
    # also where all that ran is remembered from the call before
    assert first.attrs["engine"] == again.attrs["engine"] == "LLVM"


@pytest.mark.parametrize(
    "study",
    [
        sw.SimulateStudy("run", duration=1.0, sea=WAVE),
        sw.EquilibriumStudy("rest"),
        sw.ModesStudy("swing"),
        sw.RaoStudy("gain"),
        sw.ResponseStudy("spread", SEA),
        sw.SteadyStateStudy("orbit", WAVE),
        sw.OptimalControlStudy("best", WAVE),
    ],
    ids=lambda study: study.type,
)
def test_engine_is_told_before_a_study(monkeypatch, study):
    model = sw.gallery.rm3().model()
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    assert engine_of_study(model, study) == "LLVM"
    if study.type in ("simulate", "modes"):  # the others would wait for XLA
        monkeypatch.setenv("SWELLTREE_ENGINE", "xla")
        assert engine_of_study(model, study) == f"XLA: {XLA_REQUESTED}"


def test_what_runs_apart_does_not_count_around_it():
    with noted() as full:
        with noted() as part:
            note("LLVM")
        with noted(apart=True) as replay:
            note("XLA: a law")
        assert (part.engine, replay.engine) == ("LLVM", "XLA: a law")
    assert full.engine == "LLVM"
    with noted() as full:
        assert full.engine == ""
        note("LLVM")
        note("XLA: a law")
    assert full.engine == "XLA: a law"


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
