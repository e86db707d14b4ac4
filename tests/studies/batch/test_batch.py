"""Batches: the numbers of single runs, whatever the neighbours."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest

import made_hydro
import swelltree as sw
from made_campaign import SEA, float_model
from swelltree.describe.options import BatchOptions, complete
from swelltree.jit import PerCase, UnsupportedOperationError, leaves_of
from swelltree.studies.batch import engines
from swelltree.studies.batch.batch import plan_batch
from swelltree.studies.batch.cases import batch_cases
from swelltree.studies.batch.engines import Lanes
from validation.pto.pto_systems import oscillator

STEP = 0.2
RUN = {"duration": 30.0, "output_step": 0.2}
# one number of lanes: all tests share one compiled program
OPTIONS = RUN | {"step": STEP, "reduce": ["series", "statistics"], "lanes": 4}


def seas(count, seed=0):
    rng = np.random.default_rng(seed)
    return [
        SEA.replace(
            spectrum=sw.Jonswap(Hs=rng.uniform(0.5, 3.0), Tp=rng.uniform(5.0, 11.0)),
            seed=int(rng.integers(1000)),
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize(("asked", "engine"), [("", "lanes"), ("xla", "xla; not lanes")])
def test_a_case_in_a_batch_is_the_single_run_of_the_same_steps(monkeypatch, asked, engine):
    monkeypatch.setenv("SWELLTREE_ENGINE", asked)
    model, many = float_model(), seas(5)
    damping = [0.8e5, 1.5e5, 1.5e5, 3e5, 5e5]
    batch = sw.simulate_batch(model, many, {"ptos.pto.damping": damping}, **OPTIONS)
    assert batch.attrs["engine"].startswith(engine)
    for k in (0, 3):
        own = model.with_values({"ptos.pto.damping": damping[k]})
        run = sw.simulate(
            own, many[k], duration=30.0, output_step=0.2, solver="rk4", step=STEP, progress=False
        )
        for name in ("position", "absorbed_power", "pto_force"):
            size = float(abs(run[name]).max())
            apart = np.abs(batch[f"{name}_series"][k].values - run[name].values).max()
            assert apart <= 1e-10 * size
            reported = sw.statistics(run)[name].values
            # powers have no most probable maximum
            near = pytest.approx(reported, rel=1e-10, abs=1e-10 * size, nan_ok=True)
            assert batch[name][k].values == near


def test_neighbours_order_and_number_of_lanes_change_no_bit():
    model, many = float_model(), seas(6, seed=4)
    full = sw.simulate_batch(model, many, **OPTIONS)
    turned = sw.simulate_batch(model, many[::-1], **OPTIONS)
    alone = sw.simulate_batch(model, many[2:3], **OPTIONS)
    pairs = sw.simulate_batch(model, many, **(OPTIONS | {"lanes": 3}))
    for name in ("position", "absorbed_power", "pto_stroke"):
        x = full[name].values
        assert np.array_equal(x, turned[name].values[::-1], equal_nan=True)
        assert np.array_equal(x[2], alone[name].values[0], equal_nan=True)
        size = np.nanmax(np.abs(x))
        other = pairs[name].values
        assert x == pytest.approx(other, rel=1e-12, abs=1e-12 * size, nan_ok=True)


def test_the_chosen_step_keeps_its_error_against_the_default_solver():
    model, many = float_model(), seas(3, seed=9)
    options = OPTIONS | {"step": None}
    batch = sw.simulate_batch(model, many, tolerance=1e-3, **options)
    assert 0 < batch.attrs["step_error"] <= 1e-3
    assert batch.attrs["step"] <= 0.2
    for k, sea in enumerate(many):
        run = sw.simulate(model, sea, rtol=1e-8, atol=1e-10, progress=False, **RUN)
        x = run["position"].sel(dof="Heave").values
        apart = np.abs(batch["position_series"][k].sel(dof="Heave").values - x).max()
        assert apart <= 2e-3 * x.std()  # the estimate is of a few cases, the limit of the largest


def test_a_case_that_cannot_be_run_tells_why_and_stops_no_other():
    model, many = float_model(), seas(3)
    bad = SEA.replace(omega_max=20.0, spectrum=sw.Jonswap(Hs=1.0, Tp=0.8))
    with pytest.warns(sw.SwelltreeWarning, match=r"1 of 3 cases have no result.*case 1, says"):
        batch = sw.simulate_batch(model, [many[0], bad, many[2]], **OPTIONS)
    assert "hydro data reach" in batch["message"].values[1]
    assert np.isnan(batch["position"].values[1]).all()
    fine = sw.simulate_batch(model, many, **OPTIONS)
    for k in (0, 2):
        assert np.array_equal(batch["position"].values[k], fine["position"].values[k])


def test_a_run_that_diverges_is_a_failed_case():
    model = float_model()
    damping = {"ptos.pto.damping": [1.5e5, 5e9]}  # far too stiff for the step
    with pytest.warns(sw.SwelltreeWarning, match="1 of 2 cases"):
        batch = sw.simulate_batch(model, SEA, damping, **OPTIONS)
    assert batch["message"].values[0] == ""
    assert "t = " in batch["message"].values[1]
    assert np.isfinite(batch["position"].values[0]).all()


def convolved():
    """A float whose radiation forces are kept on steps of their own: it is run one by one."""
    body = sw.Body("float", made_hydro.MASS, (1e6, 1e6, 1e6))
    pto = sw.LinearPto("pto", joint="rail", damping=1.5e5)
    rail = sw.Slider("rail", sw.WORLD, body, axis="z")
    system = sw.System("float", [body], [rail], ptos=[pto], water=sw.Water(rho=1000.0))
    return sw.compile(system, made_hydro.heaving_float(), radiation="convolution", step=0.2)


def test_cases_one_by_one_warn_as_single_runs_do_each_thing_once():
    model, how = convolved(), {"duration": 2.0, "output_step": 0.2}
    steep = SEA.replace(spectrum=sw.Jonswap(Hs=6.0, Tp=5.0))
    with pytest.warns(sw.SwelltreeWarning, match="waves break") as single:
        sw.simulate(model, steep, solver="rk4", progress=False, **how)
    reported = {str(w.message) for w in single}
    with pytest.warns(
        sw.SwelltreeWarning, match="engine of the batch: sequential; not lanes"
    ) as many:
        batch = sw.simulate_batch(model, [steep, steep], channels=["position"], **how)
    assert batch.attrs["engine"].startswith("sequential; not lanes: radiation='convolution'")
    assert (batch["message"] == "").all()
    found = [str(w.message) for w in many]
    for text in reported:
        assert found.count(f"2 of 2 cases: {text}") == 1


def test_a_case_one_by_one_that_ends_early_is_told_as_a_failed_case_only():
    damping = {"ptos.pto.damping": [1.5e5, 5e9]}  # far too stiff for the step
    how = {"duration": 4.0, "output_step": 0.2, "channels": ["position"]}
    with pytest.warns(sw.SwelltreeWarning) as many:
        batch = sw.simulate_batch(convolved(), SEA, damping, **how)
    bad = str(batch["message"].values[1])
    assert bad
    assert batch["message"].values[0] == ""
    assert [str(w.message) for w in many if bad in str(w.message)] == [
        f"1 of 2 cases have no result. The first, case 1, says: {bad}"
    ]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"seas": None}, "are one case"),
        ({"seas": [SEA], "parameters": {"ptos.pto.damping": [1.0, 2.0]}}, "as many of each"),
        ({"seas": ["rough"]}, "str is not a sea"),
        ({"channels": ["positon"]}, "no channel 'positon'. Did you mean 'position'?"),
        ({"channels": "position"}, "is one name"),
        ({"reduce": ["statistic"]}, "Did you mean 'statistics'?"),
        ({"reduce": []}, "not a list of different names"),
        ({"step": 0.0}, "step 0.0 s is not positive"),
        ({"lanes": 0}, "lanes 0 is not a number of cases"),
        ({"step": None, "tolerance": 0.0}, "tolerance 0.0 of the step"),
        ({"duration": -1.0}, "duration -1 s is not positive"),
        ({"parameters": {"ptos.pto.dampig": [1.0, 2.0]}}, "Did you mean 'damping'?"),
    ],
)
def test_bad_input_of_a_batch_is_told_in_a_sentence(changes, sentence):
    specified = {"seas": [SEA, SEA], **OPTIONS, **changes}
    with pytest.raises(sw.SwelltreeError) as error:
        sw.simulate_batch(float_model(), **specified)
    assert sentence in str(error.value)


def test_motion_beyond_the_linear_range_is_told_of_a_batch_as_of_single_runs():
    """Seas that throw the float higher than its hull reaches; calm ones say nothing."""
    ready = sw.gallery.rm3()
    model, calm = ready.model(), ready.sea.replace(components=40, ramp=5.0)
    rough = calm.replace(spectrum=sw.Jonswap(Hs=14.0, Tp=9.0))
    how = {"duration": 60.0, "output_step": 0.25, "step": 0.25}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.SwelltreeWarning)
        single = sw.simulate(model, rough, solver="rk4", progress=False, **how)
    assert "linear range" in single.attrs["findings"]
    with pytest.warns(sw.SwelltreeWarning, match="at least one of 2 cases: body 'float' heaved"):
        batch = sw.simulate_batch(model, [calm, rough], **how)
    assert "linear range" in batch.attrs["findings"]
    assert sw.simulate_batch(model, [calm, calm.replace(seed=9)], **how).attrs["findings"] == ""


def test_numbers_and_seas_of_their_own_leave_to_all_cases_what_they_share():
    """The propagator of radiation is made anew with each case's numbers, and is always the same."""
    model, many = float_model(), seas(3)
    planned = plan_batch(model, batch_cases(many, None), complete(BatchOptions, **RUN, step=STEP))
    damping = {"ptos.pto.damping": [0.8e5, 1.5e5, 3e5]}
    cases = batch_cases(many, damping)
    own = []
    for some in (cases, cases[:1]):
        built = planned.engine.scheme.prepared(planned.plan, planned.engine.target, some)
        own.append([isinstance(x, PerCase) for x in leaves_of(built.cases.fixed)])
    assert own[0] == own[1]
    assert sum(own[0]) == 3  # damping, and the loads of waves with their rates


