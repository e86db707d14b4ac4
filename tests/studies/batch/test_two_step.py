"""Dynamic lines, contacts, winches and machines side by side, against their single runs."""

import numpy as np
import pytest

import swelltree as sw
from device_here import DeviceHere
from line_systems import SEA, dropped, lowered, moored, pipe, two_bodies
from swelltree.jit import cuda
from swelltree.studies.batch.engines import gpu_program

slow = pytest.mark.slow
NEAR = 1e-10  # of the largest number of a channel
HOW = {"duration": 1.6, "output_step": 0.08, "step": 0.04}


def pumped(segments=3):
    """The moored box with a machine between it and the ground: tension, ground, drag, power."""
    system = moored(segments)
    box = system.bodies[0]
    pump = sw.LinearPto("pump", sw.WORLD.at(0.5, 0.3, -20.0), box, damping=4e3, stiffness=1e3)
    return system.replace(ptos=[pump])


def seas(count):
    return [SEA.replace(seed=k) for k in range(count)]


def assert_single_runs(model, batch, cases, how, near=NEAR):
    """Cases are (number, sea, values)."""
    assert (batch["message"] == "").all(), batch["message"].values
    names = [str(name) for name in batch.data_vars if str(name).endswith("_series")]
    assert names
    for k, sea, values in cases:
        run = sw.simulate(model.with_values(values), sea, progress=False, **how)
        for name in names:
            right = run[name.removesuffix("_series")].values
            size = max(1.0, float(np.abs(right).max(initial=0.0)))
            found = batch[name].values[k]
            np.testing.assert_allclose(found, right, rtol=0, atol=near * size, err_msg=name)


CHANNELS = ["position", "velocity", "line_tension", "pto_force", "absorbed_power", "reaction"]


@slow
def test_lines_with_seas_and_numbers_of_their_own_are_single_runs():
    model = sw.compile(pumped())
    values = {"ptos.pump.damping": [4e3, 9e3, 1e3], "bodies.box.mass": [2e3, 1.9e3, 2.2e3]}
    batch = sw.simulate_batch(model, seas(3), values, channels=CHANNELS, reduce=["series"], **HOW)
    assert batch.attrs["engine"] == "lanes"
    cases = [(k, seas(3)[k], {path: x[k] for path, x in values.items()}) for k in (0, 1)]
    assert_single_runs(model, batch, cases, HOW)
    # waves push the lines alone, and these the box
    assert float(np.abs(batch["absorbed_power_series"][1]).max()) > 1e-4
    # neighbours, their order and the number of lanes change no bit
    turned = {path: x[::-1] for path, x in values.items()}
    again = sw.simulate_batch(
        model, seas(3)[::-1], turned, channels=CHANNELS, reduce=["series"], lanes=2, **HOW
    )
    for name in CHANNELS:
        series = f"{name}_series"
        assert np.array_equal(batch[series].values, again[series].values[::-1]), name
    # the same statistics where no sample is kept
    summed = sw.simulate_batch(model, seas(3), values, channels=CHANNELS, **HOW)
    run = sw.simulate(model.with_values(cases[1][2]), cases[1][1], progress=False, **HOW)
    right = sw.statistics(run)
    for name in ("position", "line_tension", "absorbed_power"):
        size = float(np.abs(right[name]).max())
        np.testing.assert_allclose(summed[name][1], right[name], rtol=0, atol=1e-9 * size)


@slow
def test_designs_of_a_moored_spar_begin_where_their_single_runs_do():
    """Lengths of lines and masses of their own, in waves that act at the start or not."""
    model = sw.gallery.spar("dynamic").model()
    values = {
        "lines.line2.rest_length": [902.2, 901.1, 903.9, 902.2, 900.7],
        "bodies.spar.mass": [8066048.0, 8.05e6, 8.07e6, 8.06e6, 8.066e6],
    }
    how = {"duration": 2.0, "output_step": 0.1, "step": 0.02}
    sea = sw.IrregularSea(sw.Jonswap(Hs=3.0, Tp=9.0), omega_max=2.2, beta=0.4, components=50)
    waves = [sea.replace(seed=k, ramp=5.0 * (k % 2)) for k in range(5)]
    batch = sw.simulate_batch(
        model, waves, values, channels=["position", "velocity", "line_tension"],
        reduce=["series"], **how,
    )  # fmt: skip
    assert batch.attrs["engine"] == "lanes"
    first = batch["position_series"].isel(time=0).values
    assert np.ptp(first, axis=0).max() > 0.1  # they hang elsewhere
    cases = [(k, waves[k], {path: x[k] for path, x in values.items()}) for k in (1, 2, 4)]
    assert_single_runs(model, batch, cases, how)


