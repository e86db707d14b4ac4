"""MoorDyn files: read, put into systems, written, read again."""

import numpy as np
import pytest

import swelltree as sw
from support import refdata

FILES = [
    "moor_analytic/inputs/BeamCantilevered.txt",
    "moor_analytic/inputs/BeamSimplySupported.txt",
    "moor_analytic/inputs/RodHanging.txt",
    "moor_analytic/inputs/RodPinnedFloating.txt",
    "moor_analytic/inputs/lifting.txt",
    "moor_analytic/inputs/pendulum.txt",
    "moor_lowe_langley/line.txt",
    "moor_static_chain/WD0050_Chain.txt",
    "moor_moordyn_f/md_BdyExtLdDmpg/moordyn.dat",
    "moor_moordyn_f/md_horizontal/moordyn.dat",
    "moor_moordyn_f/md_no_line/moordyn.dat",
    "moor_moordyn_f/md_vertical/moordyn.dat",
    "ts_rm3_moored_input/lines_rm3.txt",
    "bem_5sa/setup/lines_5sa.txt",
]
DEPTHS = {"moor_moordyn_f/md_BdyExtLdDmpg/moordyn.dat": 300.0}  # told by the driver
HEAD = """\
--------------------- MoorDyn Input File ---------------------
any words
----------------------- LINE TYPES ------------------------------------------
TypeName   Diam    Mass/m     EA         BA/-zeta    EI         Cd     Ca     CdAx    CaAx
(name)     (m)     (kg/m)     (N)        (N-s/-)     (N-m^2)    (-)    (-)    (-)     (-)
chain      0.2     100.0      {EA}       -0.8        {EI}       1.6    1.0    0.05    0.5
"""
POINTS = """\
---------------------- POINTS --------------------------------
ID    Type      X       Y       Z       Mass   Volume  CdA    Ca
(#)   (-)       (m)     (m)     (m)     (kg)   (m3)    (m^2)  (-)
1     Fixed     -300    0       -50     0      0       0      0   ! the anchor
2     Vessel    -5      0       -2      0      0       0      0
3     Free      -40     0       -10     900    2       1.5    0.7
"""
LINES = """\
---------------------- LINES ----------------------------------------
ID   LineType   AttachA  AttachB  UnstrLen  NumSegs  LineOutputs
(#)   (name)     (#)      (#)       (m)       (-)     (-)
1     chain      1        3         270       30      tp
2     chain      3        2         40        4       -
"""
OPTIONS = """\
---------------------- OPTIONS -----------------------------------------
0.001   dtM       - time step
50      WtrDpth
9.81    g
{more}
------------------------- need this line --------------------------------------
"""


def written(tmp_path, EA="5e8", EI="0", middle="", more="", points=POINTS, lines=LINES):
    text = HEAD.format(EA=EA, EI=EI) + points + lines + middle + OPTIONS.format(more=more)
    path = tmp_path / "lines.txt"
    path.write_text(text)
    return path


def carriers():
    """Two bodies that carry whatever is coupled."""
    one = sw.Body("one", mass=1e5, inertia=(1e6,) * 3, position=(0, 0, -2))
    two = sw.Body("two", 1e5, (1e6,) * 3, position=(3, 0, -2), rotation_deg=(10, 20, 30))
    joints = [sw.Free("j1", sw.WORLD, one), sw.Free("j2", sw.WORLD, two)]
    return [one, two], joints, {"Coupled": one, "Body1": one, "Body2": two}


@pytest.mark.parametrize("name", FILES)
def test_file_is_the_same_after_writing_and_reading(name, tmp_path):
    file = sw.read_moordyn(refdata(name), depth=DEPTHS.get(name))
    (path,) = sw.write_moordyn(file, tmp_path / "again.txt")
    assert sw.read_moordyn(path) == file


