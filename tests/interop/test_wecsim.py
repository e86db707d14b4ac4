"""Cases of WEC-Sim as case files: all public ones, and small ones in general position."""

import math
import re

import numpy as np
import pytest

import swelltree as sw
from interop.wecsim_folder import case_with_data, data_of, scripts
from made_wecsim import (
    GROUND,
    PENDULUM,
    PENDULUM_BLOCKS,
    PENDULUM_LINES,
    STILL,
    dry_body,
    write_case,
    write_pendulum,
)
from support import refdata

# cases whose data are among the reference data, and what has no counterpart in them
DEVICES = {
    "Body-to-Body_Interactions/B2B_Case1": "rm3",
    "Body-to-Body_Interactions/B2B_Case4": "rm3",
    "End_Stops": "rm3",
    "Multiple_Condition_Runs/RM3_MCROPT1": "rm3",
    "Mooring/MoorDyn": "rm3",
    "Mooring/MooringMatrix": "rm3",
    "PTO-Sim/RM3/RM3_cHydraulic_PTO": "rm3",
    "Controls/Latching": "sphere",
    "Free_Decay/1m": "sphere",
    "Multiple_Wave_Headings": "oswec",
    "Nonhydro_Body": "oswec",
    "Passive_Yaw/PassiveYawON": "oswec",
    "examples/OSWEC": "oswec",
    "examples/RM3": "rm3",
    "RegularWaves/regular": "rm3",
    "RegularWaves/regularCIC": "rm3",
    "RegularWaves/regularSS": "rm3",
    "IrregularWaves/irregularCIC": "rm3",
    "IrregularWaves/irregularSpread_OSWEC": "oswec",
}
LEFT = {
    "Controls/Latching": (
        "wecSimInputFile.m:11: simu.mcrMatFile",
        "block 'Translational PTO Actuation Force'",
        "wecSimInputFile.m:36: controller(1)",
        "block 'Latching Controller': is control logic",
    ),
    "End_Stops": ("wecSimInputFile.m:51: pto(1).hardStops",),
    "Mooring/MoorDyn": ("wecSimInputFile.m:14: the file 'etaData.mat' is not there",),
    "Mooring/MooringMatrix": ("wecSimInputFile.m:14: the file 'etaData.mat' is not there",),
    "PTO-Sim/RM3/RM3_cHydraulic_PTO": (
        "block 'Translational PTO Actuation Force1'",
        *(f"wecSimInputFile.m:{k}: ptoSim" for k in (45, 55, 69, 74, 79, 88)),
        "block 'PTO-Sim': is a PTO-Sim machine",
    ),
    # their data are nowhere
    "Generalized_Body_Modes": ("block 'Flex Body': the flexible modes", "'hydroData/barge.h5'"),
    "Morison_Element/monopile": ("wecSimInputFile.m:40: the hydrodynamic data",),
    "Nonlinear_Hydro/ode4/Regular": (
        "wecSimInputFile.m:19: the hydrodynamic data",
        "wecSimInputFile.m:23: body(1): the mesh",
    ),
}


def known(table, path):
    """The entry of a case by the end of its folder."""
    found = [value for end, value in table.items() if str(path).endswith(end)]
    return found[0] if found else None


def public_cases():
    return [path.parent.as_posix() for path in scripts()]


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    """Data of the devices, as files."""
    folder = tmp_path_factory.mktemp("data")
    return {
        device: sw.write_hydro(data_of(device), folder / f"{device}.h5")
        for device in ("rm3", "oswec", "sphere")
    }


def test_all_public_cases_come_whole_or_with_a_list(tmp_path, devices):
    cases = public_cases()
    assert len(cases) == 22
    for case in cases:
        device = known(DEVICES, case)
        found = sw.read_wecsim(
            refdata("wecsim_inputs", case),
            hydro=devices[device] if device else None,
            out=tmp_path,
        )
        requested = known(LEFT, case) or ()
        reported = [str(item) for item in found.left]
        assert len(reported) == len(requested), (case, reported)
        for part in requested:
            assert any(part in text for text in reported), (case, part, reported)
        # each with file and line: of the script, or of the XML of the model
        for item in found.left:
            assert re.match(r"wecSimInputFile\.m:\d+$|\w+\.slx, \w+\.xml:\d+, block ", item.place)
        if device:
            assert found.case.studies, case
            assert found.case.system.bodies, case
        else:
            assert any(item.missing for item in found.left)


