"""Public input files of MoorDyn and OpenFAST: read, described and run, or refused by a sentence."""

import warnings

import numpy as np
import pytest

import swelltree as sw
from support import refdata

REFUSED = {
    "viv/viv.txt": "asks for vortex-induced vibration",
    "md_VIV/moordyn.dat": "asks for vortex-induced vibration",
    # the file of its curves is not among the files
    "syrope/linear_wc/line.txt": "'syrope.dat' is neither a number nor a file",
    # its bathymetry is not among the files
    "Mooring/seafloor.txt": "'Mooring/3D_seafloor/seafloor_profile_3d.txt' is neither a number",
}


def public_files():
    """All of them, without the note on where they are from."""
    folder = refdata("moordyn_inputs")
    return sorted(path for path in folder.rglob("*") if path.suffix in (".txt", ".dat"))


def described(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.SwelltreeWarning)
        return sw.read_moordyn(path).system("s", fairleads_on=sw.WORLD)


def test_all_public_inputs_are_described_but_those_without_our_physics():
    refused = {}
    for path in public_files():
        try:
            assert described(path).water.depth < np.inf
        except sw.SwelltreeError as error:
            refused[str(path)] = str(error)
    assert len(public_files()) == 32
    assert len(refused) == len(REFUSED)
    for path, text in refused.items():
        (sentence,) = [value for name, value in REFUSED.items() if path.endswith(name)]
        assert sentence in text


@pytest.mark.slow
@pytest.mark.parametrize("number", range(32))
def test_described_inputs_run(number):
    """From rest, whatever the place they are described at."""
    path = public_files()[number]
    if any(str(path).endswith(name) for name in REFUSED):
        pytest.skip("refused")
    model = sw.compile(described(path))
    run = sw.simulate(model, duration=2.0, output_step=0.1, progress=False)
    assert run.attrs["result"] == "success"
    # two of the files have rods alone
    names = [name for name in ("position", "fairlead_tension") if name in run]
    assert names
    assert all(np.isfinite(run[name].values).all() for name in names)
