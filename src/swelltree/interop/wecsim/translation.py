"""From script and diagram to the tables of case files."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.values import NamedValues
from swelltree.interop.wecsim.assignments import NAMES, Assignments, Findings, path_of, relative
from swelltree.interop.wecsim.bodies import (
    Moorings,
    body_forces,
    body_table,
    center_of,
    hull_table,
    names_of,
)
from swelltree.interop.wecsim.diagram import MECHANICS, RIM, Block, Diagram
from swelltree.interop.wecsim.hydro_data import find_hydro
from swelltree.interop.wecsim.joints import (
    DOFS,
    REST,
    Names,
    Start,
    Tie,
    body_blocks,
    constraint_stops,
    coordinates,
    joint_table,
    network_of,
    pto_name,
    pto_table,
    start_of,
)
from swelltree.interop.wecsim.script import Script
from swelltree.interop.wecsim.seas import Condition, Seas, Settings, current_of
from swelltree.interop.wecsim.values import Object

# they only show, keep or hand on signals
QUIET_BLOCKS = (
    *("Scope", "ToWorkspace", "Display", "Terminator", "ToFile", "Clock", "Goto", "From"),
    *("Inport", "Outport", RIM),
)


class Translator:
    """Holds what the steps of a translation share.

    Args:
        script: what the input script says.
        diagram: what the model joins.
        path: of the script.
        out: folder of the case file; paths in it are relative to that.
        name: of the case.
        instead: hydrodynamic data in place of those that the script names.
        findings: takes what is chosen and left out.
    """

    def __init__(
        self,
        script: Script,
        diagram: Diagram,
        path: Path,
        out: Path,
        name: str,
        instead: Path | None,
        findings: Findings,
    ) -> None:
        self.script, self.diagram, self.findings = script, diagram, findings
        self.path, self.out, self.name = path, out, name
        self.folder = path.parent
        self.objects = {kind: self._objects(script, kind) for kind in NAMES}
        self.simu = self.objects["simu"].get(1) or self._empty("simu", 0)
        self.rho = self._positive("rho", 1000.0)
        self.g = self._positive("gravity", 9.81)
        for line, why in sorted(script.unread.items()):
            findings.leave(f"{path.name}:{line}", f"not read: {why}.")
        self.blocks = body_blocks(diagram)
        self.bodies = self._used_bodies()
        self.hydro = find_hydro(self.bodies, self.folder, instead, self.rho, findings)
        ramp = max(self.simu.number("rampTime", 100.0), 0.0)
        self.seas = Seas(self.folder, out, name, self.hydro, ramp, findings)
        self.names = names_of(
            self.bodies, self.hydro, {n: block.name for n, block in self.blocks.items()}
        )
        self.network = network_of(diagram, self.names, findings)

    def _objects(self, script: Script, kind: str) -> dict[int, Assignments]:
        return {
            n: Assignments(kind, 0 if kind == "simu" else n, item, self.path.name, self.findings)
            for n, item in script.objects(kind).items()
        }

    def _empty(self, kind: str, number: int) -> Assignments:
        return Assignments(kind, number, Object(), self.path.name, self.findings)

    def _positive(self, name: str, default: float) -> float:
        value = self.simu.number(name, default)
        if not value > 0:
            self.simu.refuse(name, "is not positive")
            return default
        return value

    def _used_bodies(self) -> dict[int, Assignments]:
        """Bodies of the script with a block in the model."""
        bodies, model = self.objects["body"], self.diagram.path.name
        for n in sorted(set(self.blocks) - set(bodies)):
            self.findings.leave(
                self.diagram.place(self.blocks[n]), f"body({n}) is not in the script."
            )
        for n in sorted(set(bodies) - set(self.blocks)):
            bodies.pop(n).lack(f"has no block in {model}.")
        if not bodies:
            raise SwelltreeError(
                f"'{self.path}' and '{model}' have no body in common. Check that they belong "
                "together."
            )
        for n in bodies:
            if "flex" in self.blocks[n].word:
                self.findings.leave(
                    self.diagram.place(self.blocks[n]),
                    "the flexible modes of a body (generalised body modes) are not translated; the "
                    "case has a rigid one.",
                )
        return dict(bodies)

    # the whole

    def run(self, rows: tuple[Settings, ...]) -> list[NamedValues]:
        """Tables of one or more case files: more where conditions differ in constant coefficients.

        Args:
            rows: other values of the waves, one table for each condition.
        """
        system = self._system()
        groups: dict[float | None, list[Condition]] = {}
        for condition in self._conditions(rows):
            groups.setdefault(condition.omega, []).append(condition)
        tables = []
        for omega, group in groups.items():
            hydro = self._hydro_table(omega)
            tables.append(
                {"system": system}
                | ({"hydro": hydro} if hydro else {})
                | {"studies": [self._study(condition) for condition in group]}
            )
        self._report_objects()
        self._report_blocks()
        return tables

    def _system(self) -> NamedValues:
        bodies = {self.names[n]: (n, body) for n, body in self.bodies.items()}
        centers = {name: center_of(n, b, self.hydro) for name, (n, b) in bodies.items()}
        starts = {name: start_of(b, centers[name]) for name, (_, b) in bodies.items()}
        lists: dict[str, list[NamedValues]] = {"bodies": [], "forces": [], "moorings": []}
        for name, (n, body) in bodies.items():
            table = body_table(n, body, name, self.hydro, self.rho)
            if body.number("nonlinearHydro"):
                hull = hull_table(body, self.folder, self.out, centers[name])
                table |= {"hull": hull} if hull else {}
            lists["bodies"].append(table)
            for key, rows in body_forces(body, name, self.rho, centers[name]).items():
                lists[key] += rows
        lists["bodies"] += [{"name": name} for name in self.network.massless]
        unique = Names([row["name"] for rows in lists.values() for row in rows])
        self._add_joints(lists, starts, unique)
        moorings = Moorings(
            *(self.diagram, self.network, centers, starts, self.folder, (self.rho, self.g)),
            *(unique, self.findings),
        )
        moored = moorings.translate(self.objects["mooring"])
        for key, rows in moored.items():
            if isinstance(rows, list):
                lists[key] = [*lists.get(key, []), *rows]
        self._add_cables(lists, moorings, unique)
        table = {"name": self.name, "water": self._water()}
        current = current_of(list(self.objects["waves"].values()))
        table |= {"current": current} if current else {}
        table |= {"seabed": moored["seabed"]} if "seabed" in moored else {}
        return table | {key: rows for key, rows in lists.items() if rows}

    def _water(self) -> dict[str, float]:
        water = {"rho": self.rho, "g": self.g}
        depths = [wave.numbers("waterDepth", 1) for wave in self.objects["waves"].values()]
        requested = next((depth[0] for depth in depths if depth), math.inf)
        depth = requested if requested > 0 else math.inf
        if self.hydro.data is not None:
            depth = float(self.hydro.data["water_depth"])
            water["g"] = float(self.hydro.data["g"])
            if abs(water["g"] / self.g - 1.0) > 1e-3:
                self.findings.comment("water", "", f"g of the hydrodynamic data, not {self.g:g}.")
            if math.isfinite(requested) and requested != depth:
                text = f"depth of the hydrodynamic data; waves.waterDepth is {requested:g} m."
                self.findings.comment("water", "", text)
        return water | ({"depth": depth} if math.isfinite(depth) else {})

    # joints

    def _add_joints(
        self, lists: dict[str, list[NamedValues]], starts: dict[str, Start], unique: Names
    ) -> None:
        joints = lists["joints"] = []
        lists["ptos"] = []
        for base, follower in self.network.welds:
            name = unique.new(f"{follower}_weld")
            joints.append({"type": "weld", "name": name, "base": base, "follower": follower})
            self.findings.comment("joints", name, "one frame of the model carries both.")
        for tie in self.network.ties:
            specified = self.objects[tie.kind].get(tie.number)
            if specified is None:
                specified = self._empty(tie.kind, tie.number)
                self.findings.leave(
                    self.diagram.place(tie.block),
                    f"{specified.label} is not in the script; its defaults are taken.",
                )
            self._add_joint(lists, tie, specified, starts, unique)
        sides = [joint[side] for joint in joints for side in ("base", "follower")]
        joined = [side["body"] if isinstance(side, dict) else side for side in sides]
        for body in lists["bodies"]:
            if body["name"] not in joined:
                name = unique.new(f"{body['name']}_free")
                start = starts.get(body["name"], REST)
                begin, _ = coordinates(REST, start, np.zeros(3), np.eye(3), DOFS["free"])
                table = {"type": "free", "name": name, "base": "world", "follower": body["name"]}
                joints.append(table | ({"position": begin} if begin else {}))
                self.findings.comment("joints", name, "the model joins it to nothing: it floats.")

    def _add_joint(
        self,
        lists: dict[str, list[NamedValues]],
        tie: Tie,
        specified: Assignments,
        starts: dict[str, Start],
        unique: Names,
    ) -> None:
        wish = pto_name(specified, tie.number)
        name = unique.new(f"{wish}_{tie.joint}" if tie.kind == "pto" else wish)
        table, start = joint_table(tie, specified, name, starts, self.findings)
        lists["joints"].append(table)
        self.findings.comment(
            "joints", name, f"{specified.label}, block '{tie.block.name}': {tie.block.word}."
        )
        if tie.kind != "pto":
            stops = constraint_stops(tie, specified, f"{name}_stops", name)
            lists["forces"] += [stops] if stops else []
            return
        pto = unique.new(wish)
        lists["ptos"].append(pto_table(tie, specified, pto, name, start))
        if "actuation" in tie.block.word:
            self.findings.leave(
                self.diagram.place(tie.block),
                f"its force or motion comes from the Simulink diagram; of '{pto}' only spring and "
                "damper are translated. Add a controller to the case.",
            )

    def _add_cables(
        self, lists: dict[str, list[NamedValues]], moorings: Moorings, unique: Names
    ) -> None:
        joints = {
            f"{tie.kind}({tie.number})": (specified, tie.base, tie.follower)
            for tie in self.network.ties
            if (specified := self.objects[tie.kind].get(tie.number)) is not None
        }
        for n, specified in self.objects["cable"].items():
            table = moorings.cable(specified, unique.new(pto_name(specified, n)), joints)
            lists["forces"] += [table] if table else []

    # water and runs

    def _conditions(self, rows: tuple[Settings, ...]) -> list[Condition]:
        result: list[Condition] = []
        for row in rows:
            waves = self.objects["waves"]
            if row:
                waves = self._objects(self.script.changed(row), "waves")
            result += self.seas.conditions(list(waves.values()))
            for n, specified in self.objects["waves"].items():
                specified.use_requested(waves[n])
        names = [condition.name for condition in result]
        for k, condition in enumerate(result, 1):
            if names.count(condition.name) > 1:
                condition.name = f"condition{k}"
        return result

    def _hydro_table(self, omega: float | None) -> NamedValues:
        if self.hydro.file is None:
            return {}
        file = self.out / f"{self.name}_hydro.nc" if self.hydro.built else self.hydro.file
        table: NamedValues = {"file": relative(file, self.out)}
        if self.hydro.gaps != "error":
            table["gaps"] = self.hydro.gaps
        if omega is not None:
            table |= {"radiation": "constant", "radiation_omega": omega}
        elif not self.simu.number("stateSpace"):
            length = self.simu.number("cicEndTime", 60.0)
            text = f"WEC-Sim convolves over {length:g} s; here the memory is a fitted state space."
            self.findings.comment("hydro", "", text)
        table["coupling"] = bool(self.simu.number("b2b"))
        meshes = {n: path_of(self.folder, b.text("geometryFile")) for n, b in self.bodies.items()}
        curved = [
            self.names[n]
            for n, body in self.bodies.items()
            if body.number("nonlinearHydro") and (path := meshes[n]) and os.path.isfile(path)
        ]
        if curved:
            table["nonlinear"] = curved
        yawing = [body.number("yaw.option") for body in self.bodies.values()]
        if any(yawing):
            table["frame"] = "yaw"
            text = (
                "yaw.option: the data follow the mean yaw over yaw_time here, and the yaw itself "
                "beyond yaw.threshold in WEC-Sim."
            )
            self.findings.comment("hydro", "", text)
        for body in self.bodies.values():
            body.use("yaw.threshold")
        return table

    def _study(self, condition: Condition) -> NamedValues:
        if self.simu.number("startTime"):
            self.simu.leave("startTime", "runs begin at zero.")
        step = max(self.simu.number("dtOut"), self.simu.number("dt", 0.1))
        duration = max(self.simu.number("endTime", 500.0), 1e-3)
        study: NamedValues = {"type": "simulate", "name": condition.name, "duration": duration}
        study |= {"output_step": step} if 0 < step < duration else {}
        study["start"] = "described"
        return study | ({"sea": condition.table} if condition.table else {})

    # what a case holds beside what was translated

    def _report_objects(self) -> None:
        """Report objects without a block, PTO-Sim models, control laws and unused fields."""
        merged = self.network.merged
        used = {(tie.kind, tie.number) for tie in self.network.ties} | {*merged}
        for kind in ("constraint", "pto"):
            for n, specified in self.objects[kind].items():
                if (kind, n) not in used:
                    specified.lack(f"has no block in {self.diagram.path.name}.")
                if (kind, n) not in used or (kind, n) in merged:
                    specified.use()
        for kind, objects in self.objects.items():
            for specified in objects.values():
                if kind in ("ptoSim", "controller"):
                    what = specified.first_text() or "control law"
                    specified.lack(f"({what}) belongs to the Simulink diagram: not translated.")
                else:
                    specified.warn_unused()

    def _report_blocks(self) -> None:
        """Report blocks that are neither WEC-Sim mechanics nor signal displays."""
        for block in self.diagram.blocks.values():
            place = self.diagram.place(block)
            if block.library in MECHANICS:
                if block.values.get("InputMethod", "Input File") not in ("Input File", ""):
                    self.findings.leave(place, "values typed into the model are not read.")
            elif block.kind not in QUIET_BLOCKS:
                self.findings.leave(place, f"{_what(block)}; it is not translated.")


def _what(block: Block) -> str:
    if block.mechanics:
        return (
            f"holds {len(block.mechanics)} blocks of WEC-Sim in variants, of which Simulink "
            "chooses one (make that one a plain subsystem)"
        )
    machines = [source for source in block.inside if "WECSim_Lib" in source]
    if machines:
        return f"is a PTO-Sim machine of {len(machines)} blocks"
    return f"is control logic of Simulink ({block.source or block.kind})"
