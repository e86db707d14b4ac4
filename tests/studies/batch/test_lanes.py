"""Cases side by side in registers, with whatever a model can have, against their single runs."""

import numpy as np
import pytest

import made_hydro
import swelltree as sw
from device_here import DeviceHere
from made_campaign import SEA, float_model
from rich_systems import floating
from swelltree.jit import cuda, jnp
from swelltree.studies.batch import batch as batch_study
from swelltree.studies.batch import runge_kutta
from swelltree.studies.batch.engine import Parallel
from swelltree.studies.batch.engines import Gpu, gpu_program
from validation.pto.pto_systems import oscillator

CHOSEN = ["position", "velocity", "joint_coordinate"]


def latched():
    """Held for 0.35 s at each standstill: events come at other times in each case."""
    return oscillator(sw.LatchingPto("latch", joint="rail", release_after=0.35))


def four_bar():
    """A loop that turns in a plane in space, with a damper; the ground is its fourth bar."""
    turn = sw.WORLD
    bars = [
        sw.Body("crank", mass=3.0, inertia=(0.1, 0.3, 0.3), position=(0.0, 0.1, 0.5)),
        sw.Body("coupler", mass=4.0, inertia=(0.1, 0.5, 0.5), position=(1.0, 0.1, 1.2)),
        sw.Body("rocker", mass=2.0, inertia=(0.1, 0.3, 0.3), position=(2.0, 0.1, 0.7)),
    ]
    crank, coupler, rocker = bars
    joints = [
        sw.Hinge("a", turn.at(0.0, 0.1, 0.0), crank.at(0.0, 0.0, -0.5)),
        sw.Hinge("b", crank.at(0.0, 0.0, 0.5), coupler.at(-1.0, 0.0, -0.2)),
        sw.Hinge("c", coupler.at(1.0, 0.0, 0.2), rocker.at(0.0, 0.0, 0.7)),
        sw.Hinge("d", turn.at(2.0, 0.1, 0.0), rocker.at(0.0, 0.0, -0.7)),
    ]
    forces = [sw.JointForce("brake", "a", damping=0.8, stiffness=3.0)]
    return sw.System("four bars", bars, joints, forces)


def pushing(t, y, gain):
    """A law of a user with a limit, in which time counts as well."""
    place, speed = y
    return jnp.clip(-gain * speed - 2e3 * jnp.sin(0.7 * t) * place, -6e4, 6e4)


def controlled():
    """The float of the campaigns, pushed by that law."""
    law = sw.Controller(
        "law", ["rail.Heave", "rail.Heave.rate"], ["pto"], law=pushing, gains={"gain": 8e4}
    )
    return float_model().described.system.replace(controllers=[law])


def hull_in_oblique_waves():
    """Pressure on the wetted panels of a buoy that is moored away from the origin."""
    place = (3.0, -2.0, -0.8)
    hull = sw.Cylinder(radius=1.6, height=4.0, draft=2.7)
    buoy = sw.Body("buoy", mass=2.2e4, inertia=(8e4, 9e4, 7e4), hull=hull, position=place)
    mooring = sw.LinearMooring(
        "mooring",
        buoy,
        stiffness={"Surge": 2e3, "Sway": 3e3, "Yaw": 2e4},
        damping=dict.fromkeys(("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw"), 5e3),
    )
    free = sw.Free("free", sw.WORLD.at(*place), buoy)
    return sw.System("buoy", [buoy], [free], moorings=[mooring])


