"""Whole small files of every format that is read, to be damaged; and what reading them gives."""

import gzip
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.stats  # noqa: F401  # which samples need: its import is none of a reader's time
import xarray as xr

import swelltree as sw
from hydro.samples import (
    made_up,
    write_aqwa,
    write_hams,
    write_listing,
    write_nemoh,
    write_wamit,
)
from mutants import damage_bytes, damage_hdf5, damage_text, outcome
from support import ROOT, refdata
from swelltree.campaigns.cases import case_table
from swelltree.campaigns.file import read_campaign
from swelltree.hydro.data.write import write_hydro
from swelltree.hydro.readers.read import read_hydro

WATER = {"rho": 1025.0, "g": 9.81}
STATED = ("added_mass", "radiation_damping", "excitation_force", "hydrostatic_stiffness")


@dataclass
class Reader:
    """A format: how a whole file is made, damaged and read, and when data are finite."""

    name: str
    make: Any
    read: Any
    finite: Any
    damage: Any = damage_text
    quick: int = 100  # damaged files among the quick tests


def finite_hydro(data: xr.Dataset) -> str:
    """What of hydrodynamic data is not finite, or nothing."""
    for name in (*STATED, "Froude_Krylov_force", "inertia_matrix", "wave_direction", "rho", "g"):
        if name in data.variables and not np.isfinite(data[name].values).all():
            return name
    omega, depth = data["omega"].values, float(data["water_depth"])
    if np.isnan(omega).any() or (omega < 0).any() or (np.diff(omega) <= 0).any():
        return f"omega {omega}"
    if not depth > 0 or not float(data["rho"]) > 0 or not float(data["g"]) > 0:
        return f"depth {depth}, rho {float(data['rho'])}, g {float(data['g'])}"
    for name in ("rotation_center", "center_of_mass", "center_of_buoyancy", "displaced_volume"):
        for value in data[name].values:
            if np.isinf(value).any() or (np.isnan(value).any() and not np.isnan(value).all()):
                return name
    return ""


def finite_record(found: Any) -> str:
    time, eta = found
    good = np.isfinite(time).all() and np.isfinite(eta).all() and (np.diff(time) > 0).all()
    return "" if good else "record"


def finite_system(system: Any) -> str:
    return "nan" if re.search(r"\bnan\b", repr(system.table())) else ""


def finite_page(text: str) -> str:
    """Pages hold no bare NaN: JSON refuses it when it is written."""
    return "" if text.startswith("<!") or "<html" in text[:500].lower() else "page"


def _wamit(folder: Path) -> Path:
    data = made_up(n_omega=3, headings=(0.0, 0.5))
    path = write_wamit(data, folder)
    t = 2 * np.pi / data.omega.values[1:4]
    rows = [f"{p:.12e} 0.0 0.0 {i} 2.0 0.0 2.0 0.0" for p in t for i in range(1, 13)]
    (folder / "device.9").write_text("\n".join(rows))
    pairs = [(p, q) for k, p in enumerate(t) for q in t[k:]]
    for ending in (".12d", ".12s"):
        rows = [f"{p:.12e} {q:.12e} 0.0 0.0 {i} 5.0 53.13 3. 4." for p, q in pairs for i in (1, 3)]
        (folder / f"device{ending}").write_text("\n".join(rows))
    (folder / "device.cfg").write_text("IPEROUT=1\nNEWMDS(1)=0\nNEWMDS(2)=0\n")
    (folder / "device.frc").write_text("heading\n1 0 1 0 IOPTN\n1025.0 RHO\n")
    return path


def _aquaplus(folder: Path) -> Path:
    source = refdata("bem_cylinder_aquaplus")
    for name in ("Cw.tec", "Fex.tec", "Nemoh.cal"):
        shutil.copyfile(source / name, folder / name)
        (folder / name).chmod(0o644)
    return folder


def _capytaine(folder: Path) -> Path:
    data = made_up(n_omega=3, headings=(0.0, 0.5))
    return write_hydro(data, folder / "data.nc")


def _netcdf3(folder: Path) -> Path:
    import xarray as xr

    with xr.open_dataset(_capytaine(folder), engine="h5netcdf") as raw:
        built = raw.load()
    path = folder / "old.nc"
    built.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")
    (folder / "data.nc").unlink()
    return path


def _bemio(folder: Path) -> Path:
    return write_hydro(made_up(n_omega=3, headings=(0.0, 0.5)), folder / "data.h5")


