"""What is absent, repeated or out of range in files of other codes is named, and never zero."""

import numpy as np
import pytest

import swelltree as sw
from hydro.samples import (
    RHO,
    G,
    made_up,
    write_aqwa,
    write_hams,
    write_listing,
    write_nemoh,
    write_wamit,
)
from made_drift import MASS, OMEGA, drift_data
from made_hydro import heaving_float
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.data.dataset import complete
from swelltree.hydro.data.frames import shift
from swelltree.hydro.data.gaps import fill_gaps
from swelltree.hydro.data.write import write_hydro
from swelltree.hydro.readers.read import read_hydro

WATER = {"rho": RHO, "g": G}
WATER_OF_FLOAT = sw.Water(rho=1000.0)


def edited(path, change):
    """The file with its lines changed."""
    lines = path.read_text().splitlines()
    path.write_text("\n".join(change(lines)))


def row(lines, start):
    """Index of the first line that starts with some words."""
    words = start.split()
    return next(k for k, line in enumerate(lines) if line.split()[: len(words)] == words)


def without(k, count=1):
    return lambda lines: lines[:k] + lines[k + count :]


def replaced(k, column, word):
    def change(lines):
        words = lines[k].split()
        words[column] = word
        return [*lines[:k], " ".join(words), *lines[k + 1 :]]

    return change


@pytest.mark.parametrize(
    ("ending", "change", "sentence"),
    [
        (".1", without(200), r"device.1': added_mass of .* at omega = .* is missing, one of 1 val"),
        (".1", lambda lines: lines[:-30], "added_mass of spar.* is missing, one of 30 values at 1"),
        (".1", lambda lines: [*lines, lines[200]], "line 866: .*stands on line 201 already"),
        (".1", replaced(200, 1, "0"), "line 201: mode I 0 is not one of 1 to"),
        (".1", replaced(200, 1, "40000"), "line 201: mode I 40000 is not one of 1 to 10000"),
        (".1", replaced(200, 2, "9000"), "line 201: mode 9000 is there, but mode 13 has no row"),
        (".1", replaced(200, 0, "-5"), "line 201: period -5 is negative"),
        (".1", replaced(200, 3, "nan"), "line 201: .*'nan' is not a finite number"),
        (".1", replaced(200, 3, "1e400"), "line 201: .*is not a finite number of sensible size"),
        (".1", replaced(200, 4, ""), r"line 201: expected PER I J A\(I,J\) B\(I,J\), found four"),
        (".3", without(20), "device.3': excitation_force of .* heading .* is missing, one of 1"),
        (".3", replaced(20, 1, "nan"), "device.3' line 21: .*'nan' is not a finite number"),
        (".3", replaced(20, 2, "0"), "device.3' line 21: mode 0 is not one of"),
        (".hst", lambda lines: lines[:-3], r"device.hst' has no C\(I,J\) of 3 of 144 pairs"),
        (".hst", lambda lines: [*lines, lines[2]], "line 145: this pair of modes stands on line 3"),
        (".pot", lambda lines: [lines[0], "-5 HBOT", *lines[2:]], "line 2: water depth -5 is not"),
        (".pot", lambda lines: [lines[0], "nan HBOT", *lines[2:]], "line 2: .*'nan' is not a fini"),
        (".pot", lambda lines: lines[:9], "ends at line 9: expected XBODY"),
    ],
)
def test_what_is_wrong_in_wamit_files_is_named_with_its_line(tmp_path, ending, change, sentence):
    path = write_wamit(made_up(), tmp_path)
    edited(tmp_path / f"device{ending}", change)
    with pytest.raises(SwelltreeError, match=sentence):
        read_hydro(path, **WATER)


def test_pairs_that_wamit_leaves_out_at_every_period_are_zero_and_said(tmp_path):
    path = write_wamit(made_up(bodies=("box",)), tmp_path)
    edited(path, lambda lines: [x for x in lines if x.split()[1:3] not in (["1", "2"], ["2", "1"])])
    data = read_hydro(path, **WATER)
    assert not data.added_mass.values[:, 0, 1].any()
    assert "2 pairs of modes, (1,2), (2,1): they are zero by symmetry" in data.attrs["notes"]


def test_rows_missing_in_hams_files_are_named(tmp_path):
    folder = write_hams(made_up(bodies=("Buoy",)), tmp_path)
    edited(folder / "Output" / "Wamit_format" / "Buoy.3", lambda lines: lines[:-2])
    with pytest.raises(SwelltreeError, match=r"Buoy.3': excitation_force of Buoy__Pitch"):
        read_hydro(folder, **WATER)


