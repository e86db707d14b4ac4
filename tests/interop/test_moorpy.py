"""System files of MoorPy."""

from itertools import pairwise

import pytest

import swelltree as sw
from mutants import bounded
from swelltree.interop.moorpy import read_yaml

DAT = """\
test with two bodies
---------------------- LINE TYPES -----------------------------
Name   Diam   MassDen  EA       BA/-zeta   EI    Cd    Ca   CdAx   CaAx
(-)    (m)    (kg/m)   (N)      (N-s/-)   (-)   (-)   (-)   (-)   (-)
main   0.2   200.00  2.0E+09      -1        0    30    0.27  30     0.20
----------------------- BODIES -----------------------------
ID   Attachment    X0     Y0     Z0     r0      p0     y0     Mass   CG*     I*      Volume   CdA*   Ca*
(#)     (-)        (m)    (m)    (m)   (deg)   (deg)  (deg)   (kg)   (m)   (kg-m^2)  (m^3)   (m^2)  (-)
1     coupled      0.00   0.00   0.00   0.00   0.00   0.00     0.0    0.0   0.0      0.0     0.00  0.00
---------------------- POINTS --------------------------------
Node Type      X         Y         Z     M        V     CdA   CA
(-)  (-)      (m)       (m)       (m)   (kg)     (m^3) (m^2) (-)
1   Fixed   -141.4    -141.4   -100.0     0      0      0     0
2   Body1    -14.14    -14.14   -20.0     0      0      0     0
---------------------- LINES -------------------------------
Line       LineType EndA     EndB    UnstrLen  NumSegs    Flags/Outputs
(-)        (-)      (-)       (-)      (m)       (-)        (-)
1          main      1         2       210.0     40        -
---------------------- SOLVER OPTIONS ------------------------
100      depth
--------------------- need this line ------------------
"""  # noqa: E501
YAML = """\
# a mooring
water_depth: 200   # metres
points:
    - name: anchor1
      type: fixed
      location: [-837.0, 0.0, -200.0]
    - name: fair1
      type: vessel
      location: [-58, 0, -14]
    - {name: knot, type: connection, location: [-300, 0, -150], mass: 2.0e3, volume: 0.5}
lines:
    - name: low
      endA: anchor1
      endB: knot
      type: chain
      length: 600
    - name: high
      endA: knot
      endB: fair1
      type: "chain"
      length: 280.5
line_types:
    - name: chain
      diameter: 0.333
      mass_density: 685.0
      stiffness: 3.27e+09
      breaking_load: 1e8
      transverse_drag: 2.0
      tangential_drag: 0.8
      transverse_added_mass: 0.8
      tangential_added_mass: 0.25
"""


def test_dat_file_is_quasi_static_on_a_rigid_ground(tmp_path):
    (tmp_path / "case.dat").write_text(DAT)
    file = sw.read_moorpy(tmp_path / "case.dat")
    assert file.water == sw.Water(rho=1025.0, g=9.81, depth=100.0)
    body = sw.Body("float", mass=1e6, inertia=(1e8,) * 3)
    system = file.system("s", [body], [sw.Free("f", sw.WORLD, body)])
    assert system.lines[0].model == "quasi_static"
    assert body.at(-14.14, -14.14, -20.0) == system.lines[0].B
    assert system.seabed.stiffness is None
    assert file.parts(body, model="dynamic")["lines"][0].model == "dynamic"


@pytest.mark.parametrize("nested", [False, True])
def test_yaml_file(tmp_path, nested):
    text = YAML
    if nested:
        text = "name: platform\nmooring:\n" + "\n".join("  " + row for row in YAML.splitlines())
    (tmp_path / "sys.yaml").write_text(text)
    file = sw.read_moorpy(tmp_path / "sys.yaml", rho=1000.0)
    body = sw.Body("float", mass=1e6, inertia=(1e8,) * 3, position=(0, 0, -4))
    system = file.system("s", [body], [sw.Free("f", sw.WORLD, body)])
    assert system.water == sw.Water(rho=1000.0, g=9.81, depth=200.0)
    assert [line.rest_length for line in system.lines] == [600.0, 280.5]
    assert body.at(-58, 0, -10) == system.lines[1].B
    assert system.lines[0].B == system.lines[1].A == sw.describe.OnJunction("Point3")
    assert system.junctions[0].mass == 2000.0
    chain = system.line_type("chain")
    assert (chain.EA, chain.breaking_load, chain.Cdn, chain.Cat) == (3.27e9, 1e8, 2.0, 0.25)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("endB: knot", "endB: knut", "'low': endB 'knut' is not among the points. Did you mean"),
        ("type: vessel", "type: vesel", "'fair1': type 'vesel' is not known. Did you mean"),
        ("stiffness: 3.27e+09", "cost: 3", "'chain': 'stiffness' is missing."),
        ("diameter: 0.333", "diameter: wide", "'chain': diameter 'wide' is not a number."),
        ("location: [-58, 0, -14]", "location: [-58, 0]", "is not x, y, z."),
        ("lines:", "ropes:", "'lines' is not a list of items."),
        ("name: low", "name: &low x", "sys.yaml, line 12: anchors and tags are not read."),
        ("points:", "bodies:\n  - name: a\npoints:", "bodies in YAML are not read."),
    ],
)
def test_mistakes_are_told_in_a_sentence(tmp_path, old, new, sentence):
    (tmp_path / "sys.yaml").write_text(YAML.replace(old, new, 1))
    with pytest.raises(sw.SwelltreeError) as error:
        sw.read_moorpy(tmp_path / "sys.yaml")
    assert sentence in str(error.value)


ALIASES = "\n".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]" for a, b in pairwise("abcdefghij"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a:\n  b: 1\n c: 2\n", "line 3: .* Write it as plain YAML"),
        ("a: &a [x, x]\n" + ALIASES, "line 1: anchors and tags are not read"),
        ("a: !!python/object/apply:os.getcwd []", "line 1: anchors and tags are not read"),
        ("a: " + "[" * 100_000, "line 1: lists and maps are more than 20 deep"),
        ("a:\n" + "- " * 100_000, "line 2: lists and maps are more than 20 deep"),
        ("{[1]: 2}", "line 1: found unhashable key"),
        ("a: 2020-99-99", "line 1: month must be in"),
        ("a: \0", "line 1: unacceptable character"),
    ],
    ids=["indent", "aliases", "object", "brackets", "dashes", "key", "date", "NUL"],
)
def test_yaml_that_is_damaged_or_grows_is_an_error(text, sentence):
    with bounded(gigabytes=0.5), pytest.raises(sw.SwelltreeError, match=sentence):
        read_yaml(text, "x")


def test_yaml_without_a_table_is_an_error(tmp_path):
    (tmp_path / "sys.yaml").write_text("just words\n")
    with pytest.raises(sw.SwelltreeError, match="is not a table of line_types"):
        sw.read_moorpy(tmp_path / "sys.yaml")
