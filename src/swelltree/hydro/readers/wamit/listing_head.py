"""The head of WAMIT's listing: gravity, length scale, depth, bodies and their centres."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from swelltree.hydro.readers.textfile import TextFile, after_equals
from swelltree.hydro.readers.wamit.setup import WamitSetup
from swelltree.system.files.numbers import to_number, to_positive

CENTRES = {
    "Volumes": "volume",
    "Center of Buoyancy": "buoyancy",
    "Center of Gravity": "gravity",
}


def read_listing_head(file: TextFile, setup: WamitSetup) -> None:
    """The head of the .out file: gravity, length scale, depth, bodies and their centres."""
    head = file.find("Output from  WAMIT") or len(file.lines)
    names, places = [], []
    points: dict[str, list[list[float]]] = {"volume": [], "buoyancy": [], "gravity": []}
    for index, line in enumerate(file.lines[:head]):
        fail = file.at(index)
        if "Gravity:" in line:
            match = re.findall(r":\s*(\S+)", line)
            if len(match) < 2:
                raise file.fail(index, "'Gravity: ... Length scale: ...'")
            setup.g = to_positive(match[0], "gravity", fail)
            setup.length = to_positive(match[1], "length scale", fail)
        elif "Water depth:" in line:
            word = (line.split(":")[1].split() or [""])[0]
            deep = word.startswith("inf")
            setup.depth = np.inf if deep else to_positive(word, "water depth", fail)
        elif re.search(r"\S+\.gdf", line, re.I) and "file type" not in line:
            match = re.search(r"(\S+)\.gdf", line, re.I)
            names.append(Path(match[1]).name if match else "")
        elif "XBODY" in line and "=" in line:
            places.append(after_equals(line, fail))
        else:
            _centres(file, index, points)
    setup.points = points
    if places:
        setup.places = [(place + [0.0] * 4)[:4] for place in places]
    if len(names) == len(setup.places):
        setup.names = [x if names.count(x) == 1 else f"{x}{k + 1}" for k, x in enumerate(names)]
    setup.files.append(file.path)


def _centres(file: TextFile, index: int, points: dict[str, list[list[float]]]) -> None:
    """Three numbers behind a heading such as "Center of Buoyancy (Xb,Yb,Zb):"."""
    line = file.lines[index]
    name = next((key for key in CENTRES if key in line), None)
    if name is None or ")" not in line:
        return
    words = line.split(")", 1)[1].replace(":", " ").split()
    if len(words) < 3:
        raise file.fail(index, f"three numbers of '{name}'")
    points[CENTRES[name]].append([to_number(x, name, file.at(index)) for x in words[:3]])