COMPILED = {
    controlled: {"hydro": made_hydro.heaving_float()},
    hull_in_oblique_waves: {"nonlinear": True, "added_mass": np.diag([1.7e4] * 3 + [2e4] * 3)},
}
OBLIQUE = sw.RegularWave(0.8, 5.0, beta=0.6)
CASES = {
    "law": (controlled, "controllers.law.gains.gain", [8e4, 1.2e5, 2e5], SEA, 3.0),
    "hull": (hull_in_oblique_waves, "bodies.buoy.mass", [2.2e4, 2.25e4, 2.3e4], OBLIQUE, 3.0),
    "latch": (latched, "forces.spring.stiffness", [8.0, 9.5, 6.5], None, 6.0),
    "loop": (four_bar, "forces.brake.damping", [0.8, 0.0, 2.0], None, 3.0),
    "rich": (floating, "ptos.pto.damping", [2e3, 0.0, 9e3], sw.RegularWave(1.2, 6.0), 4.0),
}


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize(
    "name",
    ["latch", "loop", "law", *(pytest.param(x, marks=pytest.mark.slow) for x in ("hull", "rich"))],
)
def test_lanes_are_single_runs(name):
    make, path, values, sea, duration = CASES[name]
    model = sw.compile(make(), **COMPILED.get(make, {}))
    how = {"duration": duration, "output_step": 0.1, "step": 0.005, "start": "described"}
    batch = sw.simulate_batch(model, sea, {path: values}, channels=CHOSEN, reduce=["series"], **how)
    assert batch.attrs["engine"] == "lanes"
    assert (batch["message"] == "").all()
    for k, value in list(enumerate(values))[1:]:
        run = sw.simulate(model.with_values({path: value}), sea, solver="rk4", **how)
        for channel in CHOSEN:
            right = run[channel].values
            size = max(1.0, float(np.abs(right).max()))
            # the search for an event ends within 1e-10 s
            near = 1e-8 if name == "latch" else 1e-10
            found = batch[f"{channel}_series"].values[k]
            np.testing.assert_allclose(found, right, rtol=0, atol=near * size, err_msg=channel)


def test_a_case_that_diverges_leaves_its_neighbours_their_bits():
    """A damper too strong for the step in one case; the others never notice."""
    model = sw.compile(oscillator(sw.LinearPto("pto", joint="rail", damping=0.3)))
    path, how = "ptos.pto.damping", {"duration": 40.0, "output_step": 0.1, "step": 0.02}
    with pytest.warns(sw.SwelltreeWarning, match="1 of 4 cases"):
        batch = sw.simulate_batch(
            model, parameters={path: [0.3, 2.0, 900.0, 0.1]}, reduce=["series"], **how
        )
    assert batch.attrs["engine"] == "lanes"
    assert [bool(m) for m in batch["message"].values] == [False, False, True, False]
    assert "t = " in str(batch["message"].values[2])
    calm = sw.simulate_batch(
        model, parameters={path: [0.3, 2.0, 1.0, 0.1]}, reduce=["series"], **how
    )
    for k in (0, 1, 3):
        found = batch["pto_stroke_series"].values[k]
        assert np.array_equal(found, calm["pto_stroke_series"].values[k])


@pytest.fixture
def device(monkeypatch):
    """This processor in place of another: kernels and steps run by the same text."""
    built = DeviceHere()
    monkeypatch.setattr(cuda, "device", lambda: built)
    gpu_program.cache_clear()
    yield built
    gpu_program.cache_clear()


@pytest.mark.parametrize(("precision", "near"), [("float64", 1e-6), ("float32", 1e-4)])
def test_threads_of_a_graphics_processor_give_the_runs_of_lanes(device, precision, near):
    """The program for the other processor, run here: loads of waves are made by itself.

    They lie on another grid in time, between whose points a cubic has errors of some 1e-7.
    """
    model = float_model()
    seas = [SEA.replace(seed=k) for k in range(3)]
    how = {"duration": 40.0, "output_step": 0.2, "step": 0.2}
    damping = {"ptos.pto.damping": [0.8e5, 1.5e5, 3e5]}
    gpu = {"device": "gpu", "precision": precision}
    right = sw.simulate_batch(model, seas, damping, reduce=["series"], **how)
    found = sw.simulate_batch(model, seas, damping, reduce=["series"], **how, **gpu)
    assert found.attrs["engine"].startswith("gpu")
    apart = []
    for name in ("position_series", "pto_force_series", "absorbed_power_series"):
        size = float(np.abs(right[name]).max())
        np.testing.assert_allclose(found[name], right[name], rtol=0, atol=near * size)
        x, y = (data[name].values.reshape(3, right.sizes["time"], -1) for data in (right, found))
        apart.append((np.abs(x - y).max((1, 2)) / x.std(1).max(1)).max())
    # what four bytes cost is told as it is found here
    assert ("precision_error" in found.attrs) == (precision == "float32")
    if precision == "float32":
        assert 0.5 * max(apart) < found.attrs["precision_error"] < 2.0 * max(apart)
    # the same statistics, of which no sample came back
    right = sw.simulate_batch(model, seas, damping, **how)
    found = sw.simulate_batch(model, seas, damping, **how, **gpu)
    assert set(found.data_vars) == set(right.data_vars)
    for name in ("position", "pto_force", "absorbed_power"):
        size = float(np.abs(right[name].sel(statistic=["min", "max"])).max())
        for statistic in ("mean", "std", "min", "max"):
            one, other = (x[name].sel(statistic=statistic) for x in (found, right))
            np.testing.assert_allclose(one, other, rtol=0, atol=near * size)
        assert found[name].attrs == right[name].attrs


