"""Systems without bodies, held bodies, and what is told where nothing comes to rest."""

from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import swelltree as sw
from swelltree.cli import app
from swelltree.results.summary import summary
from swelltree.studies.time.complementarity import start as two_step_start

KIND = sw.LineType("rope", diameter=0.12, mass_per_length=60.0, EA=5e7, damping_ratio=0.8)
WATER = sw.Water(depth=50.0)
WAVE = sw.RegularWave(height=2.0, period=7.0)
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
    run = sw.simulate(alone("dynamic"), WAVE, duration=1.0, output_step=0.5, progress=False)
    assert np.ptp(run.fairlead_tension.values) > 0
    sw.save(run, tmp_path / "run.nc")
    again = sw.load_result(tmp_path / "run.nc")
    np.testing.assert_allclose(again.fairlead_tension, run.fairlead_tension)


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        (lambda m: sw.rao(m, omega=[0.5]), "rao: the system has only lines"),
        (lambda m: sw.response(m, WAVE), "response: the system has only lines"),
        (lambda m: sw.steady_state(m, period=7.0), "steady_state: the system has only lines"),
        (lambda m: sw.simulate(m, WAVE, duration=1.0), "to quasi-static lines: the system has"),
        (lambda m: sw.offset_curve(m, "b", "Surge", [1.0]), "body 'b' is not in the system"),
        (lambda m: sw.state_space(m), "state_space: there is no input"),
    ],
)
def test_studies_of_bodies_tell_that_there_is_none(study, sentence):
    with pytest.raises(sw.SwelltreeError, match=sentence):
        study(alone("quasi_static"))


def with_junction():
    knot = sw.Junction("knot", mass=500.0, volume=3.0, position=(-10.0, 3.0, -20.0))
    ends = {"bow": (A, 165.0), "stern": ((120.0, -70.0, -50.0), 150.0)}
    return sw.System(
        "knotted",
        junctions=[knot],
        lines=[sw.Line(n, a, knot, length, KIND, segments=4) for n, (a, length) in ends.items()],
        water=WATER,
    )


def text_of(result):
    console = Console(width=100)
    with console.capture() as stored:
        console.print(summary(result))
    return stored.get()


def test_case_of_lines_alone_is_checked_run_and_shown(tmp_path):
    studies = (
        sw.EquilibriumStudy(name="rest"),
        sw.ModesStudy(name="none"),
        sw.SimulateStudy(name="run", duration=1.0, output_step=0.25),
    )
    case = tmp_path / "case.toml"
    case.write_text(sw.Case(with_junction(), studies=studies).to_toml())
    checked = CliRunner().invoke(app, ["check", str(case)])
    assert checked.exit_code == 0
    assert "0 bodies, 0 joints" in checked.output
    out = tmp_path / "out"
    ran = CliRunner().invoke(app, ["run", str(case), "--out", str(out), "--report"])
    assert ran.exit_code == 0
    assert "no modes: nothing moves" in ran.output
    rest, none, run = (sw.load_result(out / f"{name}.nc") for name in ("rest", "none", "run"))
    tensions = [f"{value:.5g}" for value in rest.fairlead_tension.values]
    assert all(tension in text_of(rest) for tension in tensions)
    assert "body" not in text_of(rest) + text_of(run)
    page = sw.write_report([rest, none, run], tmp_path / "page.html")
    assert page.stat().st_size > 0
    # at rest and calm
    assert np.ptp(run.fairlead_tension.values, axis=0).max() < 1e-3
    assert sw.statistics(run).fairlead_tension.sel(statistic="mean").values == pytest.approx(
        rest.fairlead_tension.values, rel=1e-6
    )
    found = sw.operability(
        lambda Hs: run, {"Hs": [1.0]}, lambda r: {"T": float(r.fairlead_tension.max())}, {"T": 1e6}
    )
    assert found.operable.all()


def test_steady_state_of_a_held_body_tells_that_nothing_moves():
    body = sw.Body("b", mass=1e5, inertia=(1e6,) * 3, position=B)
    model = sw.compile(sw.System("s", [body], [sw.Weld("w", sw.WORLD.at(*B), body)]))
    with pytest.raises(sw.SwelltreeError, match="steady_state: nothing moves"):
        sw.steady_state(model, period=7.0)


def test_failed_equilibrium_names_what_is_out_of_balance(monkeypatch):
    """Not the line with the largest tension, which need not have to do with it."""
    body = sw.Body("buoy", mass=1e4, inertia=(1e5,) * 3, position=B)
    line = sw.Line("bow", A, body.at(), 178.0, KIND, segments=5)
    free = sw.Free("buoy_free", sw.WORLD, body)
    model = sw.compile(sw.System("s", [body], [free], lines=[line], water=WATER))
    full = two_step_start.relaxed

    def fails(*args, hold=False, **more):
        rest = full(*args, hold=True, **more)
        unsolved = replace(rest.sample, solved=np.array(False))
        return rest if hold else replace(rest, sample=unsolved)

    monkeypatch.setattr(two_step_start, "relaxed", fails)
    with pytest.raises(sw.SwelltreeError, match=r"equilibrium\. Before: buoy_free (Heave|Surge)"):
        sw.equilibrium(model)
