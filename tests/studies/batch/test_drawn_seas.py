"""Seas whose seeds alone travel to a graphics processor, against the same drawn here."""

import numpy as np
import pytest

import swelltree as sw
from device_here import DeviceHere, as_ptx
from made_campaign import SEA, float_model
from swelltree.jit import GROUP
from swelltree.studies.batch import many_seas
from swelltree.studies.batch.cases import BatchCase, CaseMaker
from swelltree.studies.batch.gpu_wave_sums import NUMBERS, DrawnWaves, Waves, drawing_text

GROUPS = 2
KINDS = {
    "equal energy": SEA,
    "no jitter": SEA.replace(jitter=False, components=23),
    "equal bins": SEA.replace(spacing="equal", components=31),
    "equal bins, no jitter": SEA.replace(spacing="equal", jitter=False),
}


def seeds_of(*seas, model=None):
    """Cases with seeds of general kind, one run of which has a name."""
    model = float_model() if model is None else model
    some = [sea.replace(seed=s) for s in (3, 2**40 + 1, 0) for sea in seas]
    cases = [BatchCase(sea, (), "name" if k == 1 else k) for k, sea in enumerate(some)]
    return many_seas.device_seas(model, CaseMaker(model, 30.0, sums_step=0.1), cases), cases


def reported(waves, cases):
    """Frequency, row of the table and complex amplitude of each wave of each case."""
    numbers = waves.rows(DeviceHere(), GROUPS).numbers
    rows = numbers.reshape(GROUPS, -1, NUMBERS, GROUP).transpose(0, 3, 1, 2)
    return rows.reshape(GROUPS * GROUP, -1, NUMBERS)[: len(cases)]


def identical(found, right):
    for k in range(NUMBERS):
        size = np.abs(right[..., k]).max()
        np.testing.assert_allclose(found[..., k], right[..., k], rtol=0, atol=1e-13 * size)


@pytest.mark.parametrize("kind", KINDS)
def test_waves_drawn_there_are_those_drawn_here(kind, monkeypatch):
    found, cases = seeds_of(KINDS[kind])
    assert isinstance(found.waves, DrawnWaves)
    monkeypatch.setattr(many_seas, "_drawn_there", lambda *args: None)
    right, _ = seeds_of(KINDS[kind])
    assert isinstance(right.waves, Waves)
    identical(reported(found.waves, cases), reported(right.waves, cases))
    assert np.array_equal(found.table, right.table)
    assert np.array_equal(found.waves.ramp, right.waves.ramp)


def test_seas_of_several_kinds_are_drawn_together_with_their_headings(monkeypatch):
    """Headings are shared out among nine neighbours, and among those left over at the end."""
    barges = sw.gallery.barges()
    model, sea = barges.model(), barges.sea
    seas = (sea.replace(components=40), sea.replace(spreading=None, components=33, ramp=3.0))
    found, cases = seeds_of(*seas, model=model)
    assert isinstance(found.waves, DrawnWaves)
    monkeypatch.setattr(many_seas, "_drawn_there", lambda *args: None)
    right, _ = seeds_of(*seas, model=model)
    some, other = reported(found.waves, cases), reported(right.waves, cases)
    there = np.abs(other[..., 2:]).max(-1) > 0  # others fill up
    assert np.abs(some[~there][..., 2:]).max() == 0
    identical(some[there], other[there])
    assert len(np.unique(np.floor(other[there][:, 1] / 1000.0))) > 9


@pytest.mark.parametrize(
    "sea", [SEA.replace(amplitudes="rayleigh"), SEA.replace(omega_max=50.0, components=12)]
)
def test_seas_that_draw_more_or_leave_the_data_are_drawn_here(sea):
    assert not isinstance(seeds_of(sea)[0].waves, DrawnWaves)


def test_drawing_is_text_for_graphics_processors():
    assert "mul.hi.u64" in as_ptx(drawing_text())


@pytest.mark.filterwarnings("ignore::swelltree.SwelltreeWarning")
@pytest.mark.parametrize("beta", [0.0, 0.4])
def test_forces_of_waves_from_one_side_are_those_of_the_data(monkeypatch, beta):
    """Headings first and frequencies then, or the other way round; some waves leave the data."""
    ready = sw.gallery.barges()
    model, sea = ready.model(), ready.sea.replace(beta=beta, components=19)
    many, k = many_seas.drawn(model, [BatchCase(sea.replace(seed=s), (), 0) for s in range(3)])
    omega = many.omega.copy()
    omega[1, 4] = 1e3
    cases = many, many._replace(omega=omega)
    table = model.hydro.table
    found = [many_seas.forces_of(table, waves, k) for waves in cases]
    assert found[0][0].all()
    assert not found[1][0][1, 4]
    monkeypatch.setattr(many_seas, "_from_one_side", lambda table, beta: None)
    for waves, (_, *forces) in zip(cases, found, strict=True):
        for one, other in zip(forces, many_seas.forces_of(table, waves, k)[1:], strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(other).max())
            assert np.abs(other).max() > 0.0