def _moordyn(folder: Path) -> Path:
    from interop.test_moordyn import HEAD, LINES, OPTIONS, POINTS

    extra = """\
---------------------- ROD TYPES ------------------------------------
TypeName      Diam     Mass/m    Cd     Ca      CdEnd    CaEnd
(name)        (m)      (kg/m)    (-)    (-)     (-)      (-)
tube          0.3      50        1.0    1.0     0.8      0.5
---------------------- BODIES ------------------------------------------
ID   Attachment  X0  Y0  Z0  r0  p0  y0  Mass  CG  I  Volume CdA Ca
(#)  (-) (m) (m) (m) (deg) (deg) (deg) (kg) (m) (kg-m^2) (m^3) (m^2) (-)
1    Free  10 0 -5 0 10 0  2000 0|0|-0.5 1e3|1e3|1e3 1.5 1|1|1 1.0
---------------------- RODS ------------------------------------
ID   RodType  Attachment  Xa    Ya    Za    Xb    Yb    Zb    NumSegs  RodOutputs
(#)  (name)    (#/key)    (m)   (m)   (m)   (m)   (m)   (m)   (-)       (-)
1    tube     Free        0     0    -20    0     0    -12    4         p
---------------------- FAILURE ----------------------
ID  Point  Line  FailTime  FailTen
(-) (-) (-) (s) (N)
1   2   2   100   0
---------------------- EXTERNAL LOADS ----------------------
ID  Object  Fext  Blin  Bquad  CSys
(#) (name)  (N) (Ns/m) (Ns2/m2) (-)
1   Body1   100|0|5  10|10|10  3|3|3  G
"""
    (folder / "stretch.txt").write_text(
        "----curve----\nStrain Tension\n(-) (N)\n0 0\n0.1 5e5\n0.3 2e6\n"
    )
    (folder / "bed.txt").write_text(
        "2 2\n-500 500\n-500 500\n-500 -500 -50\n500 -500 -50\n-500 500 -52\n500 500 -52\n"
    )
    text = HEAD.format(EA="stretch.txt", EI="0") + POINTS + LINES + extra
    path = folder / "lines.txt"
    path.write_text(text + OPTIONS.format(more="bed.txt  SeafloorFile"))
    return path


def _read_moordyn(path: Path) -> Any:
    file = sw.read_moordyn(path)
    body = sw.Body("float", mass=1e6, inertia=(1e8,) * 3, position=(0, 0, -2))
    return file.system("s", [body], [sw.Free("f", sw.WORLD, body)], fairleads_on=body)


def _moorpy(folder: Path) -> Path:
    from interop.test_moorpy import YAML

    (folder / "mooring.yaml").write_text(YAML + "rho: 1025\ng: 9.81\n")
    return folder / "mooring.yaml"


def _moorpy_dat(folder: Path) -> Path:
    from interop.test_moorpy import DAT

    (folder / "mooring.dat").write_text(DAT)
    return folder / "mooring.dat"


def _read_moorpy(path: Path) -> Any:
    file = sw.read_moorpy(path)
    body = sw.Body("float", mass=1e6, inertia=(1e8,) * 3)
    return file.system("s", [body], [sw.Free("f", sw.WORLD, body)], fairleads_on=body)


def _record(folder: Path) -> Path:
    t = 0.5 * np.arange(60)
    rows = [f"{a:.3f}, {b:.6f}" for a, b in zip(t, np.sin(t), strict=True)]
    (folder / "record.txt").write_text("# time, elevation\n" + "\n".join(rows))
    return folder / "record.txt"