def test_without_data_the_case_names_the_file_and_says_so(tmp_path):
    for case in public_cases():
        found = sw.read_wecsim(refdata("wecsim_inputs", case), out=tmp_path)
        assert any(item.missing and "not there" in item.sentence for item in found.left), case
        assert "hydroData" in found.text
        assert 'com = "unknown' in found.text
        with pytest.raises(sw.SwelltreeError, match="unknown until the hydro"):
            _ = found.case


def test_joints_of_rm3_are_those_of_its_model(devices):
    """The same script, two models: in the regression tests the spar only heaves."""
    for case, joint in (
        ("examples/RM3", "planar"),
        ("tests/RegressionTests/RegularWaves/regular", "slider"),
    ):
        found = sw.read_wecsim(refdata("wecsim_inputs", "wecsim", case), hydro=devices["rm3"])
        ground, guide = found.case.system.joints
        assert (ground.type, ground.base.body, ground.follower.body) == (joint, "world", "spar")
        assert (guide.type, guide.base.body, guide.follower.body) == ("slider", "float", "spar")


def test_displaced_masses_and_centres_come_from_the_data(devices):
    found = sw.read_wecsim(refdata("wecsim_inputs", "wecsim", "examples/RM3"), hydro=devices["rm3"])
    buoy, spar = found.case.system.bodies
    assert (buoy.mass, spar.mass) == (pytest.approx(725_834.0), pytest.approx(886_691.0))
    assert (buoy.com, spar.com) == ((0.0, 0.0, -0.72), (0.0, 0.0, -21.29))
    assert found.case.hydro.radiation == "constant"
    assert not found.case.hydro.coupling
    case = refdata("wecsim_inputs", "applications/Body-to-Body_Interactions/B2B_Case4")
    assert sw.read_wecsim(case, hydro=devices["rm3"]).case.hydro.coupling


def test_spread_of_directions_keeps_the_energy_of_the_sea(devices):
    case = refdata("wecsim_inputs", "wecsim", "examples/OSWEC")
    (study,) = sw.read_wecsim(case, hydro=devices["oswec"]).case.studies
    trains = study.sea.trains
    assert [math.degrees(t.beta) for t in trains] == pytest.approx([0, 30, 90])
    assert sum(t.spectrum.Hs**2 for t in trains) == pytest.approx(2.5**2)


def test_conditions_become_studies_and_settings_become_case_files(devices, tmp_path):
    case = refdata("wecsim_inputs", "applications/Multiple_Condition_Runs/RM3_MCROPT1")
    found = sw.read_wecsim(case, hydro=devices["rm3"], out=tmp_path)
    cases = [sw.loads(text, folder=tmp_path) for text in found.texts.values()]
    assert [c.system.ptos[0].damping for c in cases] == [1.2e6, 2.4e6]
    waves = [(s.sea.height, s.sea.period) for s in cases[1].studies]
    assert waves == [(1.5, 6.0), (1.5, 8.0), (2.5, 6.0), (2.5, 8.0)]


def test_a_table_of_conditions_sets_what_its_header_names(tmp_path):
    savemat = pytest.importorskip("scipy.io").savemat
    script = (
        PENDULUM.replace("noWaveCIC", "regularCIC")
        + "waves.height = 1;\nwaves.period = 5;\nsimu.mcrMatFile = 'mcr.mat';\n"
    )
    folder = write_case(tmp_path, script, PENDULUM_BLOCKS, PENDULUM_LINES)
    header = np.array(["waves.height", "waves.period", "pto(1).damping"], dtype=object)
    rows = np.array([[1.0, 6.0, 10.0], [2.0, 6.0, 10.0], [2.0, 7.0, 30.0]])
    savemat(folder / "mcr.mat", {"mcr": {"header": header, "cases": rows}}, do_compression=True)
    found = sw.read_wecsim(folder)
    assert found.is_complete
    first, second = (sw.loads(text) for text in found.texts.values())
    assert [(s.sea.height, s.sea.period) for s in first.studies] == [(1, 6), (2, 6)]
    assert [(s.sea.height, s.sea.period) for s in second.studies] == [(2, 7)]
    assert [c.system.ptos[0].damping for c in (first, second)] == [10, 30]
    savemat(folder / "mcr.mat", {"mcr": {"header": header[:2], "cases": rows}})
    assert "does not fit" in str(sw.read_wecsim(folder).left[0])