@pytest.mark.parametrize("word", ["-5", "nan"])
def test_depth_of_hams_is_not_taken_for_deep_water(tmp_path, word):
    folder = write_hams(made_up(bodies=("Buoy",)), tmp_path)
    control = folder / "Input" / "ControlFile.in"
    control.write_text(control.read_text().replace("30.0D0", word))
    with pytest.raises(SwelltreeError, match=r"ControlFile.in' line 3: .*not (positive|a finite)"):
        read_hydro(folder, **WATER)


def test_block_missing_in_aqwa_files_is_named(tmp_path):
    path = write_aqwa(made_up(), tmp_path)
    lines = path.read_text().splitlines()
    k = row(lines, "DAMPING") + 1
    path.write_text("\n".join(lines[:k] + lines[k + 6 :]))
    with pytest.raises(SwelltreeError, match=r"radiation_damping of body1__Surge .* one of 36 val"):
        read_hydro(path)


def test_listing_reads_like_the_numeric_files(tmp_path):
    data = made_up()
    found = read_hydro(write_listing(data, tmp_path), **WATER)
    for name in ("added_mass", "radiation_damping", "excitation_force"):
        top = np.abs(data[name].values).max()
        np.testing.assert_allclose(found[name].values, data[name].values, atol=1e-7 * top)


@pytest.mark.parametrize(
    "specified", [{"rho": 0.0}, {"g": -9.81}, {"depth": -5.0}, {"depth": np.nan}]
)
def test_water_that_cannot_be_is_refused(tmp_path, specified):
    path = write_wamit(made_up(), tmp_path)
    with pytest.raises(SwelltreeError, match=f"read_hydro: {next(iter(specified))} .* is not"):
        read_hydro(path, **(WATER | specified))


@pytest.mark.parametrize("name", ["added_mass", "excitation_force", "wave_direction"])
@pytest.mark.parametrize("ending", [".nc", ".h5"])
def test_nan_in_binary_files_is_named(tmp_path, ending, name):
    data = made_up()
    values = data[name].values.copy()
    values[(1,) * values.ndim] = np.nan
    if name == "wave_direction":
        data = data.assign_coords(wave_direction=values)
    else:
        data[name] = (data[name].dims, values)
    path = write_hydro(data, tmp_path / f"data{ending}")
    with pytest.raises(
        SwelltreeError, match=r"data\.\w+'?: .*(is missing|is nan|heading \d is nan)"
    ):
        read_hydro(path)


def test_gaps_are_interpolated_or_dropped_only_when_asked_for(tmp_path):
    full = heaving_float()
    data = full.copy(deep=True)
    data["excitation_force"].values[7, 0, 0] = np.nan
    data["added_mass"].values[9] = np.nan
    with pytest.raises(SwelltreeError, match=r"gaps='interpolate' or gaps='drop'"):
        fill_gaps(data, "error")
    repaired = fill_gaps(data, "interpolate")
    assert "excitation_force is interpolated at 1 frequencies" in repaired.attrs["notes"]
    for name in ("added_mass", "excitation_force"):
        error = np.abs(repaired[name].values - full[name].values).max()
        # half the second difference of a smooth curve on this grid
        assert 0 < error < 0.02 * np.abs(full[name].values).max()
    dropped = fill_gaps(data, "drop")
    assert dropped.sizes["omega"] == full.sizes["omega"] - 2
    assert "2 frequencies are left out" in dropped.attrs["notes"]
    with pytest.raises(SwelltreeError, match=r"gaps 'fill' is not known"):
        fill_gaps(data, "fill")


@pytest.mark.parametrize("name", ["excitation_force", "added_mass", "radiation_damping"])
def test_compile_refuses_nan_in_place_of_taking_zero(name):
    data = heaving_float()
    data[name].values[(5,) + (0,) * (data[name].ndim - 1)] = np.nan
    body = sw.Body("float", 1e5, (1e6,) * 3)
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], water=WATER_OF_FLOAT)
    with pytest.raises(SwelltreeError, match=f"hydro data: {name} of float__Heave.* is missing"):
        sw.compile(system, data, radiation="none")
    sw.compile(system, complete(data), radiation="none")