def _packed(folder: Path) -> Path:
    path = _record(folder)
    (folder / "record.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    path.unlink()
    return folder / "record.gz"


def _read_record(path: Path) -> Any:
    found = sw.read_record(path)
    built = sw.components(sw.MeasuredWave(file=str(path)), sw.Water(depth=50.0))
    if not np.isfinite(built.amplitude).all() or not np.isfinite(built.phase).all():
        return found[0], np.full(3, np.nan)
    return found


def _gridded(folder: Path) -> Path:
    t, x, z = np.arange(5.0), np.arange(-2.0, 3.0), np.linspace(-3.0, 0.0, 4)
    rng = np.random.default_rng(3)
    fields = {
        "elevation": (("time", "x"), rng.normal(size=(5, 5))),
        **{
            k: (("time", "x", "z"), rng.normal(size=(5, 5, 4))) for k in ("pressure", "u", "v", "w")
        },
    }
    xr.Dataset(fields, {"time": t, "x": x, "z": z}).to_netcdf(
        folder / "field.nc", engine="h5netcdf"
    )
    return folder / "field.nc"


def _read_gridded(path: Path) -> Any:
    from swelltree.waves.gridded import grid_waves

    return grid_waves(sw.GriddedSea(str(path)), sw.Water())


def finite_grid(waves: Any) -> str:
    parts = (waves.origin, waves.spacing, waves.elevation, waves.head)
    return "" if all(np.isfinite(x).all() for x in parts) else "grid"


_run_file: dict[str, bytes] = {}


def _run(folder: Path) -> Path:
    from made_result import made_run
    from swelltree.results.files import save

    if not _run_file:
        path = save(made_run(lines=2, duration=6.0, step=0.5), folder / "run.nc")
        _run_file["run"] = path.read_bytes()
    (folder / "run.nc").write_bytes(_run_file["run"])
    return folder / "run.nc"


def _report(path: Path) -> str:
    from swelltree.report.report import page

    return page(str(path))


def _hydro(**options: Any) -> Any:
    return lambda path: read_hydro(path, **options)


CAMPAIGN = """
[campaign]
name = "many"
gallery = "rm3"
duration = 600.0
channels = ["absorbed_power", "pto_force"]

[[vary]]
type = "scatter"
Hs = [1.5, 2.5]
Tp = [7.0, 9.0, 11.0]
occurrence = [[10, 20, 5], [5, 20, 10]]

[[vary]]
type = "sample"
ranges = { "ptos.pto.damping" = [1e5, 2e6], "ptos.pto.stiffness" = [0.0, 1e4] }
count = 64

[[vary]]
type = "seeds"
count = 6
"""


def _case(folder: Path) -> Path:
    shutil.copy(ROOT / "examples" / "crane_barge.toml", folder)
    return folder / "crane_barge.toml"


def _campaign(folder: Path) -> Path:
    (folder / "many.toml").write_text(CAMPAIGN)
    return folder / "many.toml"


def _read_campaign(path: Path) -> Any:
    return case_table(read_campaign(path)[1])


def finite_table(table: Any) -> str:
    return "" if all(np.isfinite(x).all() for x in table.columns.values()) else "table"


TWO = {"n_omega": 3, "headings": (0.0, 0.5)}
READERS = [
    Reader("WAMIT", _wamit, _hydro(**WATER), finite_hydro),
    Reader(
        "WAMIT listing", lambda f: write_listing(made_up(**TWO), f), _hydro(**WATER), finite_hydro
    ),
    Reader(
        "HAMS", lambda f: write_hams(made_up(("Buoy",), **TWO), f), _hydro(**WATER), finite_hydro
    ),
    Reader("NEMOH", lambda f: write_nemoh(made_up(**TWO), f), _hydro(), finite_hydro),
    Reader("AQUAPLUS", _aquaplus, _hydro(), finite_hydro),
    Reader("AQWA", lambda f: write_aqwa(made_up(**TWO), f), _hydro(), finite_hydro),
    Reader("Capytaine", _capytaine, _hydro(), finite_hydro, damage_hdf5, 80),
    Reader("Capytaine netCDF 3", _netcdf3, _hydro(), finite_hydro, damage_bytes),
    Reader("BEMIO", _bemio, _hydro(), finite_hydro, damage_hdf5, 80),
    Reader("MoorDyn", _moordyn, _read_moordyn, finite_system),
    Reader("MoorPy yaml", _moorpy, _read_moorpy, finite_system),
    Reader("MoorPy dat", _moorpy_dat, _read_moorpy, finite_system),
    Reader("text record", _record, _read_record, finite_record),
    Reader("gzip record", _packed, _read_record, finite_record, damage_bytes),
    Reader("gridded sea", _gridded, _read_gridded, finite_grid, damage_hdf5),
    Reader("run file", _run, lambda path: sw.load_result(path), lambda data: "", damage_hdf5),
    Reader("case file", _case, lambda path: sw.load(path), lambda case: ""),
    Reader("campaign file", _campaign, _read_campaign, finite_table),
    Reader("run file in report", _run, _report, finite_page, damage_hdf5, 30),
]


def spoiled(reader: Reader, folder: Path, seeds: Any) -> dict[int, str]:
    """What came of reading damaged files, seed by seed; one of all files is damaged."""
    complete, work = folder / "whole", folder / "work"
    complete.mkdir()
    path = reader.make(complete)
    came = {-1: outcome(lambda: reader.read(path), reader.finite)}  # of the whole file
    assert came.pop(-1) == "data"
    for seed in seeds:
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(complete, work)
        files = sorted(p for p in work.rglob("*") if p.is_file())
        reader.damage(files[seed % len(files)], seed)
        here = work / path.relative_to(complete)
        came[seed] = outcome(lambda here=here: reader.read(here), reader.finite)
    return came


def main() -> None:
    """Print the share of every outcome: `python tests/damaged.py 1000 [reader]`."""
    import sys
    import tempfile
    import time
    from collections import Counter

    count = int(sys.argv[1])
    for reader in READERS:
        if len(sys.argv) > 2 and reader.name not in sys.argv[2].split(","):
            continue
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            came = spoiled(reader, Path(folder), range(count))
        took = time.perf_counter() - start
        bad = {seed: text for seed, text in came.items() if text not in ("data", "sentence")}
        silent = sum(text.startswith("not finite") for text in bad.values())
        kinds = Counter(came[s] if came[s] in ("data", "sentence") else "bad" for s in came)
        print(
            f"{reader.name:20s} {100 * len(bad) / count:5.1f} % bad, of them {silent} not finite; "
            f"{dict(kinds)}, {took:.1f} s",
            flush=True,
        )
        if len(sys.argv) > 3:
            for text, n in Counter(t[:150] for t in bad.values()).most_common(40):
                print("     ", n, text, [s for s in bad if bad[s][:150] == text][:3])


if __name__ == "__main__":
    main()