def test_moordyn_lines_hang_on_the_body_where_it_begins(devices, tmp_path):
    """The spar begins 0.21 m low, and the file tells its places with the spar there."""
    case = refdata("wecsim_inputs", "applications/Mooring/MoorDyn")
    system = sw.read_wecsim(case, hydro=devices["rm3"], out=tmp_path).case.system
    assert len(system.lines) == 6
    assert len(system.junctions) == 3
    ends = [line.B.position for line in system.lines if getattr(line.B, "body", "") == "spar"]
    assert [z + 21.29 for _, _, z in ends] == pytest.approx([11.5] * 3)
    assert dict(system.joint("Constraint1").position) == {"Heave": -0.21}


def test_mooring_matrix_holds_the_place_it_is_given_at(devices, tmp_path):
    """100 kN/m in surge at the origin, 21.29 m above the spar's centre."""
    case = refdata("wecsim_inputs", "applications/Mooring/MooringMatrix")
    (mooring,) = sw.read_wecsim(case, hydro=devices["rm3"], out=tmp_path).case.system.moorings
    K = np.array(mooring.stiffness)
    for surge, pitch in ((1.0, 0.0), (0.0, 1.0), (0.3, -0.2)):
        xi = np.array([surge, 0, 0, 0, pitch, 0])
        at_origin = surge + 21.29 * pitch
        force = np.array([1e5 * at_origin, 0, 0, 0, 21.29 * 1e5 * at_origin, 0])
        np.testing.assert_allclose(K @ xi, force, rtol=1e-12, atol=1e-6)


def test_mooring_matrix_counts_from_where_the_body_begins(tmp_path):
    """Anywhere on a body that begins displaced and turned, the mooring does not pull at first."""
    rng = np.random.default_rng(11)
    c, d, place, axis = rng.normal(size=(4, 3))
    K = rng.normal(size=(6, 6))

    def rows(values):
        return "[" + "; ".join(" ".join(repr(float(x)) for x in row) for row in values) + "]"

    more = (
        f"body(1).initial.displacement = {rows([d])};\nbody(1).initial.axis = {rows([axis])};\n"
        "body(1).initial.angle = 0.4;\n"
    )
    script = (
        STILL
        + dry_body(1, center=c, more=more)
        + "constraint(1) = constraintClass('c');\nconstraint(1).location = [0 0 0];\n"
        + f"mooring(1) = mooringClass('m');\nmooring(1).location = {rows([place])};\n"
        + f"mooring(1).matrix.stiffness = {rows(K)};\n"
    )
    blocks = {
        1: GROUND,
        2: ("Constraints/Floating (6DOF)", "constraint", "constraint(1)"),
        3: ("Body Elements/Rigid Body", "body", "body(1)"),
        4: ("Moorings/MooringMatrix", "mooring", "mooring(1)"),
    }
    lines = [["1r", "2l"], ["2r", "3r", "4l"]]
    found = sw.read_wecsim(write_case(tmp_path, script, blocks, lines))
    assert found.is_complete, found.left
    (mooring,) = found.case.system.moorings
    turn = 0.4 * axis / np.linalg.norm(axis)
    start = np.concatenate([d, turn])
    pull = np.array(mooring.pretension) - np.array(mooring.stiffness) @ start
    np.testing.assert_allclose(pull, 0.0, atol=1e-9)


