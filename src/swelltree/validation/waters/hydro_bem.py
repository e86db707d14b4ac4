"""BEM runs against WAMIT and AQUAPLUS."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from swelltree.hydro.bem.run import run_bem
from swelltree.system import Body, Cylinder, Free, MeshFile, Sphere, System, Water
from swelltree.system.bodies.body import WORLD
from swelltree.system.errors import SwelltreeWarning
from swelltree.validation.table import Check, case

FEW = 8  # frequencies of a comparison


def _run(hull: Any, reference: Any, water: Water, omega: Any, **options: Any) -> Any:
    body = Body("hull", com=reference, hull=hull)
    one = System("s", (body,), (Free("f", WORLD, body),), water=water)
    return run_bem(one, omega, progress=False, **options)


def _entry(data: Any, name: str, i: str, j: str | None = None) -> np.ndarray:
    chosen = {"influenced_dof": f"hull__{i}"}
    if j is not None:
        chosen["radiating_dof"] = f"hull__{j}"
    rows = (data["omega"].values > 0.0) & np.isfinite(data["omega"].values)
    return data[name].sel(chosen).values[rows]


def _worst(ours: np.ndarray, theirs: np.ndarray, least: float = 0.02) -> float:
    """Largest relative difference where the reference matters."""
    size = np.abs(theirs)
    matters = size > least * size.max()
    return float((np.abs(ours - theirs)[matters] / size[matters]).max())


@case("hydro", "bem_sphere", source="WAMIT (WEC-Sim example)", needs="bem_sphere")
def sphere(folder: Path) -> list[Check]:
    """Sphere R = 5 m in 50 m of water, 0.3 to 3 rad/s, about 1000 panels."""
    from swelltree.hydro.readers.read import read_hydro

    wamit = read_hydro(folder / "wecsim_wamit" / "sphere.out", rho=1000.0)
    known = wamit["omega"].values
    wanted = np.linspace(0.3, 3.0, FEW)
    rows = np.unique([int(np.argmin(np.abs(known - w))) for w in wanted])
    water = Water(1000.0, 9.81, 50.0)
    data = _run(Sphere(5.0, panel_size=0.45), (0, 0, -2), water, known[rows])
    body = str(wamit["body"].values[0])
    why = "WAMIT, NEMOH and Capytaine differ from each other by 1.2 %"
    checks = []
    for dof in ("Surge", "Heave"):
        label = f"{body}__{dof}"
        both = {"influenced_dof": label, "radiating_dof": label}
        for name, short in (("added_mass", "A"), ("radiation_damping", "B")):
            theirs = wamit[name].sel(both).values[rows]
            off = _worst(_entry(data, name, dof, dof), theirs)
            checks.append(Check(f"{short} in {dof.lower()}", 100 * off, 2.0, "%", why))
        X = wamit["excitation_force"].sel(influenced_dof=label).values[rows, 0]
        ours = _entry(data, "excitation_force", dof)[:, 0]
        # heave at 3 rad/s is 4 % of its largest, and 2.4 % off with these panels
        off = _worst(np.abs(ours), np.abs(X), least=0.05)
        why_size = "where the force exceeds 5 % of its largest"
        checks.append(Check(f"excitation in {dof.lower()}", 100 * off, 2.0, "%", why_size))
        large = np.abs(X) > 0.05 * np.abs(X).max()
        turn = np.degrees(np.abs(np.angle(ours / X)))[large].max()
        why_phase = "codes agree within 2 degrees where the force exceeds 5 % of its largest"
        checks.append(Check(f"phase in {dof.lower()}", turn, 2.0, "deg", why_phase))
    return checks


@case(
    "hydro",
    "bem_cylinder_aquaplus",
    source="AQUAPLUS (NEMOH's verification case), given mesh",
    needs="bem_cylinder_aquaplus",
)
def cylinder(folder: Path) -> list[Check]:
    """Upright cylinder R = 5 m, draft 10 m in deep water on the given mesh, 0.3 to 2 rad/s."""
    tables = read_aquaplus(folder / "Cw.tec")
    omega = tables["11"][:, 0]
    wanted = np.linspace(0.3, 2.0, FEW)
    rows = np.unique([int(np.argmin(np.abs(omega - w))) for w in wanted])
    rows = rows[np.argsort(omega[rows])]
    water = Water(1000.0)
    mesh = MeshFile(str(folder / "Cylinder.dat"), file_format="nemoh")
    alike = _run(mesh, (0, 0, -7.5), water, omega[rows], method="indirect", lid=False)
    hull = Cylinder(5.0, 10.0, 10.0, panel_size=1.2)
    ours = _run(hull, (0, 0, -7.5), water, omega[rows], refine="extrapolate")
    checks = []
    for pair, dof in {"11": "Surge", "33": "Heave"}.items():
        for name, short, column in (("added_mass", "A", 2), ("radiation_damping", "B", 1)):
            theirs, whole = tables[pair][rows, column], np.abs(tables[pair][:, column]).max()
            off = np.abs(_entry(alike, name, dof, dof) - theirs)
            limit, why = 2.0, "same mesh and method; two codes differ by 0.3 to 1.8 %"
            if short + pair == "B33":
                # up to 2.7 % of its largest apart, and by more of itself where it is nearly zero
                off, limit = off / whole, 4.0
                why = "of the largest value: a small difference of large pressures"
            else:
                matters = np.abs(theirs) > 0.02 * whole
                off = off[matters] / np.abs(theirs[matters])
            checks.append(Check(f"{short}{pair}, their mesh", 100 * off.max(), limit, "%", why))
            off = np.abs(_entry(ours, name, dof, dof) - theirs).max() / whole
            why = "of the largest value; their 600 panels have an error of that size"
            checks.append(Check(f"{short}{pair}, our hull", 100 * off, 4.0, "%", why))
    return checks


@case("hydro", "bem_monopile", source="MacCamy and Fuchs (1954)")
def monopile() -> list[Check]:
    """Pile of 3 m radius through 20 m of water into the seabed: horizontal force."""
    from scipy.special import h1vp

    from swelltree.waves.dispersion import dispersion

    R, depth, omega = 3.0, 20.0, np.array([0.6, 1.0, 1.5])
    water = Water(1025.0, 9.81, depth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SwelltreeWarning)  # that it stands on the seabed
        data = _run(Cylinder(R, depth + 5.0, 40.0, panel_size=1.2), (0, 0, 0), water, omega)
    k = np.asarray(dispersion(omega, depth, 9.81))
    exact = 4 * 1025 * 9.81 * np.tanh(k * depth) / (k**2 * np.abs(h1vp(1, k * R)))
    off = _worst(np.abs(_entry(data, "excitation_force", "Surge")[:, 0]), exact)
    return [Check("horizontal force", 100 * off, 3.0, "%", "a ring of 16 flat panels")]


def read_aquaplus(path: Path) -> dict[str, np.ndarray]:
    """Tables of a Cw.tec file by the two digits of their title: omega, damping, added mass ..."""
    tables: dict[str, list[list[float]]] = {}
    rows: list[list[float]] = []
    for line in path.read_text(encoding="latin-1").splitlines():
        if line.strip().upper().startswith("ZONE"):
            digits = line.split('"')[1].split()[-1] if '"' in line else line.split()[-1]
            rows = tables.setdefault(digits[-2:], [])
            continue
        try:
            numbers = [float(word) for word in line.split()]
        except ValueError:
            continue
        if len(numbers) >= 3:
            rows.append(numbers)
    return {key: np.array(values) for key, values in tables.items() if values}