def test_a_box_that_lands_and_one_that_floats():
    """Contact in one case and none in the other: Newton's method takes as long as each needs."""
    model = sw.compile(dropped())
    how = {"duration": 1.2, "output_step": 0.08, "step": 0.02, "start": "described"}
    mass = {"bodies.box.mass": [2e3, 0.8 * 1025.0, 2.4e3]}
    batch = sw.simulate_batch(
        model, None, mass, channels=["position", "contact_force"], reduce=["series"], **how
    )
    assert batch.attrs["engine"] == "lanes"
    cases = [(k, None, {"bodies.box.mass": mass["bodies.box.mass"][k]}) for k in range(3)]
    assert_single_runs(model, batch, cases, how, near=1e-9)  # forces of rigid impacts
    pushed = np.abs(batch["contact_force_series"]).max(
        ["time", *batch["contact_force_series"].dims[2:]]
    )
    assert pushed[0] > 1e4
    assert pushed[1] < 1e-6


def leashed():
    """A ball that is driven away from the anchor of a line that does not stretch."""
    ball = sw.Body("ball", mass=500.0, inertia=(500.0, 500.0, 500.0))
    away = sw.Slider("drive", sw.WORLD, ball, axis="x", motion=sw.Polynomial([0.0, 1.0]))
    thread = sw.LineType("thread", 0.01, 1e-3, EA=1e7)
    line = sw.Line("leash", (-9.0, 0, 0), ball, 12.0, thread, segments=4, axial="inextensible")
    return sw.System("pulled", [ball], [away], lines=[line], water=sw.Water(rho=1e-9))


@pytest.mark.filterwarnings("ignore:1 of 1 cases")
def test_a_line_pulled_beyond_its_length_fails_alone_with_its_sentence():
    model = sw.compile(leashed())
    how = {"duration": 2.0, "output_step": 0.1, "step": 0.05, "start": "described"}
    length = {"lines.leash.rest_length": [12.0, 10.0, 11.5]}
    requested = {"channels": ["position", "line_tension"], **how}
    with pytest.warns(sw.SwelltreeWarning, match="1 of 3 cases have no result.*case 1"):
        batch = sw.simulate_batch(model, None, length, **requested)
    assert batch.attrs["engine"] == "lanes"
    reported = [str(x) for x in batch["message"].values]
    assert reported[::2] == ["", ""]
    assert "line 'leash' is pulled" in reported[1]
    assert np.isnan(batch["position"][1]).all()
    calm = sw.simulate_batch(
        model, None, {"lines.leash.rest_length": [12.0, 12.5, 11.5]}, **requested
    )
    for name in ("position", "line_tension"):
        assert np.array_equal(batch[name].values[::2], calm[name].values[::2])


@slow
@pytest.mark.parametrize(
    ("make", "path", "values", "sea", "how"),
    [
        (lowered, "bodies.load.mass", None, None, {"duration": 3.0, "step": 0.02}),
        (pipe, "junctions.end.mass", [50.0, 80.0, 20.0], None, {"duration": 2.5, "step": 0.01}),
        (two_bodies, "forces.damper.damping", [3e3, 0.0, 9e3], SEA, {"start": "described"}),
        (
            two_bodies,
            "forces.damper.damping",
            [3e3, 0.0, 9e3],
            SEA,
            {"start": "described", "formulation": "path_matrix"},
        ),
        (
            lambda: moored(12, sw.Seabed(friction=0.5), "inextensible"),
            "bodies.box.mass",
            [2e3, 2.1e3, 1.9e3],
            SEA,
            {},
        ),
        (lambda: moored(2), "bodies.box.mass", [2e3, 2.1e3, 1.9e3], SEA, {}),
    ],
)
@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
def test_winches_pipes_junctions_and_hard_ground_are_single_runs(make, path, values, sea, how):
    built = make()
    model = sw.compile(built) if isinstance(built, sw.System) else built
    how = HOW | how
    if values is None:
        values = [float(model.value(path)) * x for x in (1.0, 1.3, 0.8)]
    waves = None if sea is None else seas(3)
    batch = sw.simulate_batch(model, waves, {path: values}, reduce=["series"], **how)
    assert batch.attrs["engine"] == "lanes"
    cases = [(k, None if waves is None else waves[k], {path: values[k]}) for k in (0, 2)]
    assert_single_runs(model, batch, cases, how)