@pytest.mark.parametrize("name", FILES)
def test_system_is_the_same_after_writing_and_reading(name, tmp_path):
    file = sw.read_moordyn(refdata(name), depth=DEPTHS.get(name))
    bodies, joints, table = carriers()
    first = file.system("s", bodies, joints, fairleads_on=table)
    free = [body.name for body in first.bodies if body.name.startswith("Body")]

    def again(system):
        sw.write_moordyn(system, tmp_path / "again.txt", free=free)
        file = sw.read_moordyn(tmp_path / "again.txt")
        return file.system("s", bodies, joints, fairleads_on=table)

    second = again(first)
    for field in ("bodies", "joints", "rods", "forces", "moorings", "line_types", "seabed"):
        assert getattr(second, field) == getattr(first, field)
    for a, b in zip(first.lines, second.lines, strict=True):
        assert (a.rest_length, a.segments, a.type) == (b.rest_length, b.segments, b.type)
        for one, two in ((a.A, b.A), (a.B, b.B)):
            np.testing.assert_allclose(first.end_point(one), second.end_point(two), atol=1e-9)
    # now that points are numbered our way nothing changes any more
    assert again(second) == second


def test_mooring_of_rm3_goes_onto_the_spar():
    spar = sw.Body("spar", mass=886691.0, inertia=(9.4e7, 9.4e7, 2.9e7), position=(0, 0, -21.29))
    mooring = sw.read_moordyn(refdata("ts_rm3_moored_input", "lines_rm3.txt"))
    system = sw.System(
        "rm3",
        [spar],
        [sw.Free("free", sw.WORLD, spar)],
        water=mooring.water,
        **mooring.parts(fairleads_on=spar),
    )
    assert len(system.lines) == 6
    # fairleads at radius 3 m, 10 m under water, as the file says from a body at -21.5 m
    ends = np.array([system.end_point(line.B) for line in system.lines[3:]])
    np.testing.assert_allclose(np.linalg.norm(ends[:, :2], axis=1), 3.0, atol=1e-4)
    np.testing.assert_allclose(ends[:, 2], -10.0)
    assert system.lines[3].B.body == "spar"
    chain = system.line_type("Chain")
    assert (chain.Cdn, chain.Can, chain.Cdt, chain.Cat) == (1.6, 1.0, 0.05, 0.0)
    assert chain.damping_ratio == 0.8
    assert (system.seabed.stiffness, system.seabed.damping, system.seabed.depth) == (3e6, 3e5, 70)
    assert [j.mass for j in system.junctions] == [16755.0] * 3


def test_columns_count_not_their_titles():
    # the titles of these files say Can Cat Cdn Cdt, MoorDyn reads Cdn, Can, Cdt, Cat
    file = sw.read_moordyn(refdata("moor_moordyn_f", "md_vertical", "moordyn.dat"))
    (nylon,) = file.line_types
    assert (nylon.Cdn, nylon.Can, nylon.Cdt, nylon.Cat) == (1.0, 0.0, 1.6, 0.05)


def test_point_mass_of_a_file_slides_with_its_loads():
    file = sw.read_moordyn(refdata("moor_moordyn_f", "md_BdyExtLdDmpg", "moordyn.dat"), depth=300.0)
    system = file.system("s")
    assert system.joint("Body1_free").layout().dofs == ("Surge", "Sway", "Heave")
    assert system.force("Body1_load1").force == (104170.0, 5e4, -1e4)
    assert dict(system.force("Body1_load1_drag").damping)["Heave"] == 1e4
    assert dict(system.moorings[0].damping)["Sway"] == 700.0


def test_line_from_a_rod_is_clamped_along_it():
    file = sw.read_moordyn(refdata("moor_analytic", "inputs", "BeamCantilevered.txt"))
    system = file.system("s")
    assert system.lines[0].clamp_A == (0.0, 0.0, 1.0)
    rod = system.rod("Rod1")
    assert rod.end_B == system.lines[0].A
    assert rod.attachment == "fixed"


def test_coupled_points_go_onto_the_body_wherever_its_frame_is(tmp_path):
    bodies, joints, _ = carriers()
    file = sw.read_moordyn(written(tmp_path))
    for body, joint in zip(bodies, joints, strict=True):
        system = file.system("s", [body], [joint])
        assert system.lines[1].B.body == body.name
        np.testing.assert_allclose(system.end_point(system.lines[1].B), (-5, 0, -2), atol=1e-9)
    held = file.parts(sw.WORLD)
    assert sw.WORLD.at(-5, 0, -2) == held["lines"][1].B


