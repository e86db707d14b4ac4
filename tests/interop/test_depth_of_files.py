"""Mooring files without a depth, and points under the ground."""

import numpy as np
import pytest

import swelltree as sw
from support import refdata

TYPES = """\
----------------------- LINE TYPES ------------------------------------------
TypeName   Diam    Mass/m     EA         BA/-zeta    EI         Cd     Ca     CdAx    CaAx
(name)     (m)     (kg/m)     (N)        (N-s/-)     (N-m^2)    (-)    (-)    (-)     (-)
chain      0.2     100.0      5e8        -0.8        0          1.6    1.0    0.05    0.5
---------------------- POINTS --------------------------------
ID    Type      X       Y       Z       Mass   Volume  CdA    Ca
(#)   (-)       (m)     (m)     (m)     (kg)   (m3)    (m^2)  (-)
"""
LINES = """\
---------------------- LINES ----------------------------------------
ID   LineType   AttachA  AttachB  UnstrLen  NumSegs  LineOutputs
(#)   (name)     (#)      (#)       (m)       (-)     (-)
"""


def file_of(tmp_path, points, lines=(), options=()):
    """A file of points (kind, x, y, z) and lines (A, B, length)."""
    rows = [f"{k} {kind} {x} {y} {z} 0 0 0 0" for k, (kind, x, y, z) in enumerate(points, 1)]
    more = [f"{k} chain {a} {b} {length} 12 -" for k, (a, b, length) in enumerate(lines, 1)]
    text = TYPES + "\n".join(rows) + "\n" + LINES + "\n".join(more)
    text += "\n--- OPTIONS ---\n0.001 dtM\n" + "\n".join(options) + "\n--- need this line ---\n"
    (tmp_path / "lines.txt").write_text(text)
    return tmp_path / "lines.txt"


TWO = [("Fixed", 280, -60, -71.3), ("Vessel", 5, 2, -8)]


def test_depth_is_taken_from_the_anchors_and_said(tmp_path):
    path = file_of(tmp_path, TWO, [(1, 2, 300)])
    with pytest.warns(sw.SwelltreeWarning, match=r"does not give the depth.* 71\.3 m are taken"):
        file = sw.read_moordyn(path)
    assert file.water.depth == 71.3
    assert any("71.3 m are taken" in note for note in file.notes)


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        (
            [*TWO, ("Fixed", 0, 200, -60)],
            r"fixed points lie between z = -71\.3 and -60 m. Give depth",
        ),
        (
            [("Fixed", 0, 0, 3), TWO[1]],
            "has no anchor to take it from. Give depth=..., or depth=inf",
        ),
    ],
)
def test_depth_that_anchors_do_not_tell_is_asked_for(tmp_path, points, sentence):
    path = file_of(tmp_path, points, [(1, 2, 300)])
    with pytest.raises(sw.SwelltreeError, match=sentence):
        sw.read_moordyn(path)
    assert sw.read_moordyn(path, depth=90.0).water.depth == 90.0
    assert np.isinf(sw.read_moordyn(path, depth=np.inf).water.depth)


@pytest.mark.parametrize("kind", ["Fixed", "Vessel", "Free"])
def test_point_below_the_seabed_is_refused_with_its_line(tmp_path, kind):
    path = file_of(tmp_path, [*TWO, (kind, 9, 9, -80)], [(1, 2, 300)], ["71.3 WtrDpth"])
    with pytest.raises(sw.SwelltreeError, match=r"section 'points', line 10: z = -80 m lies below"):
        sw.read_moordyn(path)


def test_rod_below_the_seabed_is_refused_with_its_line(tmp_path):
    path = file_of(tmp_path, TWO, [(1, 2, 300)], ["71.3 WtrDpth"])
    rods = """\
--- ROD TYPES ---
a
b
pipe 0.5 100 1.2 1 0 0
--- RODS ---
a
b
1 pipe Free 10 0 -60 10 0 -75 5 -
"""
    path.write_text(rods + path.read_text())
    with pytest.raises(sw.SwelltreeError, match=r"'rods', line 8: z = -75 m lies below the seabed"):
        sw.read_moordyn(path)