def buoy_with_a_leg():
    """Water is felt by a member alone, whose arrays have as many waves as the sea."""
    buoy = sw.Body("buoy", mass=900.0, inertia=(300.0, 300.0, 200.0), position=(0.3, 0.1, 0.2))
    leg = sw.MorisonMember("leg", buoy.at(0, 0, 1), buoy.at(0.2, 0.1, -4), diameter=0.5, Cd=1.1)
    rail = sw.Slider("rail", sw.WORLD, buoy, axis=(1.0, 0.3, 0.2))
    brake = sw.JointForce("brake", "rail", stiffness=900.0, damping=40.0)
    return sw.compile(sw.System("leg", [buoy], [rail], [leg, brake], water=sw.Water(depth=30.0)))


@pytest.mark.slow
def test_seas_of_several_kinds_in_one_batch_are_single_runs():
    """Seas with other numbers of waves, or told otherwise, cannot share a program: each has one."""
    model, t = buoy_with_a_leg(), np.arange(0.0, 20.0, 0.4)
    record = sw.MeasuredWave(time=tuple(t), elevation=tuple(0.3 * np.sin(0.9 * t)), beta=0.5)
    some = [
        SEA.replace(components=5, beta=0.4),
        SEA.replace(components=7, ramp=2.0),
        record,
        SEA.replace(components=5, seed=8),
        sw.SeaOf([SEA.replace(ramp=0.0, components=4), sw.RegularWave(0.2, period=5.0, beta=1.0)]),
    ]
    how = {"duration": 2.0, "output_step": 0.2, "step": 0.05}
    stiffness = {"forces.brake.stiffness": [900.0, 500.0, 800.0, 950.0, 1e3]}
    for reduce in (["series"], ["statistics"]):
        batch = sw.simulate_batch(
            model, some, stiffness, channels=["position"], reduce=reduce, **how
        )
        assert batch.attrs["engine"] == "lanes"
        assert (batch["message"] == "").all()
        for k, sea in enumerate(some):
            own = model.with_values({path: x[k] for path, x in stiffness.items()})
            run = sw.simulate(own, sea, solver="rk4", progress=False, **how)
            if reduce == ["series"]:
                found, right = batch["position_series"][k], run["position"]
            else:
                found, right = batch["position"][k], sw.statistics(run)["position"]
            np.testing.assert_allclose(found, right, rtol=0, atol=1e-10)