def test_damping_and_stiffness_of_files(tmp_path):
    (tmp_path / "rope.dat").write_text("--rope--\nStrain Tension\n(-) (N)\n0 0\n0.1 1e5\n0.2 5e5\n")
    (tmp_path / "bend.dat").write_text("--b--\ncurvature moment\n(1/m) (Nm)\n0 0\n0.1 10\n0.2 20\n")
    (kind,) = sw.read_moordyn(written(tmp_path, EA="rope.dat", EI="bend.dat")).line_types
    assert kind.stretch == ((0.0, 0.0), (0.1, 1e5), (0.2, 5e5))
    assert kind.EA is None
    assert pytest.approx(100.0) == kind.EI
    assert (kind.damping_ratio, kind.BA) == (0.8, None)
    file = sw.read_moordyn(written(tmp_path, EA="rope.dat"))
    paths = sw.write_moordyn(file, tmp_path / "out.txt")
    assert [path.name for path in paths] == ["out.txt", "out_chain.dat"]
    assert sw.read_moordyn(paths[0]) == file


def test_bathymetry_of_both_forms(tmp_path):
    (tmp_path / "c.txt").write_text(
        "2 3\n-10 10\n0 5 9\n"
        + "".join(
            f"{x} {y} {z}\n"
            for x, y, z in [
                (-10, 0, -50),
                (-10, 5, -51),
                (-10, 9, -52),
                (10, 0, -60),
                (10, 5, -61),
                (10, 9, -62),
            ]
        )
    )
    (tmp_path / "f.txt").write_text(
        "--- Bathymetry ---\nnGridX 2\nnGridY 3\n-10 10\n0 50 60\n5 51 61\n9 52 62\n"
    )
    grids = [
        sw.read_moordyn(written(tmp_path, more=f"{name} {word}")).seabed.grid
        for name, word in (("c.txt", "SeafloorFile"), ("f.txt", "WtrDpth"))
    ]
    assert grids[0] == grids[1]
    assert grids[0].depth == ((50.0, 51.0, 52.0), (60.0, 61.0, 62.0))
    file = sw.read_moordyn(written(tmp_path, more="c.txt SeafloorFile"))
    paths = sw.write_moordyn(file, tmp_path / "out.txt")
    assert sw.read_moordyn(paths[0]).seabed.grid == grids[0]


ROPE = "--rope--\nStrain Tension\n(-) (N)\n0 0\n0.1 1e5\n0.2 5e5\n"
POINT_GRID = "2 2\n-10 10\n0 5\n-10 0 -50\n-10 5 -51\n10 0 -60\n10 5 -61\n"
ROW_GRID = "--- Bathymetry ---\nnGridX 2\nnGridY 3\n-10 10\n0 50 60\n5 51 61\n9 52 62\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "sentence"),
    [
        (ROPE, "0.1 1e5", "0.1 1e5x", r"'beside.dat' line 5: in two numbers .*'1e5x' is not a num"),
        (
            ROPE,
            "0.1 1e5",
            "0.1",
            r"'beside.dat' line 5: expected two numbers of strain and tension",
        ),
        (ROPE, "0.1 1e5", "0.1 nan", r"'beside.dat' line 5: .*'nan' is not a finite number"),
        (ROPE, "0.1 1e5", "O.1 1e5", r"'beside.dat' line 5: .*'O.1' is not a number"),
        (ROPE, "0.2 5e5", "0.2 5e400", r"'beside.dat' line 6: .*not a finite number of sensible"),
        (ROPE, "0.1 1e5", "0.3 1e5", r"file 'beside.dat' does not hold strain .* grow from zero"),
        (POINT_GRID, "10 0 -60", "10 0 -6o", r"'beside.dat' line 6: .*'-6o' is not a number"),
        (POINT_GRID, "10 0 -60", "10 0 inf", r"'beside.dat' line 6: .*'inf' is not a finite num"),
        (POINT_GRID, "10 0 -60", "11 0 -60", r"line 6: \(11, 0\) is not on the grid"),
        (POINT_GRID, "10 0 -60", "-10 0 -60", r"line 6: \(-10, 0\) comes twice"),
        (
            POINT_GRID,
            "10 5 -61\n",
            "",
            r"'beside.dat' ends too early: expected the depth at \(10, 5",
        ),
        (POINT_GRID, "0 5\n", "0 5 9\n", r"line 3: expected 2 places, found 3"),
        (ROW_GRID, "5 51 61", "5 51 six", r"'beside.dat' line 6: .*'six' is not a number"),
        (ROW_GRID, "5 51 61", "5 51", r"'beside.dat' line 6: expected y and 2 depths"),
        (ROW_GRID, "9 52 62\n", "", r"'beside.dat' ends too early: expected y and 2 depths"),
        (ROW_GRID, "nGridY 3", "nGridY nan", r"line 3: ngridy 'nan' is not a finite number"),
    ],
)
def test_what_is_wrong_in_files_beside_is_named_with_its_line(tmp_path, text, old, new, sentence):
    (tmp_path / "beside.dat").write_text(text.replace(old, new, 1))
    specified = {"EA": "beside.dat"} if text is ROPE else {"more": "beside.dat SeafloorFile"}
    with pytest.raises(sw.SwelltreeError, match=sentence):
        sw.read_moordyn(written(tmp_path, **specified))