def test_data_are_rescaled_to_the_density_of_the_run(tmp_path):
    folder = case_with_data(tmp_path, "applications/Free_Decay/1m", "sphere")
    script = folder / "wecSimInputFile.m"
    script.write_text(script.read_text() + "\nsimu.rho = 1025;\n")
    found = sw.read_wecsim(folder)
    found.write()
    case = sw.load(folder / "sphere.toml")
    assert case.system.bodies[0].mass == pytest.approx(1025 * 261.724, rel=1e-5)
    data = sw.read_hydro(case.hydro.file, check=False)
    theirs = data_of("sphere")
    heave = {"influenced_dof": "sphere__Heave", "radiating_dof": "sphere__Heave"}
    ratio = data["added_mass"].sel(heave) / theirs["added_mass"].sel(heave)
    np.testing.assert_allclose(ratio.values, 1.025, rtol=1e-12)
    assert float(data["rho"]) == case.system.water.rho == 1025.0


# small cases


def random_axes(rng):
    z, y = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
    return z, y


@pytest.mark.parametrize("seed", range(2))
def test_bodies_begin_where_wecsim_puts_them(tmp_path, seed):
    """A hinge anywhere in any direction, its body turned about it; then a slider on that body."""
    rng = np.random.default_rng(seed)
    z, y = random_axes(rng)
    z2, y2 = random_axes(rng)
    place, place2, c1, c2 = rng.normal(size=(4, 3)) * 3.0
    angle, slide = map(float, rng.uniform(-1, 1, 2))

    def row(v):
        return "[" + " ".join(repr(float(x)) for x in v) + "]"

    axis_angle = row([*y, angle])
    turn = f"body(1).setInitDisp({row(c1 - place)}, {axis_angle}, [0 0 0]);\n"
    R = rotation(y, angle)
    moved = R @ (c2 - place) + place + slide * (R @ z2) - c2
    second = (
        f"body(2).initial.displacement = {row(moved)};\n"
        f"body(2).initial.axis = {row(y)};\nbody(2).initial.angle = {angle!r};\n"
    )
    script = (
        STILL
        + dry_body(1, center=c1, more=turn)
        + dry_body(2, center=c2, more=second)
        + f"constraint(1) = constraintClass('c');\nconstraint(1).location = {row(place)};\n"
        + f"constraint(1).orientation.z = {row(z)};\nconstraint(1).orientation.y = {row(y)};\n"
        + f"pto(1) = ptoClass('p');\npto(1).location = {row(place2)};\npto(1).stiffness = 5;\n"
        + f"pto(1).orientation.z = {row(z2)};\npto(1).orientation.y = {row(y2)};\n"
    )
    blocks = {
        1: GROUND,
        2: ("Constraints/Rotational", "constraint", "constraint(1)"),
        3: ("Body Elements/Rigid Body", "body", "body(1)"),
        4: ("PTOs/Translational PTO", "pto", "pto(1)"),
        5: ("Body Elements/Rigid Body", "body", "body(2)"),
    }
    folder = write_case(tmp_path, script, blocks, [["1r", "2l"], ["2r", "3r", "4l"], ["4r", "5r"]])
    found = sw.read_wecsim(folder)
    assert found.is_complete, found.left
    system = found.case.system
    assert dict(system.joint("c").position) == {"Pitch": pytest.approx(angle)}
    assert dict(system.joint("p_slider").position) == {"Heave": pytest.approx(slide)}
    assert system.ptos[0].rest == pytest.approx(slide)  # the spring is slack in the start
    run = sw.simulate(sw.compile(system), times=[0.0, 1e-4], progress=False)
    begin = run["position"].isel(time=0)
    np.testing.assert_allclose(
        begin.sel(body="part1", dof=["Surge", "Sway", "Heave"]), R @ (c1 - place) + place, atol=1e-9
    )
    np.testing.assert_allclose(
        begin.sel(body="part2", dof=["Surge", "Sway", "Heave"]), c2 + moved, atol=1e-9
    )


def rotation(axis, angle):
    K = np.cross(np.eye(3), np.asarray(axis) / np.linalg.norm(axis))  # K v = axis x v
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def test_a_start_that_a_joint_does_not_allow_is_told(tmp_path):
    more = "body(1).initial.displacement = [0.5 0 0];\n"
    script = STILL + dry_body(1, more=more) + "constraint(1) = constraintClass('c');\n"
    blocks = {
        1: GROUND,
        2: ("Constraints/Translational", "constraint", "constraint(1)"),
        3: ("Body Elements/Rigid Body", "body", "body(1)"),
    }
    found = sw.read_wecsim(write_case(tmp_path, script, blocks, PENDULUM_LINES))
    assert "0.5 (m, rad) off what the joint" in str(found.left[0])