def test_later_cases_that_no_program_takes_are_run_one_by_one(monkeypatch):
    """The engine is chosen by the first case; others may have more waves, or larger tables."""
    how = {"duration": 6.0, "output_step": 0.5, "step": 0.1, "lanes": 2}
    usual = sw.simulate_batch(float_model(), seas(3), **how)
    summed, seen = Lanes.summed, []

    def outgrown(self, steps, built, requested):
        seen.append(built)
        if len(seen) == 2:
            raise UnsupportedOperationError("9 numbers, more than 8")
        return summed(self, steps, built, requested)

    monkeypatch.setattr(Lanes, "summed", outgrown)
    with pytest.warns(sw.SwelltreeWarning, match=r"1 cases cannot .* \(9 numbers, .* sequentially"):
        batch = sw.simulate_batch(float_model(), seas(3), **how)
    assert len(seen) == 2
    assert list(batch.data_vars) == list(usual.data_vars)
    for name in ("position", "absorbed_power"):
        size = float(abs(usual[name]).max())
        np.testing.assert_allclose(batch[name], usual[name], rtol=1e-10, atol=1e-10 * size)


def test_any_device_of_jax_runs_batches_by_xla(monkeypatch):
    places = []
    monkeypatch.setattr(engines, "on_first_choice", lambda: places.append("asked") or nullcontext())
    model, many = float_model(), seas(2)
    how = {"duration": 6.0, "output_step": 0.5, "step": 0.1}
    batch = sw.simulate_batch(model, many, **how, device="jax")
    assert (batch.attrs["engine"], batch.attrs["device"], places) == ("xla", "jax", ["asked"])
    lanes = sw.simulate_batch(model, many, **how)
    for name in ("position", "absorbed_power"):
        size = float(abs(lanes[name]).max())
        np.testing.assert_allclose(batch[name], lanes[name], rtol=1e-10, atol=1e-10 * size)


@pytest.mark.parametrize("reduce", ["series", "statistics"])
@pytest.mark.parametrize(("steps", "ends"), [(10, "success"), (5, "energy_lost")])
def test_a_batch_judges_the_energy_as_a_single_run_does(reduce, steps, ends):
    """A spring of 4 J that is sampled once in its period: no sample shows that energy moved."""
    model = sw.compile(oscillator(sw.LinearPto("pto", joint="rail")))
    options = {"duration": 10 * np.pi, "output_step": np.pi, "step": np.pi / steps}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.SwelltreeWarning)
        run = sw.simulate(model, solver="rk4", **options)
        damping = {"pto.damping": [0.0, 1e-9]}
        batch = sw.simulate_batch(
            model, None, damping, channels=["joint_coordinate"], reduce=[reduce], **options
        )
    assert run.attrs["result"] == ends
    failed = ["energy budget does not close" in message for message in batch.message.values]
    assert failed == [ends != "success"] * 2