def test_points_of_one_number_are_counted(tmp_path):
    """A public file has two points 1; MoorDyn counts them."""
    path = written(tmp_path, points=POINTS.replace("\n2     Vessel", "\n1     Vessel"))
    file = sw.read_moordyn(path)
    assert [row.id for row in file.points] == ["1", "2", "3"]
    assert any("ID 1 occurs twice" in note for note in file.notes)
    other = tmp_path / "other"
    other.mkdir()
    assert file.points[1].position == sw.read_moordyn(written(other)).points[1].position


def test_failures_release_lines(tmp_path):
    failure = "--- FAILURE ---\nID Point Line(s) FailTime FailTen\n(-) (-) (,) (s) (N)\n"
    failure += "1 2 2 12.5 9e5\n"
    file = sw.read_moordyn(written(tmp_path, middle=failure))
    line = file.parts(sw.WORLD)["lines"][1]
    assert (line.release_time, line.release_tension) == (12.5, 9e5)
    assert line.release_end == "B"
    at_A = failure.replace("1 2 2 12.5", "1 P1 1 12.5")
    line = sw.read_moordyn(written(tmp_path, middle=at_A)).parts(sw.WORLD)["lines"][0]
    assert (line.release_time, line.release_end) == (12.5, "A")
    wrong = failure.replace("1 2 2 12.5", "1 1 2 12.5")
    with pytest.raises(sw.SwelltreeError, match="point 1 is at no end of line 2"):
        sw.read_moordyn(written(tmp_path, middle=wrong)).parts(sw.WORLD)


def test_tables_of_version_1(tmp_path):
    path = tmp_path / "old.txt"
    path.write_text("""\
    MoorDyn v1 sample
    ---------------------- LINE DICTIONARY ----------------------
    LineType  Diam  MassDen  EA  BA/-zeta  Can  Cat  Cdn  Cdt
    (-) (m) (kg/m) (N) (Pa-s/-) (-) (-) (-) (-)
    nylon 0.124 13.76 2515288.0 -0.8 1.0 0.1 1.6 0.05
    ---------------------- NODE PROPERTIES ----------------------
    Node Type X Y Z M V FX FY FZ CdA CA
    (-) (-) (m) (m) (m) (kg) (m^3) (kN) (kN) (kN) (m^2) (-)
    1 Vessel 0 0 -10 0 0 0 0 0 0 0
    2 Fixed 267 0 -70 0 0 0 0 0 0 0
    3 Connect 50 0 -30 5 1 0 0 0 2 0.5
    ---------------------- LINE PROPERTIES ----------------------
    Line LineType UnstrLen NumSegs NodeAnch NodeFair Flags/Outputs
    (-) (-) (m) (-) (-) (-) (-)
    1 nylon 230.0 50 2 3 p
    2 nylon 60.0 10 3 1 p
    ---------------------- SOLVER OPTIONS ----------------------
    70 WtrDpth
    3e6 kb
    ---------------------- need this line ----------------------
    """)
    parts = sw.read_moordyn(path).parts(sw.WORLD)
    (kind,) = parts["line_types"]
    assert (kind.Cdn, kind.Can, kind.Cdt, kind.Cat) == (1.6, 1.0, 0.05, 0.1)
    assert [(x.rest_length, x.segments) for x in parts["lines"]] == [(230.0, 50), (60.0, 10)]
    assert parts["junctions"][0] == sw.Junction("Point3", (50, 0, -30), 5, 1, 2, 0.5)
    assert sw.WORLD.at(267, 0, -70) == parts["lines"][0].A


