"""From script and diagram to the tables of case files."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.describe.values import NamedValues
from swelltree.interop.wecsim import bodies as make_bodies
from swelltree.interop.wecsim import joints as make_joints
from swelltree.interop.wecsim.assignments import Assignments
from swelltree.interop.wecsim.bodies import center_of, hull_table, names_of, relative
from swelltree.interop.wecsim.diagram import MECHANICS, RIM, Block, Diagram
from swelltree.interop.wecsim.findings import Findings
from swelltree.interop.wecsim.hydro_data import HydroData, find_hydro
from swelltree.interop.wecsim.joints import Names
from swelltree.interop.wecsim.moorings import cable_table, translate_moorings
from swelltree.interop.wecsim.network import (
    REST,
    Network,
    Start,
    Tie,
    body_blocks,
    coordinates,
    network_of,
    start_of,
)
from swelltree.interop.wecsim.script import Script
from swelltree.interop.wecsim.seas import Condition, Settings, Where, conditions_of, current_of
from swelltree.interop.wecsim.values import Object
from swelltree.interop.wecsim.words import NAMES

# --- What a case holds beside what was translated, reported by object and by block

# they only show, keep or hand on signals
QUIET_BLOCKS = (
    *("Scope", "ToWorkspace", "Display", "Terminator", "ToFile", "Clock", "Goto", "From"),
    *("Inport", "Outport", RIM),
)


def report_objects(
    objects: dict[str, dict[int, Assignments]],
    network: Network,
    diagram: Diagram,
    findings: Findings,
) -> None:
    """Objects without a block, PTO-Sim models and control laws, and fields that were not read."""
    used = {(tie.kind, tie.number) for tie in network.ties} | set(network.merged)
    for kind in ("constraint", "pto"):
        for n, specified in objects[kind].items():
            if (kind, n) not in used:
                findings.leave(
                    specified.place(), f"{specified.label} has no block in {diagram.path.name}."
                )
            if (kind, n) not in used or (kind, n) in network.merged:
                specified.use_all()
    for kind in ("ptoSim", "controller"):
        for specified in objects[kind].values():
            what = specified.first_text() or "control law"
            findings.leave(
                specified.place(),
                f"{specified.label} ({what}) belongs to the Simulink diagram: not translated.",
            )
    for kind in ("simu", "waves", "body", "constraint", "pto", "mooring", "cable"):
        for specified in objects[kind].values():
            specified.warn_unused()


def report_blocks(diagram: Diagram, findings: Findings) -> None:
    """Blocks that are neither WEC-Sim's mechanics nor only show signals."""
    for block in diagram.blocks.values():
        place = diagram.place(block)
        if block.library in MECHANICS:
            if block.values.get("InputMethod", "Input File") not in ("Input File", ""):
                findings.leave(place, "values typed into the model are not read.")
        elif block.kind not in QUIET_BLOCKS:
            findings.leave(place, f"{_what(block)}; it is not translated.")


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


@dataclass
class Translation:
    """What became of a WEC-Sim case.

    Args:
        variants: tables of one or more case files; more where coefficients are constant and the
            waves have several periods.
        hydro: the data that they use.
        records: elevations that are to be written beside them, by name.
    """

    variants: list[NamedValues]
    hydro: HydroData
    records: dict[str, np.ndarray] = field(default_factory=dict)


