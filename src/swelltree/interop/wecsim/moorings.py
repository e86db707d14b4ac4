"""Moorings and cables of a script: matrices, MoorDyn's lines, springs that only pull."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from swelltree.describe import Body
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.topology import WORLD_NAME
from swelltree.describe.values import NamedValues
from swelltree.interop.moordyn.read import read_moordyn
from swelltree.interop.wecsim.assignments import Assignments
from swelltree.interop.wecsim.bodies import rows6
from swelltree.interop.wecsim.diagram import Block, Diagram
from swelltree.interop.wecsim.findings import Findings
from swelltree.interop.wecsim.joints import Names, end
from swelltree.interop.wecsim.network import REST, Network, Start, object_number


def carrier_of(diagram: Diagram, network: Network, block: Block) -> str | None:
    """The body that a mooring's block is joined to."""
    head = f"{block.sid}#"
    result = [frame for port, frame in diagram.frames.items() if port.startswith(head)]
    names = [network.carrier(frame) for frame in result]
    return next((name for name in names if name not in (None, WORLD_NAME)), None)


def matrix_mooring(
    specified: Assignments,
    name: str,
    body: str,
    center: np.ndarray | None,
    start: Start,
    findings: Findings,
) -> NamedValues | None:
    """Stiffness, damping and pretension at the mooring's location, brought to the body's centre.

    The point of the mooring moves by J times the motion of the centre, so K becomes J^T K J.
    WEC-Sim's frames count from where the body begins, a case file from where it is described:
    K times the displacement of the start goes into the pretension.
    """
    arm = np.array(specified.numbers("location", 3, default=[0.0] * 3))
    arm = arm - (np.zeros(3) if center is None else center)
    x, y, z = arm
    J = np.eye(6)
    J[:3, 3:] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
    table: NamedValues = {"type": "linear", "name": name, "body": body}
    for field, key in (("matrix.stiffness", "stiffness"), ("matrix.damping", "damping")):
        matrix = specified.matrix(field)
        if matrix is not None:
            table[key] = rows6(J.T @ matrix @ J)
    pull = J.T @ np.array(specified.numbers("matrix.preTension", 6, default=[0.0] * 6))
    if pull.any():
        findings.comment("moorings", name, "preTension is taken as the force on the body.")
    stiffness = specified.matrix("matrix.stiffness")
    if stiffness is not None and not start.is_rest:
        shift = J.T @ stiffness @ J @ start.motion(np.zeros(3) if center is None else center)
        if shift.any():
            findings.comment("moorings", name, "it holds the body where the body begins.")
        pull = pull + shift
    if pull.any():
        table["pretension"] = [float(v) for v in pull]
    if len(table) == 3:
        findings.leave(
            specified.place(), f"{specified.label} has no stiffness, damping or pretension."
        )
        return None
    if arm.any():
        findings.comment("moorings", name, "moved from its location to the centre of mass.")
    return table


def moordyn_parts(
    givens: dict[int, Assignments],
    bodies: dict[int, str],
    starts: dict[str, Start],
    folder: Path,
    water: tuple[float, float],
    findings: Findings,
) -> NamedValues:
    """The lines of MoorDyn's input file as lists of a system.

    Args:
        givens: the moorings that are MoorDyn's, by number.
        bodies: what each of them is joined to.
        starts: initial positions of bodies, to which the positions in the file refer.
        folder: of the script.
        water: density and gravity.
        findings: takes a file that is missing or not understood.
    """
    first = givens[min(givens)]
    named = first.text("moorDynInputFile") or "Mooring/lines.txt"
    path = folder / named.replace("\\", "/")
    if not os.path.isfile(path):
        findings.leave(
            first.place(), f"{first.label}: MoorDyn's file '{named}' is not there.", missing=True
        )
        return {}
    carriers = {n: _placed(name, starts.get(name, REST)) for n, name in bodies.items()}
    table: NamedValues = {f"Body{n}": body for n, body in carriers.items()}
    table["Coupled"] = carriers[min(carriers)]
    try:
        file = read_moordyn(path, rho=water[0], g=water[1])
        fields = file.parts(fairleads_on=table)
    except SwelltreeError as error:
        findings.leave(f"{named}", f"{error} The lines are left out.")
        return {}
    for note in file.notes:
        findings.comment("lines", "", f"{path.name}: {note}")
    return {
        key: value.table() if key == "seabed" else [item.table() for item in value]
        for key, value in fields.items()
    }