@pytest.mark.slow
def test_two_joints_in_a_row_get_a_body_without_mass(tmp_path):
    """A slider on a hinge: a pendulum whose length may change."""
    script = (
        STILL
        + dry_body(1, center=(0.0, 0.0, -2.0))
        + "constraint(1) = constraintClass('turn');\nconstraint(1).location = [0 0 0];\n"
        + "pto(1) = ptoClass('reach');\npto(1).location = [0 0 0];\npto(1).stiffness = 1e4;\n"
    )
    blocks = {
        1: GROUND,
        2: ("Constraints/Rotational", "constraint", "constraint(1)"),
        3: ("PTOs/Translational PTO", "pto", "pto(1)"),
        4: ("Body Elements/Rigid Body", "body", "body(1)"),
    }
    lines = [["1r", "2l"], ["2r", "3l"], ["3r", "4r"]]
    system = sw.read_wecsim(write_case(tmp_path, script, blocks, lines)).case.system
    assert [(b.name, b.mass) for b in system.bodies] == [("part1", 1000.0), ("frame1", 0.0)]
    assert [(j.base.body, j.follower.body) for j in system.joints] == [
        ("world", "frame1"),
        ("frame1", "part1"),
    ]
    rest = sw.equilibrium(sw.compile(system))
    # the spring carries the weight
    heave = float(rest["position"].sel(body="part1", dof="Heave"))
    assert heave == pytest.approx(-2.0 - 1000.0 * 9.81 / 1e4, rel=1e-6)


def test_a_fixed_constraint_without_a_body_is_the_frame_it_is_fixed_to(tmp_path):
    script = (
        PENDULUM + "constraint(1) = constraintClass('bed');\nconstraint(1).location = [0 0 -9];\n"
    )
    blocks = PENDULUM_BLOCKS | {4: ("Constraints/Fixed", "constraint", "constraint(1)")}
    lines = [["1r", "4l"], ["4r", "2r"], ["2l", "3r"]]
    found = sw.read_wecsim(write_case(tmp_path, script, blocks, lines))
    assert found.is_complete
    (hinge,) = found.case.system.joints
    assert (hinge.base.body, hinge.follower.body) == ("part1", "world")


def test_a_cable_pulls_and_never_pushes(tmp_path):
    script = (
        STILL
        + dry_body(1, center=(0.0, 0.0, -4.0))
        + "constraint(1) = constraintClass('top');\nconstraint(1).location = [0 0 0];\n"
        + "constraint(2) = constraintClass('bottom');\nconstraint(2).location = [0 0 -3];\n"
        + "cable(1) = cableClass('rope','constraint(1)','constraint(2)');\n"
        + "cable(1).stiffness = 1e5;\ncable(1).preTension = 2e4;\n"
    )
    blocks = {
        1: GROUND,
        2: ("Constraints/Floating (6DOF)", "constraint", "constraint(2)"),
        3: ("Body Elements/Rigid Body", "body", "body(1)"),
        4: ("Body Elements/Rigid Body", "body", "body(2)"),
        5: ("Constraints/Fixed", "constraint", "constraint(1)"),
        6: ("Cables/Cable", "cable", "cable(1)"),
    }
    script += dry_body(2)
    lines = [["1r", "2l", "5l"], ["2r", "3r"], ["5r", "4r"]]
    found = sw.read_wecsim(write_case(tmp_path, script, blocks, lines))
    assert found.is_complete, found.left
    (rope,) = found.case.system.forces
    assert rope.tension_only
    assert rope.rest_length == pytest.approx(3.0 - 2e4 / 1e5)
    assert {rope.a.body, rope.b.body} == {"part1", "part2"}


