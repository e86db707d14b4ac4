"""The public cases of WEC-Sim with hydrodynamic data where their scripts look for them.

The data of RM3, OSWEC and the sphere are written as h5 from what the reference data hold in the
formats of WAMIT and Capytaine; those of other devices are not there.
"""

import shutil
import zipfile

import swelltree as sw
from support import refdata

PLACES = {
    "rm3": ("wecsim/examples/RM3", "applications/_Common_Input_Files/RM3"),
    "oswec": ("wecsim/examples/OSWEC", "applications/_Common_Input_Files/OSWEC"),
    "sphere": ("applications/_Common_Input_Files/Sphere",),
}


def scripts():
    """Input scripts of all cases, from the folder of the reference data."""
    folder = refdata("wecsim_inputs")
    return sorted(path.relative_to(folder) for path in folder.rglob("wecSimInputFile.m"))


def data_of(device):
    """Data of a device with the names of WEC-Sim's files."""
    if device == "rm3":
        path = refdata("bem_rm3", "wamit", "rm3.out")
        return sw.read_hydro(path, names=["float", "spar"], rho=1000.0, check=False)
    if device == "sphere":
        path = refdata("bem_sphere", "iea_oes_task10", "sphere.h5")
        return sw.read_hydro(path, names=["sphere"], check=False)
    path = refdata("bem_oswec", "capytaine", "oswec_hydrodynamics.nc")
    names = {"oswec_flap": "flap", "oswec_base_shift": "base"}
    data = sw.read_hydro(path, names=names, check=False, gaps="drop")
    return data.sel(omega=data["omega"] <= 8.0)  # irregular frequencies above


def case_with_data(root, case, device=None):
    """Copy one case below a folder, with the data of a device; the folder of the case.

    Args:
        root: an empty folder.
        case: folder of the case in the reference data.
        device: "rm3", "oswec" or "sphere".
    """
    folder = root / case
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(refdata("wecsim_inputs", case), folder, copy_function=shutil.copyfile)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    for place in PLACES.get(device, ()):
        (root / place / "hydroData").mkdir(parents=True, exist_ok=True)
        sw.write_hydro(data_of(device), root / place / "hydroData" / f"{device}.h5")
    return folder


def root_of_model(path):
    """The system at the top of a model as text."""
    with zipfile.ZipFile(path) as archive:
        return archive.read("simulink/systems/system_root.xml").decode()
