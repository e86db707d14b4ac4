"""MoorPy's side of `quasi_static.py`: run by it in an environment of its own."""

from __future__ import annotations

import json
import sys
import time

import moorpy
import numpy as np


def main() -> None:
    case = json.loads(sys.stdin.read())
    system = moorpy.System(depth=case["depth"], rho=case["rho"], g=case["g"])
    kind = {"name": "chain", "m": case["mass"], "EA": case["EA"], "w": case["weight"]}
    system.lineTypes["chain"] = kind | {"d_vol": case["diameter"], "material": "chain"}
    system.addBody(1, np.zeros(6))
    body = system.bodyList[0]
    for k, (anchor, fairlead) in enumerate(zip(case["anchors"], case["fairleads"], strict=True)):
        system.addPoint(1, anchor)
        system.addPoint(1, fairlead)
        body.attachPoint(2 * k + 2, fairlead)
        system.addLine(case["length"], "chain", pointA=2 * k + 1, pointB=2 * k + 2)
    system.initialize()
    places = np.array(case["places"])

    def solve(place: np.ndarray) -> np.ndarray:
        body.setPosition(np.concatenate([place, np.zeros(3)]))
        for line in system.lineList:
            line.staticSolve()
        return body.getForces(lines_only=True)

    forces = [solve(place) for place in places]
    best = np.inf
    for _ in range(5):
        begin = time.perf_counter()
        for place in places:
            solve(place)
        best = min(best, (time.perf_counter() - begin) / len(places))
    print(json.dumps({"forces": np.array(forces).tolist(), "seconds": best}))


if __name__ == "__main__":
    main()
