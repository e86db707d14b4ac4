"""MoorDyn's side of `cables.py`: a cable drawn straight and let go, in its own environment.

    python cables_peer.py RUNS.json OUT.npz

Every run names a file, a coupling step and a duration. Kept are the nodes at the start and at the
end, and the CPU seconds of the stepping alone.
"""

import json
import sys
import time

import moordyn
import numpy as np


def run(case):
    system = moordyn.Create(case["file"])
    moordyn.Init(system, [], [])
    line = moordyn.GetLine(system, 1)
    count = moordyn.GetLineNumberNodes(line)
    first = [moordyn.GetLineNodePos(line, k) for k in range(count)]
    h, used = case["coupling"], 0.0
    for k in range(round(case["duration"] / h)):
        start = time.process_time()
        moordyn.Step(system, [], [], k * h, h)
        used += time.process_time() - start
    nodes = [moordyn.GetLineNodePos(line, k) for k in range(count)]
    moordyn.Close(system)
    return np.array([first, nodes]), used


def main():
    with open(sys.argv[1]) as file:
        cases = json.load(file)
    found = {}
    for k, case in enumerate(cases):
        found[f"nodes{k}"], found[f"used{k}"] = run(case)
    np.savez(sys.argv[2], **found)


if __name__ == "__main__":
    main()
