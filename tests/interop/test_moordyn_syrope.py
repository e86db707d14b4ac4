"""Fibre ropes of MoorDyn files with original and working curves."""

import pytest

import swelltree as sw

LINE = """ropes
--- LINE TYPES ---
LineType Diam MassDenInAir EA BA/-zeta EI Cd Ca CdAx CaAx
(-) (m) (kg/m) (-) (-) (-) (-) (-) (-) (-)
poly 0.203 40 SYROPE:syrope.dat|{dynamic}|20 5.0e9|1.0e5 0.0 0.0 0.0 0.0 0.0
--- POINTS ---
Node Type X Y Z M V CdA CA
(-) (-) (m) (m) (m) (kg) (m^3) (m^2) (-)
1 Fixed 0.0 0.0 -5.0 0 0 0 0
2 Coupled {x} 0.0 -5.0 0 0 0 0
--- LINES ---
Line LineType NodeA NodeB UnstrLen NumSegs Outputs
(-) (-) (-) (-) (m) (-) (-)
1 poly 2 1 10.0 2 p
--- SYROPE IC ---
Line(s) Tmax0 Tmean0
(-) (N) (N)
{ic}
--- OPTIONS ---
1025 rho
60 WtrDpth
"""
CURVES = "owc.dat OWC\n{kind} WCType\n{k1} k1\n0.0 k2\n"
OWC = "Strain Tension\n(-) (N)\n0 0\n0.01 6.0e5\n0.02 1.1e6\n0.04 2.1e6\n0.05 4.0e6\n"


def written(folder, x=10.15, ic="1 1.6e6 9.0e5", kind="LINEAR", k1="1.0e8", dynamic="1.6e8"):
    (folder / "owc.dat").write_text(OWC)
    (folder / "syrope.dat").write_text(CURVES.format(kind=kind, k1=k1))
    path = folder / "line.txt"
    path.write_text(LINE.format(x=x, ic=ic, dynamic=dynamic))
    return path


@pytest.mark.filterwarnings("ignore:.*beyond 2.1e.06 N. it rises more steeply")
def test_a_rope_of_the_past_tension_hangs_on_its_working_curve(tmp_path):
    file = sw.read_moordyn(written(tmp_path))
    (line,) = file.lines
    (kind,) = [t for t in file.line_types if t.name == line.type]
    assert kind.EA == 1e8
    assert kind.original_curve[-1] == (0.04, 2.1e6)
    assert kind.max_mean_tension == 1.6e6
    model = sw.compile(file.system("s", fairleads_on=sw.WORLD))
    rest = sw.equilibrium(model)
    # 1.6 MN at 3 % on the original curve; from there down with EA
    assert rest.line_tension.values.mean() == pytest.approx(1.6e6 - 1e8 * (0.03 - 0.015), rel=0.01)
    assert rest.line_permanent_strain.values == pytest.approx(0.03 - 1.6e6 / 1e8, rel=1e-4)


def test_a_curve_that_is_too_steep_is_cut_and_named(tmp_path):
    with pytest.warns(sw.SwelltreeWarning, match=r"line 5: .* beyond 2.1e\+06 N: it rises more"):
        sw.read_moordyn(written(tmp_path))


@pytest.mark.filterwarnings("ignore:.*it rises more steeply")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "EXP"}, "'syrope.dat' line 2: working curves 'EXP' are not modelled"),
        ({"k1": "stiff"}, "'syrope.dat' line 3"),
        ({"ic": "2 1.6e6 9.0e5"}, "line 18: line '2' is not one of a SYROPE type"),
        ({"ic": "1 9.0e6 9.0e5"}, "max_mean_tension 9e.06 N is beyond the original_curve"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path, change, said):
    with pytest.raises(sw.SwelltreeError, match=said):
        sw.read_moordyn(written(tmp_path, **change))
