"""Moorings and cables of a script: matrices, MoorDyn's lines, springs that only pull."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swelltree.describe import Body
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.topology import WORLD_NAME
from swelltree.describe.values import NamedValues
from swelltree.interop.moordyn.read import read_moordyn
from swelltree.interop.wecsim.assignments import Assignments, Findings
from swelltree.interop.wecsim.bodies import plain, rows6
from swelltree.interop.wecsim.diagram import Block, Diagram
from swelltree.interop.wecsim.hydro_data import path_of
from swelltree.interop.wecsim.joints import REST, Names, Network, Start, end, object_number


@dataclass
class Moorings:
    """Translates the moorings and cables of a model.

    Args:
        diagram: of the model.
        network: what its frames are on.
        centers: of gravity of the bodies, by name.
        starts: initial positions of bodies, to which places in MoorDyn's file refer.
        folder: of the script.
        water: density and gravity.
        names: gives names.
        findings: takes what has no counterpart.
    """

    diagram: Diagram
    network: Network
    centers: dict[str, np.ndarray | None]
    starts: dict[str, Start]
    folder: Path
    water: tuple[float, float]
    names: Names
    findings: Findings

    def translate(self, moorings: dict[int, Assignments]) -> NamedValues:
        """All moorings of a model as lists of a system."""
        built: NamedValues = {"moorings": []}
        moordyn: dict[int, str] = {}
        for block in self.diagram.blocks.values():
            if block.library != "moorings" or block.word == "moordyncaller":
                continue
            place = self.diagram.place(block)
            number, body = object_number(block, "mooring"), self.carrier(block)
            if number is None or number not in moorings or body is None:
                self.findings.leave(place, "the mooring is on no body, or not in the script.")
            elif moorings[number].number("moorDyn", 0.0) or block.word.startswith("moordyn"):
                moordyn[number] = body
            elif block.word in ("mooringmatrix", "mooring matrix"):
                table = self.matrix(moorings[number], body, number)
                built["moorings"] += [table] if table else []
            else:
                self.findings.leave(
                    place, f"a mooring of the kind '{block.word}' has no counterpart."
                )
        if moordyn:
            parts = self.moordyn(moorings[min(moordyn)], moordyn)
            built["moorings"] += parts.pop("moorings", [])
            built |= parts
        return built

    def carrier(self, block: Block) -> str | None:
        """The body that a mooring's block is joined to."""
        names = [self.network.carrier(frame) for frame in self.diagram.frames_of(block)]
        return next((name for name in names if name not in (None, WORLD_NAME)), None)

    def matrix(self, specified: Assignments, body: str, number: int) -> NamedValues | None:
        """Stiffness, damping and pretension at the mooring's location, for the body's centre.

        The point of the mooring moves by J times the motion of the centre, so K becomes J^T K J.
        WEC-Sim's frames count from where the body begins, a case file from where it is described:
        K times the displacement of the start goes into the pretension.
        """
        name = self.names.new(specified.first_text() or f"mooring{number}")
        center, start = self.centers.get(body), self.starts.get(body, REST)
        center = np.zeros(3) if center is None else center
        x, y, z = arm = specified.vector("location") - center
        J = np.eye(6)
        J[:3, 3:] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
        table: NamedValues = {"type": "linear", "name": name, "body": body}
        comments = []
        stiffness, damping = (specified.matrix(f"matrix.{w}") for w in ("stiffness", "damping"))
        pull = J.T @ specified.vector("matrix.preTension", (0.0,) * 6)
        if pull.any():
            comments.append("preTension is taken as the force on the body.")
        if stiffness is not None:
            table["stiffness"] = rows6(J.T @ stiffness @ J)
            shift = J.T @ stiffness @ J @ start.motion(center)
            if not start.is_rest and shift.any():
                comments.append("it holds the body where the body begins.")
                pull = pull + shift
        if damping is not None:
            table["damping"] = rows6(J.T @ damping @ J)
        if pull.any():
            table["pretension"] = [float(v) for v in pull]
        if len(table) == 3:
            specified.lack("has no stiffness, damping or pretension.")
            return None
        if arm.any():
            comments.append("moved from its location to the centre of mass.")
        for comment in comments:
            self.findings.comment("moorings", name, comment)
        return table

    def moordyn(self, first: Assignments, bodies: dict[int, str]) -> NamedValues:
        """The lines of MoorDyn's input file as lists of a system.

        Args:
            first: the first of the moorings that are MoorDyn's.
            bodies: what each of them is joined to.
        """
        named = first.text("moorDynInputFile") or "Mooring/lines.txt"
        path = path_of(self.folder, named)
        if path is None or not os.path.isfile(path):
            self.findings.leave(
                first.place(),
                f"{first.label}: MoorDyn's file '{named}' is not there.",
                missing=True,
            )
            return {}
        # each body where it begins, so that places of the world become places on it
        carriers: dict[str, Body] = {}
        for n, name in sorted(bodies.items()):
            start = self.starts.get(name, REST)
            x, y, z = plain(start.t)
            carriers[f"Body{n}"] = Body(name, mass=1.0, position=(x, y, z), rotation=start.R)
        carriers["Coupled"] = next(iter(carriers.values()))
        try:
            file = read_moordyn(path, rho=self.water[0], g=self.water[1])
            fields = file.parts(fairleads_on=carriers)
        except SwelltreeError as error:
            self.findings.leave(named, f"{error} The lines are left out.")
            return {}
        for note in file.notes:
            self.findings.comment("lines", "", f"{path.name}: {note}")
        return {
            key: value.table() if key == "seabed" else [item.table() for item in value]
            for key, value in fields.items()
        }

    def cable(
        self, specified: Assignments, name: str, joints: dict[str, tuple[Assignments, str, str]]
    ) -> NamedValues | None:
        """A cable as a spring and damper that only pulls, between the places of two joints.

        Args:
            specified: the cable.
            name: of the element.
            joints: constraints and PTOs by their word in the script, with base and follower.
        """
        ends = []
        for k, field in ((1, "rotloc1"), (2, "rotloc2")):
            word = specified.first_text(k).replace(" ", "")
            if word not in joints:
                specified.lack(f"ends at '{word[:30]}', which is not a joint.")
                return None
            joint, base, follower = joints[word]
            default = tuple(joint.vector("location"))
            body = follower if base == WORLD_NAME else base
            ends.append((body, specified.vector(field, default)))
        for field in ("bodyMass", "bodyInertia", "quadDrag", "linearDamping"):
            if specified.has(field):
                specified.leave(field, "the small bodies at the ends of a cable are left out.")
        if ends[0][0] == ends[1][0]:
            specified.lack(f"has both ends on '{ends[0][0]}'.")
            return None
        gap = float(np.linalg.norm(ends[0][1] - ends[1][1]))
        stiffness, pull = specified.number("stiffness", 0.0), specified.number("preTension", 0.0)
        length = specified.number("L0", specified.number("cableLength", 0.0))
        if not length:
            length = gap - pull / stiffness if stiffness and pull else gap
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