def test_events_are_left_to_lanes_where_floats_have_four_bytes(device):
    """The search for an instant would not end."""
    model = sw.compile(latched())
    path, how = "forces.spring.stiffness", {"duration": 3.0, "output_step": 0.1, "step": 0.01}
    values = {path: [8.0, 9.5]}
    right = sw.simulate_batch(model, parameters=values, channels=["position"], **how)
    short = {"device": "gpu", "precision": "float32"}
    with pytest.warns(sw.SwelltreeWarning, match="events are found to 1e-10 s, which float32"):
        found = sw.simulate_batch(model, parameters=values, channels=["position"], **how, **short)
    assert found.attrs["engine"].startswith("lanes; not gpu, float32")
    assert found["position"].equals(right["position"])


@pytest.mark.parametrize("how", [{}, {"device": "gpu"}, {"device": "gpu", "precision": "float32"}])
def test_peaks_and_damage_are_found_where_samples_arise(device, monkeypatch, how):
    """They are those of the samples, of which none comes here."""
    model, run = float_model(), {"duration": 60.0, "output_step": 0.2, "step": 0.2}
    seas = [SEA.replace(seed=k, ramp=10.0) for k in range(3)]
    requested = ["statistics", "peaks", "fatigue"]
    series = sw.simulate_batch(model, seas, reduce=[*requested, "series"], **run)
    with monkeypatch.context() as patch:
        patch.setattr(Parallel, "run", None)
        patch.setattr(batch_study, "precision_error", lambda *_: 0.0)  # by samples of a trial
        found = sw.simulate_batch(model, seas, reduce=requested, **run, **how)
    near = {"": 1e-9, "gpu": 1e-5, "gpu, float32": 3e-4}
    near = near["" if not how else found.attrs["engine"]]
    assert set(found.data_vars) == {x for x in series.data_vars if not str(x).endswith("_series")}
    for name in ("position", "pto_force", "absorbed_power"):
        size = float(np.abs(series[name].sel(statistic=["min", "max"])).max())
        for ending in ("_peaks", "_troughs", "_del"):
            one, other = found[name + ending], series[name + ending]
            assert one.dims == other.dims
            assert one.attrs == other.attrs
            np.testing.assert_array_equal(one.isnull(), other.isnull())
            np.testing.assert_allclose(one, other, rtol=0, atol=near * size)


def test_samples_are_brought_here_in_blocks_that_fit(monkeypatch):
    """Channels that are told by their samples, of more cases than have room at a time."""
    model, run = float_model(), {"duration": 20.0, "output_step": 0.2, "step": 0.2}
    seas = [SEA.replace(seed=k) for k in range(5)]
    how = {"channels": ["joint_coordinate"], "reduce": ["peaks"]}
    full = sw.simulate_batch(model, seas, **how, **run)
    counts, real = [], Parallel.run

    def counted(self, plan, cases, first=0):
        counts.append(len(cases))
        return real(self, plan, cases, first)

    monkeypatch.setattr(Parallel, "run", counted)
    monkeypatch.setattr(batch_study, "SAMPLES_HERE", 2.5 * 8 * 101 * (7 + 2))
    parts = sw.simulate_batch(model, seas, **how, **run)
    assert max(counts) == 2
    assert sum(counts) == 5
    assert parts.identical(full.assign_attrs(parts.attrs))