def _placed(name: str, start: Start) -> Body:
    """A body where it begins, so that places of the world become places on it."""
    x, y, z = (float(value) for value in start.t)
    return Body(name, mass=1.0, position=(x, y, z), rotation=start.R)


def cable_table(
    specified: Assignments,
    name: str,
    others: dict[str, tuple[Assignments, str, str]],
    findings: Findings,
) -> NamedValues | None:
    """A cable as a spring and damper that only pulls, between the places of two joints.

    Args:
        specified: the cable.
        name: of the element.
        others: constraints and PTOs by their word in the script, with base and follower.
        findings: takes what is left out.
    """
    ends = []
    for k, field in ((1, "rotloc1"), (2, "rotloc2")):
        word = specified.first_text(k).replace(" ", "")
        if not re.fullmatch(r"(?:constraint|pto)\(\d+\)", word) or word not in others:
            findings.leave(
                specified.place(), f"{specified.label} ends at '{word[:30]}', which is not a joint."
            )
            return None
        joint, base, follower = others[word]
        default = joint.numbers("location", 3, default=[0.0] * 3)
        point = np.array(specified.numbers(field, 3, default=default))
        ends.append((follower if base == WORLD_NAME else base, point))
    gap = float(np.linalg.norm(ends[0][1] - ends[1][1]))
    stiffness = specified.number("stiffness", 0.0)
    length = specified.number("L0", specified.number("cableLength", 0.0))
    pull = specified.number("preTension", 0.0)
    if not length:
        length = gap - pull / stiffness if stiffness and pull else gap
    for field in ("bodyMass", "bodyInertia", "quadDrag", "linearDamping"):
        if specified.has(field):
            specified.leave(field, "the small bodies at the ends of a cable are left out.")
    if ends[0][0] == ends[1][0]:
        findings.leave(specified.place(), f"{specified.label} has both ends on '{ends[0][0]}'.")
        return None
    return {
        "type": "spring_damper",
        "name": name,
        "a": end(*ends[0]),
        "b": end(*ends[1]),
        "stiffness": stiffness,
        "damping": specified.number("damping", 0.0),
        "rest_length": max(length, 0.0),
        "tension_only": True,
    }


def translate_moorings(
    diagram: Diagram,
    network: Network,
    givens: dict[int, Assignments],
    centers: NamedValues,
    starts: dict[str, Start],
    folder: Path,
    water: tuple[float, float],
    names: Names,
    findings: Findings,
) -> NamedValues:
    """All moorings of a model as lists of a system."""
    built: NamedValues = {"moorings": []}
    moordyn: dict[int, str] = {}
    for block in diagram.blocks.values():
        if block.library != "moorings" or block.word == "moordyncaller":
            continue
        place = diagram.place(block)
        number = object_number(block, "mooring")
        body = carrier_of(diagram, network, block)
        if number is None or number not in givens or body is None:
            findings.leave(place, "the mooring is on no body, or not in the script.")
        elif givens[number].number("moorDyn", 0.0) or block.word.startswith("moordyn"):
            moordyn[number] = body
        elif block.word in ("mooringmatrix", "mooring matrix"):
            specified = givens[number]
            name = names.new(specified.first_text() or f"mooring{number}")
            table = matrix_mooring(
                specified, name, body, centers.get(body), starts.get(body, REST), findings
            )
            built["moorings"] += [table] if table else []
        else:
            findings.leave(place, f"a mooring of the kind '{block.word}' has no counterpart.")
    if moordyn:
        chosen = {n: givens[n] for n in moordyn}
        parts = moordyn_parts(chosen, moordyn, starts, folder, water, findings)
        built["moorings"] += parts.pop("moorings", [])
        built |= parts
    return built
