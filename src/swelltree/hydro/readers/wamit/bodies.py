"""Bodies of a run: their DOFs, and where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from swelltree.hydro.dataset import HydroParts
from swelltree.hydro.frames import turn_parts
from swelltree.hydro.readers.wamit.setup import WamitSetup
from swelltree.system.errors import SwelltreeError


def split_dofs(path: Path, n: int, setup: WamitSetup, bodies: int | None) -> list[int]:
    """Generalised modes of each body, so that all DOFs are accounted for."""
    count = len(setup.places) or len(setup.names)
    if not count:
        count = n // 6 if n % 6 == 0 and not any(setup.modes) else bodies or 1
        if bodies is not None and bodies != count:
            raise SwelltreeError(
                f"'{path}' has {n} modes, those of {count} bodies, but names has {bodies} entries. "
                "Give one name for each, or keep the .cfg file with NEWMDS beside it."
            )
    modes = (setup.modes + [0] * count)[:count]
    if 6 * count + sum(modes) < n and not any(modes) and count == 1:
        modes = [n - 6]
    if 6 * count + sum(modes) != n:
        raise SwelltreeError(
            f"'{path}' has {n} modes, which {count} bodies with {modes} generalised modes do not "
            "explain. Keep the .cfg file with NEWMDS beside it, or give names=... for all bodies."
        )
    return modes


def numbered(stem: str, count: int) -> list[str]:
    """Names of bodies that nothing names."""
    return [stem] if count == 1 else [f"body{k + 1}" for k in range(count)]


def place_bodies(parts: HydroParts, setup: WamitSetup, modes: list[int]) -> None:
    """Reference points, centres in world axes, and data turned to world axes."""
    count = len(modes)
    if len(setup.places) != count:
        parts.notes.append(
            "No .out or .pot file states where the axes of the bodies are: they are taken at the "
            "origin. Give rotation_center=... if this is not so."
        )
        setup.places = [[0.0] * 4 for _ in range(count)]
    places = np.array(setup.places)
    turns = [rotation_about_z(np.deg2rad(angle)) for angle in places[:, 3]]
    parts.points["rotation_center"] = places[:, :3]
    for name, key in (("center_of_mass", "gravity"), ("center_of_buoyancy", "buoyancy")):
        points = setup.points.get(key, [])
        if len(points) == count:
            parts.points[name] = np.array(
                [
                    place + turn @ row
                    for place, turn, row in zip(places[:, :3], turns, points, strict=True)
                ]
            )
    volumes = setup.points.get("volume", [])
    if len(volumes) == count:
        # of VOLX, VOLY and VOLZ the last is what lifts the body
        parts.points["displaced_volume"] = np.array(volumes)[:, 2]
    if np.any(places[:, 3]):
        turn_parts(parts, turns)


def rotation_about_z(angle: float) -> np.ndarray:
    """Rotation matrix about +z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