def test_seas_of_lanes_have_the_grids_and_loads_of_single_runs():
    """Of general kind: grids, ramps, headings and numbers of waves of their own, and one alone."""
    model, how = float_model(), {"duration": 60.0, "output_step": 0.25, "step": 0.25}
    seas = [
        SEA,
        SEA.replace(ramp=20.0, components=40, seed=3),
        sw.RegularWave(0.4, period=7.0),
        SEA.replace(seed=5, components=71, spectrum=sw.Jonswap(Hs=1.2, Tp=9.0)),
        sw.FocusedWave(spectrum=sw.Jonswap(Hs=1.0, Tp=8.0), amplitude=1.0, t=30.0),
    ]
    batch = sw.simulate_batch(model, seas, reduce=["series"], **how)
    for k, sea in enumerate(seas):
        run = sw.simulate(model, sea, solver="rk4", progress=False, **how)
        size = float(np.abs(run["position"]).max())
        found = batch["position_series"][k]
        np.testing.assert_allclose(found, run["position"], rtol=0, atol=1e-10 * size)


def test_seas_on_a_graphics_processor_have_headings_and_ramps_of_their_own(device):
    """Seeds alone, without numbers of the model: one model serves all, and spreading is kept."""
    model, how = float_model(), {"duration": 30.0, "output_step": 0.25, "step": 0.25}
    spread = SEA.replace(ramp=20.0, components=40)
    seas = [SEA, spread, SEA.replace(seed=9), sw.RegularWave(0.4, period=7.0, beta=0.0)]
    right = sw.simulate_batch(model, seas, reduce=["series"], **how)
    found = sw.simulate_batch(model, seas, reduce=["series"], device="gpu", **how)
    size = float(np.abs(right["position_series"]).max())
    np.testing.assert_allclose(
        found["position_series"], right["position_series"], rtol=0, atol=1e-6 * size
    )


def test_loads_known_for_the_whole_run_are_not_shifted_by_chunks_on_a_gpu(device, monkeypatch):
    """As those of the first harmonic of a steep wave on hulls that feel the wave themselves."""
    model, how = float_model(), {"duration": 12.0, "output_step": 0.2, "step": 0.2}
    seas = [SEA, SEA.replace(seed=9)]
    right = sw.simulate_batch(model, seas, reduce=["series"], **how)
    of_grid = runge_kutta.CaseMaker
    monkeypatch.setattr(runge_kutta, "ON_GPU", runge_kutta.Chunks(1.0, (16, 16), 16))
    monkeypatch.setattr(runge_kutta, "sums_of_waves", lambda model, cases: False)
    monkeypatch.setattr(
        runge_kutta, "CaseMaker", lambda *args, **more: of_grid(*args, **more | {"sums_step": None})
    )
    found = sw.simulate_batch(model, seas, reduce=["series"], device="gpu", **how)
    assert found.attrs["engine"] == "gpu"
    size = float(np.abs(right["position_series"]).max())
    np.testing.assert_allclose(
        found["position_series"], right["position_series"], rtol=0, atol=1e-6 * size
    )


def test_a_sea_outside_the_data_has_its_sentence_on_a_graphics_processor(device):
    model, how = float_model(), {"duration": 4.0, "output_step": 0.2, "step": 0.2}
    seas = [SEA, sw.RegularWave(0.4, omega=50.0), SEA.replace(seed=4)]
    for reduce in (["statistics"], ["series"]):
        with pytest.warns(sw.SwelltreeWarning, match="1 of 3 cases"):
            found = sw.simulate_batch(model, seas, reduce=reduce, device="gpu", **how)
        assert "50 rad/s" in str(found["message"].values[1])
        name = next(n for n in found.data_vars if str(n).startswith("position"))
        missing = found[name].isnull().any([d for d in found[name].dims if d != "case"])
        assert missing.values.tolist() == [False, True, False]


def test_no_graphics_processor_is_said_and_is_no_error(monkeypatch):
    monkeypatch.setattr(Gpu, "unavailable", lambda self: "there is no driver of NVIDIA here")
    how = {"duration": 4.0, "output_step": 0.2, "step": 0.2, "device": "gpu"}
    with pytest.warns(sw.SwelltreeWarning, match="no driver of NVIDIA"):
        batch = sw.simulate_batch(float_model(), [SEA, SEA.replace(seed=8)], **how)
    assert batch.attrs["engine"].startswith("lanes; not gpu")