def test_sections_and_lines_on_lines_are_joined_by_free_points(tmp_path):
    bodies, joints, _ = carriers()
    float_ = bodies[0]
    chain, rope = sw.chain(0.1, name="chain"), sw.polyester(0.1, name="rope")
    parts = [sw.Section(chain, 100.0, segments=10), sw.Section(rope, 60.0, segments=6)]
    main = sw.Line("main", (-200, 0, -50), float_.at(), sections=parts)
    side = sw.Line("side", (-60, 90, -50), sw.OnLine("main", 130.0), 110.0, chain)
    system = sw.System(
        "s",
        bodies,
        joints,
        lines=[main, side],
        water=sw.Water(depth=50),
        seabed=sw.Seabed(friction=0.4),
    )
    sw.write_moordyn(system, tmp_path / "out.txt")
    file = sw.read_moordyn(tmp_path / "out.txt")
    assert [(x.type, x.length, x.segments) for x in file.lines] == [
        ("chain", 100.0, 10),
        ("rope", 30.0, 3),
        ("rope", 30.0, 3),
        ("chain", 110.0, 20),
    ]
    assert file.lines[0].B == file.lines[1].A
    assert file.lines[1].B == file.lines[2].A == file.lines[3].B
    assert file.seabed.friction == 0.4
    assert file.water.g == 9.81


def test_clamped_ends_become_rods_without_length(tmp_path):
    bodies, joints, _ = carriers()
    cable = sw.LineType("cable", 0.1, 30.0, EA=1e8, EI=1e4)
    line = sw.Line(
        "l",
        (-9, 0, -50),
        bodies[1].at(0, 0, -1),
        60.0,
        cable,
        clamp_A=(0, 0, 1),
        clamp_B=(0.6, 0, 0.8),
    )
    system = sw.System("s", bodies, joints, lines=[line], water=sw.Water(depth=50))
    sw.write_moordyn(system, tmp_path / "out.txt")
    file = sw.read_moordyn(tmp_path / "out.txt")
    again = file.parts({"Body1": bodies[1]})["lines"][0]
    np.testing.assert_allclose(again.clamp_A, (0, 0, 1))
    np.testing.assert_allclose(again.clamp_B, (0.6, 0, 0.8), atol=1e-12)
    assert again.B.body == "two"
    np.testing.assert_allclose(again.B.position, (0, 0, -1), atol=1e-9)


def test_notes_say_what_was_left_out(tmp_path):
    file = sw.read_moordyn(written(tmp_path, more="1 WaveKin\n7 Frobnicate"))
    notes = " ".join(file.notes)
    assert "dtM steer MoorDyn itself" in notes
    assert "WaveKin is left out" in notes
    assert "option 'Frobnicate' is not known" in notes