def test_compile_refuses_nan_headings_and_stiffness():
    body = sw.Body("float", 1e5, (1e6,) * 3)
    system = sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], water=WATER_OF_FLOAT)
    data = heaving_float()
    with pytest.raises(SwelltreeError, match="heading 1 is nan rad"):
        sw.compile(system, data.assign_coords(wave_direction=[np.nan]), radiation="none")
    data = made_up(bodies=("float",), depth=np.inf)
    system = system.replace(water=sw.Water(rho=RHO, g=G))
    data["hydrostatic_stiffness"].values[0, 1] = np.nan
    with pytest.raises(SwelltreeError, match=r"hydrostatic_stiffness is nan at index \(0, 1\)"):
        sw.compile(system, data, radiation="none")


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["a"], "2 bodies"),
        (["a", "b", "c"], "2 bodies"),
        (["a", "a"], "not all different"),
        ([], "is not a list of names"),
        ("ab", "is not a list of names"),
        (["a", ""], "is not a word"),
        (["a", "b__c"], "is not a word"),
        ({"float": "spar"}, "not all different"),
        ({"flaot": "a"}, "no body 'flaot'. Did you mean 'float'"),
    ],
)
@pytest.mark.parametrize("ending", [".1", ".nc", ".h5"])
def test_wrong_names_are_a_sentence(tmp_path, names, sentence, ending):
    data = made_up()
    if ending == ".1":
        path, options = write_wamit(data, tmp_path), WATER
    else:
        path, options = write_hydro(data, tmp_path / f"data{ending}"), {}
    with pytest.raises(SwelltreeError, match=sentence):
        read_hydro(path, names=names, **options)


def cut(path, last):
    """The file without the rows of its last frequency, which begin with some number."""
    lines = path.read_text().splitlines()
    path.write_text("\n".join(x for x in lines if not x.strip() or not last(x)))


def first_is(value):
    def last(line):
        words = line.split()
        try:
            return bool(np.isclose(float(words[0]), value, rtol=1e-8))
        except ValueError:
            return False

    return last


LAST = 2.0  # rad/s, the highest of made_up


def cut_wamit(folder):
    path = write_wamit(made_up(), folder)
    for ending in (".1", ".3", ".3fk"):
        cut(folder / f"device{ending}", first_is(2 * np.pi / LAST))
    return path, r"device.1' holds 3 of the 4 frequencies that 'device.pot' states"


def cut_forces(folder):
    path = write_wamit(made_up(), folder)
    for ending in (".3", ".3fk"):
        cut(folder / f"device{ending}", first_is(2 * np.pi / LAST))
    return path, r"device.3' holds 3 of the 4 frequencies that 'device.pot' states"


def cut_beside_listing(folder):
    data = made_up()
    path = write_wamit(data, folder)
    (folder / "device.pot").unlink()
    write_listing(data, folder)
    for ending in (".1", ".3", ".3fk"):
        cut(folder / f"device{ending}", first_is(2 * np.pi / LAST))
    return path, r"device.1' holds 3 of the 4 frequencies that 'device.out' states"


def cut_hams(folder):
    path = write_hams(made_up(bodies=("Buoy",)), folder)
    for ending in (".1", ".3", ".3fk"):
        cut(path / "Output" / "Wamit_format" / f"Buoy{ending}", first_is(2 * np.pi / LAST))
    return path, r"Buoy.1' holds 3 of the 4 frequencies that 'ControlFile.in' states"


def cut_nemoh(folder):
    path = write_nemoh(made_up(), folder)
    for name in ("RadiationCoefficients", "ExcitationForce", "FKForce"):
        cut(path / "results" / f"{name}.tec", first_is(LAST))
    return path, r"Coefficients.tec' holds 3 of the 4 frequencies that 'Nemoh.cal' states"


@pytest.mark.parametrize(
    "make",
    [cut_wamit, cut_forces, cut_beside_listing, cut_hams, cut_nemoh],
    ids=lambda f: f.__name__,
)
def test_files_cut_between_two_frequencies_are_named(tmp_path, make):
    path, sentence = make(tmp_path)
    water = {} if make is cut_nemoh else WATER
    with pytest.raises(SwelltreeError, match=sentence):
        read_hydro(path, **water)
    data = read_hydro(path, gaps="drop", **water)
    assert "frequencies that" in data.attrs["notes"]
    finite = data.omega.values[np.isfinite(data.omega.values)]
    assert finite.max() == pytest.approx(1.5, rel=1e-6)