YAML = """\
points:
    - {name: anchor, type: fixed, location: [-837, 0, -200]}
    - {name: fairlead, type: vessel, location: [-58, 0, -14]}
lines:
    - {name: bow, endA: anchor, endB: fairlead, type: chain, length: 835}
line_types:
    - {name: chain, diameter: 0.333, mass_density: 685, stiffness: 3.27e+09}
"""


def test_yaml_of_moorpy_follows_the_same_rules(tmp_path):
    path = tmp_path / "system.yaml"
    path.write_text(YAML)
    with pytest.warns(sw.SwelltreeWarning, match="200 m are taken"):
        assert sw.read_moorpy(path).water.depth == 200.0
    path.write_text("water_depth: 150\n" + YAML)
    with pytest.raises(sw.SwelltreeError, match="'points', 'anchor': z = -200 m lies below the"):
        sw.read_moorpy(path)
    with pytest.raises(sw.SwelltreeError, match=r"depth is 200 but the file says 150\.0"):
        sw.read_moorpy(path, depth=200)


OPENFAST = "moordyn_inputs/r-test/glue-codes/openfast/"
PUBLIC = {
    "5MW_OC3Spar_DLL_WTurb_WavesIrr/NRELOffshrBsline5MW_OC3Hywind_MoorDyn.dat": 320.0,
    "5MW_OC4Semi_WSt_WavesWN/NRELOffshrBsline5MW_OC4DeepCwindSemi_MoorDyn.dat": 200.0,
    "5MW_ITIBarge_DLL_WTurb_WavesIrr/NRELOffshrBsline5MW_ITIBarge4_MoorDyn.dat": 150.0,
}


@pytest.mark.parametrize("name", PUBLIC)
def test_lines_of_openfast_lie_on_the_ground_of_their_anchors(name):
    """The depths are those of the published platforms; in deep water lines hang below."""
    with pytest.warns(sw.SwelltreeWarning, match="does not give the depth"):
        file = sw.read_moordyn(refdata(OPENFAST + name))
    assert file.water.depth == PUBLIC[name]
    (reported,) = {line.A for line in file.lines if line.id == "1"}
    assert next(p for p in file.points if p.id == reported).position[2] == -PUBLIC[name]


GROUND = sw.LineType("rope", diameter=0.1, mass_per_length=20.0, EA=1e7)
FLOAT = sw.Body("float", mass=1e5, inertia=(1e6,) * 3, position=(0, 0, -2))


@pytest.mark.parametrize("model", ["dynamic", "quasi_static", "multibody", "lumped"])
@pytest.mark.parametrize(
    ("bed", "level"),
    [
        (sw.Seabed(depth=50.0), -50),
        (sw.Seabed(depth=50.0, slope=(0.05, -0.02)), -62),
        (sw.Seabed(grid=sw.DepthGrid((-300, 300), (-9, 9), ((80, 80), (20, 20)))), -70),
    ],
)
def test_anchor_under_the_ground_is_refused_in_every_theory(model, bed, level):
    line = sw.Line("bow", (-200, 100, level - 1), FLOAT.at(), 230.0, GROUND, model=model)
    with pytest.raises(
        sw.SwelltreeError, match=rf"line 'bow': its end A at z = {level - 1} m .* is at {level} m"
    ):
        sw.System("s", [FLOAT], lines=[line], seabed=bed)


def test_junctions_fairleads_and_rods_under_the_ground_are_refused():
    water = sw.Water(depth=50.0)
    below = sw.Line("bow", (-200, 0, -50), FLOAT.at(0, 0, -60), 230.0, GROUND)
    with pytest.raises(sw.SwelltreeError, match="line 'bow': its end B at z = -62 m lies below"):
        sw.System("s", [FLOAT], lines=[below], water=water)
    knot = sw.Junction("knot", (-90, 0, -55))
    lines = [
        sw.Line("low", (-200, 0, -50), knot, 130.0, GROUND),
        sw.Line("high", knot, FLOAT.at(), 130.0, GROUND),
    ]
    with pytest.raises(sw.SwelltreeError, match="end B at z = -55 m lies below the seabed"):
        sw.System("s", [FLOAT], lines=lines, junctions=[knot], water=water)
    rod = sw.Rod("pipe", (0, 0, -20), (5, 0, -51), 0.5, 300.0)
    with pytest.raises(sw.SwelltreeError, match="rod 'pipe': its end B at z = -51 m lies below"):
        sw.System("s", rods=[rod], water=water)
