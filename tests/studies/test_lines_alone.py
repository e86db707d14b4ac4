"""Systems without bodies, held bodies, and what is told where nothing comes to rest."""

from dataclasses import replace

import numpy as np
import pytest

import swelltree as sw
from swelltree.studies import moored

KIND = sw.LineType("rope", diameter=0.12, mass_per_length=60.0, EA=5e7, damping_ratio=0.8)
WATER = sw.Water(depth=50.0)
A, B = (-160.0, 30.0, -50.0), (0.0, 0.0, -2.0)


def alone(model, **more):
    line = sw.Line("bow", A, B, 178.0, KIND, model=model, segments=5)
    return sw.compile(sw.System("s", lines=[line], water=WATER, **more))


def held():
    body = sw.Body("b", mass=1e5, inertia=(1e6,) * 3, position=B)
    line = sw.Line("bow", A, body.at(), 178.0, KIND, segments=5)
    weld = sw.Weld("w", sw.WORLD.at(*B), body)
    return sw.compile(sw.System("s", [body], [weld], lines=[line], water=WATER))


def test_system_without_bodies_or_lines_is_refused():
    with pytest.raises(sw.SwelltreeError, match="has no bodies and no lines"):
        sw.System("s")


@pytest.mark.parametrize(
    "formulation", ["path_matrix", pytest.param("lagrange", marks=pytest.mark.slow)]
)
def test_line_alone_rests_and_runs_as_on_a_held_body(formulation):
    one, other = (sw.equilibrium(m, formulation=formulation) for m in (alone("dynamic"), held()))
    assert one.fairlead_tension.values == pytest.approx(other.fairlead_tension.values, rel=1e-9)
    assert one.sizes["body"] == 0
    assert one.attrs["message"] == other.attrs["message"] == ""


def test_line_alone_moves_in_waves_and_is_saved(tmp_path):
    wave = sw.RegularWave(height=2.0, period=7.0)
    run = sw.simulate(alone("dynamic"), wave, duration=1.0, output_step=0.5, progress=False)
    assert np.ptp(run.fairlead_tension.values) > 0
    sw.save(run, tmp_path / "run.nc")
    again = sw.load_result(tmp_path / "run.nc")
    np.testing.assert_allclose(again.fairlead_tension, run.fairlead_tension)


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        (lambda m: sw.rao(m, omega=[0.5]), "rao: the model has no hydro data"),
        (lambda m: sw.offset_curve(m, "b", "Surge", [1.0]), "body 'b' is not in the system"),
        (lambda m: sw.state_space(m), "state_space: there is no input"),
    ],
)
def test_studies_of_bodies_tell_that_there_is_none(study, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        study(alone("quasi_static"))


def test_failed_equilibrium_names_what_is_out_of_balance(monkeypatch):
    """Not the line with the largest tension, which need not have to do with it."""
    body = sw.Body("buoy", mass=1e4, inertia=(1e5,) * 3, position=B)
    line = sw.Line("bow", A, body.at(), 178.0, KIND, segments=5)
    free = sw.Free("buoy_free", sw.WORLD, body)
    model = sw.compile(sw.System("s", [body], [free], lines=[line], water=WATER))
    whole = moored.relaxed

    def fails(*args, hold=False, **more):
        rest = whole(*args, hold=True, **more)
        unsolved = replace(rest.sample, solved=np.array(False))
        return rest if hold else replace(rest, sample=unsolved)

    monkeypatch.setattr(moored, "relaxed", fails)
    with pytest.raises(sw.SwelltreeError, match=r"come to rest\. Before: buoy_free (Heave|Surge)"):
        sw.equilibrium(model)
