"""Waves as an input: the elevation at the bodies, ahead of the device by the look-ahead."""

import numpy as np
import pytest

import swelltree as sw
from made_device import CDevice, needs_compiler
from swelltree.interop.fmi.device import device_of

pytestmark = needs_compiler
NAMES = ("float.Heave", "velocity.spar.Heave", "absorbed_power.pto")
BETWEEN = 0.1
TIMES = BETWEEN * np.arange(1501)
OPTIONS = {
    "step": 0.05,
    "inputs": ["pto", "elevation"],
    "outputs": ["float.Heave", "velocity", "absorbed_power"],
}


@pytest.fixture(scope="module")
def ready():
    ready = sw.gallery.rm3()
    return ready.model(), ready.sea


@pytest.fixture(scope="module")
def exported(ready):
    return device_of(ready[0], None, **OPTIONS)


@pytest.fixture(scope="module")
def built(exported, tmp_path_factory):
    return CDevice(exported, tmp_path_factory.mktemp("elevation"))


def surface(ready, times):
    """Elevation of the sea; as it is given ahead, the device has it `lead` later."""
    model, sea = ready
    return sw.elevation(sw.realise(sea, model.water), times)


def test_an_elevation_moves_the_device_as_its_sea_does(ready, exported, built):
    """A kernel fitted to 0.5 %, and straight lines between the inputs."""
    lead = exported.elevation.lead
    assert 2.0 < lead < 20.0
    assert [x.name for x in exported.all_inputs] == ["pto", "elevation"]
    device = built.restart()
    found = device.run(TIMES, NAMES, [("elevation", surface(ready, TIMES))])
    later = lead < TIMES
    run = sw.simulate(*ready, times=TIMES[later] - lead, solver="rk4", step=0.05)
    expected = [
        run.displacement.sel(body="float", dof="Heave").values,
        run.velocity.sel(body="spar", dof="Heave").values,
        run.absorbed_power.values[:, 0],
    ]
    # `simulate` lets the force grow, not the elevation that it is convolved with
    grown = run.time.values > 2.0 * ready[1].ramp
    for k, row in enumerate(expected):
        off = (found[later, k] - row)[grown]
        assert np.abs(off).max() < 0.02 * np.abs(row[grown]).max(), NAMES[k]


def test_a_saved_state_has_its_waves(ready, exported, built):
    device, eta = built.restart(), surface(ready, TIMES)
    device.run(TIMES[:101], NAMES, [("elevation", eta)])
    saved = device.save()
    rest = [("elevation", eta[100:])]
    first = device.run(TIMES[100:201], NAMES, rest)
    assert device.restore(saved) == 0
    np.testing.assert_array_equal(device.run(TIMES[100:201], NAMES, rest), first)
    device.restart()
    assert device.restore(saved) == 0
    np.testing.assert_array_equal(device.run(TIMES[100:201], NAMES, rest), first)
    for place in (0, 1, 2, 3, *range(len(saved) - 200, len(saved))):
        wrong = saved.copy()
        wrong[place] = -1e17
        if device.restore(wrong) == 0:
            device.step(0.05)
    device.restart()


def test_steps_beyond_the_given_elevation_are_refused(built):
    device = built.restart()
    assert device.step(1.0) == 0
    assert device.step(1.5) == 1
    assert "longer than the elevation is ahead" in device.message
    assert device.set("elevation", np.nan) == 1


def test_what_cannot_take_an_elevation_is_refused(ready):
    model, sea = ready
    for changes, sea_of, words in (
        ({}, sea, "a sea is given, too"),
        ({"model_exchange": True}, None, "goes back in time"),
    ):
        with pytest.raises(sw.SwelltreeError, match=f"input 'elevation': .*{words}"):
            device_of(model, sea_of, **(OPTIONS | changes))
    body = sw.Body("a", mass=1.0, inertia=(1, 1, 1))
    dry = sw.compile(sw.System("dry", [body], [sw.Slider("s", sw.WORLD, body)]))
    with pytest.raises(sw.SwelltreeError, match="has no hydro data"):
        device_of(dry, None, step=0.1, inputs=["elevation"])
