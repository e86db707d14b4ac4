"""Free rods of MoorDyn files without length or mass: what they do, not only that they read."""

import numpy as np
import pytest

import swelltree as sw

HEAD = """\
--------------------- MoorDyn Input File ---------------------
----------------------- LINE TYPES ------------------------------------------
TypeName   Diam    Mass/m     EA         BA/-zeta    EI         Cd     Ca     CdAx    CaAx
(name)     (m)     (kg/m)     (N)        (N-s/-)     (N-m^2)    (-)    (-)    (-)     (-)
chain      0.1     40.0       5e7        -0.8        0          1.6    1.0    0.05    0.5
wire       0.05    9.0        2e7        -0.8        0          1.6    1.0    0.05    0.5
---------------------- ROD TYPES ------------------------------------
TypeName      Diam     Mass/m    Cd     Ca      CdEnd    CaEnd
(name)        (m)      (kg/m)    (-)    (-)     (-)      (-)
tube          0.4      0         1.0    1.0     0.8      0.5
---------------------- RODS ------------------------------------
ID   RodType  Attachment  Xa    Ya    Za    Xb    Yb    Zb    NumSegs  RodOutputs
(#)  (name)    (#/key)    (m)   (m)   (m)   (m)   (m)   (m)   (-)       (-)
{rods}
---------------------- POINTS --------------------------------
ID    Type      X       Y       Z       Mass   Volume  CdA    Ca
(#)   (-)       (m)     (m)     (m)     (kg)   (m3)    (m^2)  (-)
1     Fixed     -60     12      -50     0      0       0      0
2     Fixed     35      -20     -4      0      0       0      0
3     Fixed     20      50      -50     0      0       0      0
{points}
---------------------- LINES ----------------------------------------
ID   LineType   AttachA  AttachB  UnstrLen  NumSegs  LineOutputs
(#)   (name)     (#)      (#)       (m)       (-)     (-)
{lines}
---------------------- OPTIONS -----------------------------------------
50      WtrDpth
1025    WtrDnsty
9.81    g
------------------------- need this line --------------------------------------
"""
KNOT = "1  tube  Free  -12 3 -30  -12 3 -30  0  -"
FREE = "4  Free  -12 3 -30  0 0 0 0"


def rest(tmp_path, rods, points, *lines):
    path = tmp_path / "lines.txt"
    path.write_text(HEAD.format(rods=rods, points=points, lines="\n".join(lines)))
    system = sw.read_moordyn(path).system("s", fairleads_on=sw.WORLD)
    return sw.equilibrium(sw.compile(system))


@pytest.mark.parametrize("third", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_rod_without_length_joins_lines_as_a_point_without_mass_does(tmp_path, third):
    """Two lines become one of two sections, three meet at a junction."""

    def lines(knot_in, knot_out):
        rows = [f"1 chain 1 {knot_in} 65 5 -", f"2 wire {knot_out} 2 62 4 -"]
        return [*rows, f"3 wire 3 {knot_in} 62 4 -"] if third else rows

    by_rod = rest(tmp_path, KNOT, "", *lines("R1B", "R1A"))
    by_point = rest(tmp_path, "", FREE, *lines("4", "4"))
    anchor, top = (by_point.anchor_tension.values, by_point.fairlead_tension.values)
    assert by_rod.anchor_tension.values[0] == pytest.approx(anchor[0], rel=1e-4)
    assert by_rod.fairlead_tension.values[-1 if third else 0] == pytest.approx(
        top[-1 if third else 1], rel=1e-4
    )


def test_a_rod_without_mass_pulls_with_its_buoyancy(tmp_path):
    """Tethered upright under water, described at a tilt."""
    tilted = "1  tube  Free  -60 12 -32  -58.5 12.4 -26  3  -"
    found = rest(tmp_path, tilted, "", "1 wire 1 R1A 18 4 -")
    length = np.linalg.norm([1.5, 0.4, 6.0])
    lift = 1025.0 * 9.81 * np.pi / 4 * 0.4**2 * length
    assert found.fairlead_tension.values[0] == pytest.approx(lift, rel=1e-4)
    weight = (9.0 - 1025.0 * np.pi / 4 * 0.05**2) * 9.81 * 18.0
    assert found.anchor_tension.values[0] == pytest.approx(lift - weight, rel=1e-3)
    assert found.rotation.values[-1, 2, 2] == pytest.approx(1.0, abs=1e-6)