def test_stops_drag_and_damping_keep_their_units(tmp_path):
    more = (
        "body(1).quadDrag.cd = [1 0 2 0 0 0];\nbody(1).quadDrag.area = [3 0 5 0 0 0];\n"
        "body(1).linearDamping = [0 0 0 0 7 0];\n"
    )
    stops = (
        "pto(1).hardStops.upperLimitSpecify = 'on';\npto(1).hardStops.upperLimitBound = 30;\n"
        "pto(1).hardStops.upperLimitStiffness = 10;\npto(1).hardStops.upperLimitDamping = 0;\n"
        "pto(1).equilibriumPosition = 10;\npto(1).stiffness = 40;\n"
    )
    script = PENDULUM + more + stops + "simu.rho = 1025;\nsimu.b2b = 0;\n"
    found = sw.read_wecsim(write_case(tmp_path, script, PENDULUM_BLOCKS, PENDULUM_LINES))
    system = found.case.system
    drag = dict(system.forces[0].damping)
    assert drag == {"Surge": 0.5 * 1025 * 3, "Heave": 0.5 * 1025 * 10}
    assert dict(system.moorings[0].damping) == {"Pitch": 7.0}
    (pto,) = system.ptos
    assert pto.stiffness == 40
    assert pto.rest == pytest.approx(np.radians(10))
    # degrees there, radians here; the stop counts from the rest of the spring
    assert pto.upper == pytest.approx(np.radians(20))
    assert pto.stop_stiffness == pytest.approx(10 * 180 / np.pi)


def test_older_words_mean_the_same(tmp_path):
    new = (
        PENDULUM
        + "simu.rampTime = 7;\nwaves = waveClass('regularCIC');\n"
        + "waves.height = 2;\nwaves.period = 9;\n"
    )
    old = (
        new.replace("rampTime", "rampT")
        .replace("waves.height", "waves.H")
        .replace("waves.period", "waves.T")
        .replace("centerGravity", "cg")
        .replace("inertia", "momOfInertia")
        .replace(".location", ".loc")
        .replace(".damping", ".c")
        .replace("nonHydro", "nhBody")
        .replace(".volume", ".dispVol")
    )
    found = [
        sw.read_wecsim(write_case(tmp_path / name, script, PENDULUM_BLOCKS, PENDULUM_LINES))
        for name, script in (("new", new), ("old", old))
    ]
    assert found[0].text == found[1].text
    assert found[0].is_complete
    assert found[0].case.studies[0].sea.ramp == 7.0


def test_fields_that_nobody_reads_are_told_with_their_line(tmp_path):
    folder = write_pendulum(tmp_path)
    script = folder / "wecSimInputFile.m"
    script.write_text(
        script.read_text() + "body(1).QTFs = 1;\nx = load('y');\nsimu.mode = 'normal';\n"
    )
    count = len(script.read_text().splitlines())
    reported = [str(item) for item in sw.read_wecsim(folder).left]
    assert reported == [
        f"wecSimInputFile.m:{count - 1}: not read: 'load' is not known here.",
        f"wecSimInputFile.m:{count - 2}: body(1).QTFs is not translated and left out.",
    ]


def test_case_text_reads_back_as_the_same_case(tmp_path):
    found = sw.read_wecsim(write_pendulum(tmp_path))
    case = found.case
    assert sw.loads(case.to_toml()).system == case.system
    assert "# pto(1), block 'Rotational PTO'" in found.text


def test_a_recorded_sea_is_kept_beside_the_case(tmp_path):
    savemat = pytest.importorskip("scipy.io").savemat
    script = PENDULUM.replace("noWaveCIC", "elevationImport") + "waves.elevationFile = 'eta.mat';\n"
    folder = write_case(tmp_path, script, PENDULUM_BLOCKS, PENDULUM_LINES)
    t = np.arange(0.0, 5.0, 0.1)
    savemat(folder / "eta.mat", {"eta": np.stack([t, np.sin(t)], axis=1)})
    found = sw.read_wecsim(folder)
    assert found.is_complete, found.left
    written = found.write()
    assert {path.name for path in written} == {"model.toml", "model_eta.txt"}
    (study,) = sw.load(folder / "model.toml").studies
    time, eta = sw.read_record(study.sea.file)
    np.testing.assert_array_equal(eta, np.sin(t))
    np.testing.assert_array_equal(time, t)