CONTROL = "--- CONTROL ---\nChannelID Line(s)\n() (,)\n1 1\n"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"EA": "5e8|6e8"}, "lines.txt, section 'line types', line 6: EA '5e8|6e8' of line type"),
        ({"EA": "none.dat"}, "'none.dat' is neither a number nor a file that can be read"),
        ({"EA": "-1"}, "line 6: line type 'chain': EA -1.0 N is not positive."),
        ({"points": POINTS.replace("Vessel", "Glued")}, "attachment 'Glued' is not known."),
        ({"points": POINTS.replace("-300", "x")}, "line 10: a coordinate 'x' is not a number."),
        ({"points": POINTS.replace(" 0.7", "")}, "line 12: CdA or Ca is missing"),
        ({"lines": LINES.replace("chain      1", "wire       1")}, "line type 'wire' is not in"),
        ({"lines": LINES.replace("1        3 ", "1        9 ")}, "point '9' is not in the file."),
        ({"lines": LINES.replace("1        3 ", "1        R1A ")}, "rod 1 is not in the file."),
        ({"middle": CONTROL}, "section 'control', line 21: lines paid out by a controller"),
        ({"points": POINTS.replace("Vessel", "Body4")}, "body 4 is not in the file."),
    ],
)
def test_what_does_not_map_is_told_with_its_line(tmp_path, changes, sentence):
    with pytest.raises(sw.SwelltreeError) as error:
        sw.read_moordyn(written(tmp_path, **changes)).parts(sw.WORLD)
    assert sentence in str(error.value)


def test_coupled_things_need_a_body(tmp_path):
    with pytest.raises(
        sw.SwelltreeError, match=r"line 11: this is coupled .* Give fairleads_on=bo"
    ):
        sw.read_moordyn(written(tmp_path)).parts()
    with pytest.raises(sw.SwelltreeError, match="fairleads_on is 3, which is not a body"):
        sw.read_moordyn(written(tmp_path)).parts(3)


def test_files_that_are_none(tmp_path):
    with pytest.raises(sw.SwelltreeError, match=r"cannot be read: No such file .* Did you mean"):
        sw.read_moordyn(written(tmp_path).parent / "line.txt")
    (tmp_path / "poem.txt").write_text("roses are red")
    with pytest.raises(sw.SwelltreeError, match="has no section such as"):
        sw.read_moordyn(tmp_path / "poem.txt")
    with pytest.raises(sw.SwelltreeError, match=r"depth is 60 but the file says 50\.0"):
        sw.read_moordyn(written(tmp_path), depth=60)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ({"lift": 0.4}, "line type 'r': lift 0.4 cannot be written to a MoorDyn file."),
        ({"EA": None}, "line type 'r': has no EA, which MoorDyn needs."),
        ({"name": "a b"}, "a name with spaces cannot be written to a MoorDyn file."),
    ],
)
def test_what_cannot_be_written_is_told(tmp_path, kind, sentence):
    bodies, joints, _ = carriers()
    built = sw.LineType(**({"name": "r", "diameter": 0.1, "mass_per_length": 8, "EA": 1e8} | kind))
    line = sw.Line("l", (-90, 0, -50), bodies[0].at(), 130.0, built, axial="inextensible")
    system = sw.System("s", bodies, joints, lines=[line], water=sw.Water(depth=50))
    with pytest.raises(sw.SwelltreeError, match=sentence):
        sw.write_moordyn(system, tmp_path / "out.txt")
    assert not (tmp_path / "out.txt").exists()


def test_writing_tells_of_winches_and_what_else_stays_behind(tmp_path):
    bodies, joints, _ = carriers()
    rope = sw.LineType("r", diameter=0.1, mass_per_length=8, EA=1e8)
    line = sw.Line("l", (-90, 0, -50), bodies[0].at(), 130.0, rope)
    winch = sw.Winch("w", "l", speed=0.1, drum=150.0)
    system = sw.System("s", bodies, joints, lines=[line], winches=[winch], water=sw.Water(depth=50))
    with pytest.warns(sw.SwelltreeWarning, match="winch 'w' is left out and line 'l' keeps"):
        sw.write_moordyn(system, tmp_path / "out.txt")
    stiff = line.replace(axial="inextensible")
    system = sw.System("s", bodies, joints, lines=[stiff], water=sw.Water(depth=50))
    with pytest.warns(sw.SwelltreeWarning, match="line 'l' is inextensible, but"):
        sw.write_moordyn(system, tmp_path / "out.txt")