@slow
def test_xla_takes_the_same_steps(monkeypatch):
    monkeypatch.setenv("SWELLTREE_ENGINE", "xla")
    model = sw.compile(pumped(2))
    how = HOW | {"duration": 0.8}
    damping = {"ptos.pump.damping": [4e3, 9e3, 1e3]}
    batch = sw.simulate_batch(model, seas(3), damping, reduce=["series"], **how)
    assert batch.attrs["engine"].startswith("xla; not lanes: SWELLTREE_ENGINE=xla")
    cases = [
        (k, seas(3)[k], {"ptos.pump.damping": damping["ptos.pump.damping"][k]}) for k in (0, 2)
    ]
    assert_single_runs(model, batch, cases, how)


@slow
def test_threads_of_a_graphics_processor_take_the_same_steps(monkeypatch):
    """The program for the other processor, run here; seeds of one sea are made together."""
    here = DeviceHere()
    monkeypatch.setattr(cuda, "device", lambda: here)
    gpu_program.cache_clear()
    model = sw.compile(pumped())
    how = HOW | {"device": "gpu"}
    batch = sw.simulate_batch(model, seas(6), reduce=["series"], **how)
    assert batch.attrs["engine"] == "gpu"
    # no data of a hull: all waves are those of the single run
    assert_single_runs(model, batch, [(k, seas(6)[k], {}) for k in (0, 3, 5)], HOW)
    damping = {"ptos.pump.damping": [4e3, 9e3]}
    right = sw.simulate_batch(model, seas(2), damping, **HOW)
    found = sw.simulate_batch(model, seas(2), damping, **how)
    for name in ("position", "line_tension", "absorbed_power"):
        size = float(np.abs(right[name]).max())
        np.testing.assert_allclose(found[name], right[name], rtol=0, atol=1e-8 * size)
    short = {"device": "gpu", "precision": "float32"}
    with pytest.warns(sw.SwelltreeWarning, match="which float32 cannot resolve"):
        other = sw.simulate_batch(model, seas(2), damping, **HOW, **short)
    assert other.attrs["engine"].startswith("lanes; not gpu, float32")
    gpu_program.cache_clear()


@slow
def test_a_step_that_is_not_given_follows_from_its_error():
    model = sw.compile(moored(2))
    waves = [SEA, SEA.replace(spectrum=sw.Jonswap(Hs=0.5, Tp=3.5))]
    how = {"duration": 4.0, "output_step": 0.1, "channels": ["position"]}
    steps = [
        sw.simulate(model, sea, duration=0.5, output_step=0.1, progress=False).attrs["step"]
        for sea in waves
    ]
    rough = sw.simulate_batch(model, waves, tolerance=0.5, reduce=["series"], **how)
    assert rough.attrs["step"] == pytest.approx(min(steps))
    finer = sw.simulate_batch(
        model, waves, tolerance=0.3 * rough.attrs["step_error"], reduce=["series"], **how
    )
    assert finer.attrs["step"] == pytest.approx(0.5 * rough.attrs["step"])
    exact = sw.simulate_batch(
        model, waves, step=rough.attrs["step"] / 16, reduce=["series"], **how
    ).position_series
    size = exact.std("time").max(["body", "dof"])  # of each case
    for batch in (rough, finer):  # the estimate is that of the worst sample of the worst channel
        error = float(
            (abs(batch.position_series - exact).max(["time", "body", "dof"]) / size).max()
        )
        assert 0.3 * error < batch.attrs["step_error"] < 3 * error


@slow
def test_a_tolerance_that_lines_do_not_reach_is_told():
    model = sw.compile(moored(2))
    how = {"duration": 1.0, "output_step": 0.1, "channels": ["position"]}
    with pytest.warns(sw.SwelltreeWarning, match="more than the tolerance 1e-12. Give a step"):
        batch = sw.simulate_batch(model, [SEA, SEA.replace(seed=2)], tolerance=1e-12, **how)
    assert batch.attrs["step_error"] > 1e-12