class Translator:
    """Holds what the steps of a translation share.

    Args:
        script: what the input script says.
        diagram: what the model joins.
        path: of the script.
        out: folder of the case file; paths in it are relative to that.
        name: of the case.
        instead: hydrodynamic data in place of those that the script names.
        seas: other values of the waves, one table for each condition.
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
        seas: tuple[Settings, ...],
        findings: Findings,
    ) -> None:
        self.findings = findings
        self.script, self.seas = script, seas
        self.diagram, self.path, self.out, self.name = diagram, path, out, name
        self.folder = path.parent
        self.objects = {kind: self._givens(script, kind) for kind in NAMES}
        self.simu = self.objects["simu"].get(1) or Assignments(
            "simu", 0, Object(), path.name, self.findings
        )
        self.rho = self._positive("rho", 1000.0)
        self.g = self._positive("gravity", 9.81)
        for line, why in sorted(script.unread.items()):
            self.findings.leave(f"{path.name}:{line}", f"not read: {why}.")
        self.bodies = self._used_bodies()
        self.hydro = find_hydro(self.bodies, self.folder, instead, self.rho, self.findings)
        self.where = Where(self.folder, out, name, self.hydro, self.findings)

    def _givens(self, script: Script, kind: str) -> dict[int, Assignments]:
        return {
            n: Assignments(kind, 0 if kind == "simu" else n, item, self.path.name, self.findings)
            for n, item in script.objects(kind).items()
        }

    def _positive(self, name: str, default: float) -> float:
        value = self.simu.number(name, default)
        if not value > 0:
            self.simu.refuse(name, "is not positive")
            return default
        return value

    def _used_bodies(self) -> dict[int, Assignments]:
        """The bodies of the script that the model has a block for."""
        blocks = body_blocks(self.diagram)
        model = self.diagram.path.name
        for n in sorted(set(blocks) - set(self.objects["body"])):
            self.findings.leave(self.diagram.place(blocks[n]), f"body({n}) is not in the script.")
        for n in sorted(set(self.objects["body"]) - set(blocks)):
            specified = self.objects["body"].pop(n)
            self.findings.leave(specified.place(), f"{specified.label} has no block in {model}.")
        result = {n: b for n, b in self.objects["body"].items() if n in blocks}
        if not result:
            raise SwelltreeError(
                f"'{self.path}' and '{model}' have no body in common. Check that they belong "
                "together."
            )
        for n in result:
            if "flex" in blocks[n].word:
                self.findings.leave(
                    self.diagram.place(blocks[n]),
                    "the flexible modes of a body (generalised body modes) are not translated; the "
                    "case has a rigid one.",
                )
        return result

    # the whole

    def run(self) -> Translation:
        """All tables."""
        names = names_of(
            self.bodies, self.hydro, {n: b.name for n, b in body_blocks(self.diagram).items()}
        )
        network = network_of(self.diagram, names, self.findings)
        system = self._system(names, network)
        conditions = self._conditions()
        variants = []
        for omega, group in self._by_omega(conditions):
            hydro = self._hydro_table(omega, names)
            variants.append(
                {"system": system}
                | ({"hydro": hydro} if hydro else {})
                | {"studies": [self._study(condition) for condition in group]}
            )
        report_objects(self.objects, network, self.diagram, self.findings)
        report_blocks(self.diagram, self.findings)
        return Translation(variants, self.hydro, self.where.records)

    def _system(self, names: dict[int, str], network: Network) -> NamedValues:
        centers = {names[n]: center_of(n, b, self.hydro) for n, b in self.bodies.items()}
        starts = {names[n]: start_of(b, centers[names[n]]) for n, b in self.bodies.items()}
        lists: dict[str, list[NamedValues]] = {"bodies": [], "forces": [], "moorings": []}
        for n, body in self.bodies.items():
            name = names[n]
            table = make_bodies.body_table(n, body, name, self.hydro, self.rho, self.findings)
            if body.number("nonlinearHydro", 0.0):
                hull = hull_table(body, self.folder, self.out, centers[name])
                table |= {"hull": hull} if hull else {}
            lists["bodies"].append(table)
            forces = make_bodies.body_forces(body, name, self.rho, centers[name])
            lists["forces"] += forces["forces"]
            lists["moorings"] += forces["moorings"]
        lists["bodies"] += [{"name": name} for name in network.massless]
        unique = Names([row["name"] for rows in lists.values() for row in rows])
        self._add_joints(lists, network, starts, unique)
        moored = translate_moorings(
            self.diagram,
            network,
            self.objects["mooring"],
            centers,
            starts,
            self.folder,
            (self.rho, self.g),
            unique,
            self.findings,
        )
        for key, rows in moored.items():
            if isinstance(rows, list):
                lists[key] = [*lists.get(key, []), *rows]
        self._add_cables(lists, network, unique)
        table = {"name": self.name, "water": self._water()}
        current = current_of(list(self.objects["waves"].values()))
        table |= {"current": current} if current else {}
        table |= {"seabed": moored["seabed"]} if "seabed" in moored else {}
        return table | {key: rows for key, rows in lists.items() if rows}

    def _water(self) -> dict[str, float]:
        water = {"rho": self.rho, "g": self.g}
        depth = math.inf
        with_depth = [
            w for w in self.objects["waves"].values() if w.number("waterDepth") is not None
        ]
        requested = with_depth[0].number("waterDepth") if with_depth else None
        if self.hydro.data is not None:
            depth = float(self.hydro.data["water_depth"])
            gravity = float(self.hydro.data["g"])
            if abs(gravity / self.g - 1.0) > 1e-3:
                self.findings.comment("water", "", f"g of the hydrodynamic data, not {self.g:g}.")
            water["g"] = gravity
            if requested is not None and requested != depth:
                self.findings.comment(
                    "water",
                    "",
                    f"depth of the hydrodynamic data; waves.waterDepth is {requested:g} m.",
                )
        elif requested is not None and requested > 0:
            depth = requested
        return water | ({"depth": depth} if math.isfinite(depth) else {})

    # joints

    def _add_joints(
        self,
        lists: dict[str, list[NamedValues]],
        network: Network,
        starts: dict[str, Start],
        unique: Names,
    ) -> None:
        lists["joints"], lists["ptos"] = [], []
        for base, follower in network.welds:
            name = unique.new(f"{follower}_weld")
            table = {"type": "weld", "name": name, "base": base, "follower": follower}
            lists["joints"].append(table)
            self.findings.comment("joints", name, "one frame of the model carries both.")
        for tie in network.ties:
            specified = self.objects[tie.kind].get(tie.number)
            if specified is None:
                self.findings.leave(
                    self.diagram.place(tie.block),
                    f"{tie.kind}({tie.number}) is not in the script; its defaults are taken.",
                )
                specified = Assignments(
                    tie.kind, tie.number, Object(), self.path.name, self.findings
                )
            self._add_joint(lists, tie, specified, starts, unique)
        joined = {end_name(j[side]) for j in lists["joints"] for side in ("base", "follower")}
        for body in lists["bodies"]:
            if body["name"] not in joined:
                name = unique.new(f"{body['name']}_free")
                start = starts.get(body["name"], REST)
                table = {"type": "free", "name": name, "base": "world", "follower": body["name"]}
                free = make_joints.DOFS["free"]
                begin, _ = coordinates(REST, start, np.zeros(3), np.eye(3), free)
                lists["joints"].append(table | ({"position": begin} if begin else {}))
                self.findings.comment("joints", name, "the model joins it to nothing: it floats.")

    def _add_joint(
        self,
        lists: dict[str, list[NamedValues]],
        tie: Tie,
        specified: Assignments,
        starts: dict[str, Start],
        unique: Names,
    ) -> None:
        wish = make_joints.pto_name(specified, tie.number)
        is_pto = tie.kind == "pto"
        name = unique.new(f"{wish}_{tie.joint}" if is_pto else wish)
        table, start = make_joints.joint_table(tie, specified, name, starts, self.findings)
        lists["joints"].append(table)
        self.findings.comment(
            "joints", name, f"{specified.label}, block '{tie.block.name}': {tie.block.word}."
        )
        if not is_pto:
            stops = make_joints.constraint_stops(
                tie, specified, f"{name}_stops", name, self.findings
            )
            lists["forces"] += [stops] if stops else []
            return
        pto = unique.new(wish)
        lists["ptos"].append(make_joints.pto_table(tie, specified, pto, name, start, self.findings))
        if "actuation" in tie.block.word:
            self.findings.leave(
                self.diagram.place(tie.block),
                f"its force or motion comes from the Simulink diagram; of '{pto}' only spring and "
                "damper are translated. Add a controller to the case.",
            )

    def _add_cables(
        self, lists: dict[str, list[NamedValues]], network: Network, unique: Names
    ) -> None:
        others = {
            f"{tie.kind}({tie.number})": (specified, tie.base, tie.follower)
            for tie in network.ties
            if (specified := self.objects[tie.kind].get(tie.number)) is not None
        }
        for n, specified in self.objects["cable"].items():
            name = unique.new(make_joints.pto_name(specified, n))
            table = cable_table(specified, name, others, self.findings)
            lists["forces"] += [table] if table else []

    # water and runs

    def _conditions(self) -> list[Condition]:
        ramp = max(self.simu.number("rampTime", 100.0), 0.0)
        result: list[Condition] = []
        for row in self.seas:
            other = self.script.changed(row)
            waves = self._givens(other, "waves") if row else self.objects["waves"]
            result += conditions_of(list(waves.values()), ramp, self.where)
            for n, specified in self.objects["waves"].items():
                specified.use_requested(waves[n])
        names = [condition.name for condition in result]
        for k, condition in enumerate(result, 1):
            if names.count(condition.name) > 1:
                condition.name = f"condition{k}"
        return result

    def _by_omega(self, conditions: list[Condition]) -> list[tuple[float | None, list[Condition]]]:
        """Conditions in groups that share the frequency of constant coefficients."""
        groups: dict[float | None, list[Condition]] = {}
        for condition in conditions:
            groups.setdefault(condition.omega, []).append(condition)
        return list(groups.items())

    def _hydro_table(self, omega: float | None, names: dict[int, str]) -> NamedValues:
        if self.hydro.file is None:
            return {}
        file = self.out / f"{self.name}_hydro.nc" if self.hydro.built else self.hydro.file
        table: NamedValues = {"file": relative(file, self.out)}
        if self.hydro.gaps != "error":
            table["gaps"] = self.hydro.gaps
        if omega is not None:
            table |= {"radiation": "constant", "radiation_omega": omega}
        elif not self.simu.number("stateSpace", 0.0):
            length = self.simu.number("cicEndTime", 60.0)
            self.findings.comment(
                "hydro",
                "",
                f"WEC-Sim convolves over {length:g} s; here the memory is a fitted state space.",
            )
        table["coupling"] = bool(self.simu.number("b2b", 0.0))
        curved = [
            names[n]
            for n, body in self.bodies.items()
            if body.number("nonlinearHydro", 0.0)
            and body.text("geometryFile")
            and os.path.isfile(self.folder / body.text("geometryFile").replace("\\", "/"))
        ]
        if curved:
            table["nonlinear"] = curved
        yawing = [body.number("yaw.option", 0.0) for body in self.bodies.values()]
        if any(yawing):
            table["frame"] = "yaw"
            self.findings.comment(
                "hydro",
                "",
                "yaw.option: the data follow the mean yaw over yaw_time here, and the yaw itself "
                "beyond yaw.threshold in WEC-Sim.",
            )
        for body in self.bodies.values():
            body.raw("yaw.threshold")
        return table

    def _study(self, condition: Condition) -> NamedValues:
        begin, end = self.simu.number("startTime", 0.0), self.simu.number("endTime", 500.0)
        if begin:
            self.simu.leave("startTime", "runs begin at zero.")
        step = max(self.simu.number("dtOut", 0.0), self.simu.number("dt", 0.1))
        duration = max(end, 1e-3)
        study: NamedValues = {"type": "simulate", "name": condition.name, "duration": duration}
        if 0 < step < duration:
            study["output_step"] = step
        study["start"] = "described"
        return study | ({"sea": condition.table} if condition.table else {})


def end_name(value: object) -> str:
    """The body of a joint's end."""
    return value["body"] if isinstance(value, dict) else str(value)