def own_headings(data):
    """Mean drift with its own frequencies and headings, as a file of another run has it."""
    drift = data["mean_drift"].isel(omega=slice(0, -1))
    names = {"omega": "drift_omega", "wave_direction": "drift_direction"}
    data = data.drop_vars("mean_drift")
    return data.assign(mean_drift_own_headings=drift.rename(names))


SECOND = {
    "mean_drift": ("mean", ("omega",)),
    "mean_drift_own_headings": ("mean", ("drift_omega",)),
    "qtf_difference": ("qtf", ("difference_omega_1", "difference_omega_2")),
    "qtf_sum": ("sum", ("sum_omega_1", "sum_omega_2")),
}


@pytest.mark.parametrize("name", SECOND)
@pytest.mark.parametrize("what", ["one value", "all of one pair of waves"])
def test_holes_in_second_order_data_are_named_and_mended_only_when_asked_for(name, what):
    kind, axes = SECOND[name]
    full = shift(drift_data(headings=(0.3, 0.9), second=(kind,)), 40.0, -9.0)
    full = own_headings(full) if name == "mean_drift_own_headings" else full
    data = full.copy(deep=True)
    place = dict(zip(axes, (11, 14), strict=False))
    if what == "one value":
        place |= {"influenced_dof": 4, data[name].dims[-2]: 1}
    data[name][place] = np.nan
    where = r"at omega = 0\.85( and 1)? rad/s"
    sentence = rf"hydro data: {name} of box__\w+ {where}.*, heading \S+ deg is missing"
    with pytest.raises(SwelltreeError, match=sentence):
        fill_gaps(data, "error")
    repaired = fill_gaps(data, "interpolate")
    assert f"{name} is interpolated at 1 frequencies" in repaired.attrs["notes"]
    top = np.abs(full[name]).max()
    error = np.abs(repaired[name] - full[name]).max()
    assert 0 < error < 0.05 * top  # the curve between neighbours 0.05 rad/s to either side
    np.testing.assert_array_equal(repaired[name].where(~data[name].isnull()), data[name])
    dropped = fill_gaps(data, "drop")
    for axis in axes:
        assert dropped.sizes[axis] == full.sizes[axis] - 1
    sw.compile(box_of_drift(), dropped, radiation="none")
    with pytest.raises(SwelltreeError, match=rf"{name} of .* is missing"):
        sw.compile(box_of_drift(), data, radiation="none")


def box_of_drift():
    body = sw.Body("box", MASS, (1e8,) * 3, position=(40.0, -9.0, 0.0))
    return sw.System("s", [body], [sw.Free("f", sw.WORLD, body)], water=sw.Water(rho=1025.0))


def test_second_order_data_of_part_of_the_band_have_no_gaps():
    data = drift_data(headings=(0.3, 0.9), second=("mean", "qtf", "sum"))
    apart = np.abs(OMEGA[:, None] - OMEGA[None])
    for name, far in (("qtf_difference", apart > 0.3), ("qtf_sum", np.tri(OMEGA.size, k=-1) > 0)):
        values = data[name].values.copy()
        values[far] = np.nan
        values[:4] = np.nan
        values[:, :4] = np.nan
        values[..., 3] = np.nan
        data[name] = (data[name].dims, values)
    data["mean_drift"].values[:3] = np.nan
    assert fill_gaps(data, "error") is data


def test_a_row_missing_in_second_order_files_is_named(tmp_path):
    data = made_up(bodies=("box",))
    path = write_wamit(data, tmp_path)
    periods = [2 * np.pi / w for w in data.omega.values if 0 < w < np.inf]
    rows = [
        f"{p:.9f} {q:.9f} 0.0 0.0 {i} 1.0 0.0 {1 + i + p:.6f} {p - q:.6f}"
        for p in periods
        for q in periods
        for i in (1, 3, 5)
    ]
    (tmp_path / "device.12d").write_text("\n".join(rows))
    assert np.isfinite(read_hydro(path, **WATER)["qtf_difference"].values).any()
    lost = [
        r
        for r in rows
        if r.split()[4] != "3"
        or {r.split()[k] for k in (0, 1)} != {rows[6].split()[0], rows[6].split()[1]}
    ]
    assert len(lost) < len(rows)
    (tmp_path / "device.12d").write_text("\n".join(lost))
    with pytest.raises(
        SwelltreeError, match=r"device.12d': qtf_difference of box__Heave at omega = .* and .*"
    ):
        read_hydro(path, **WATER)
