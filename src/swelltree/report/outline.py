"""A system as a tree in the terminal, and what its compilation noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.describe import Case, System
from swelltree.describe.casefile.studies import OperabilityStudy, Study
from swelltree.describe.environment.water import FlowField
from swelltree.describe.forces.elements import AppliedForce, Force, SpringDamper
from swelltree.describe.forces.immersion import IMMERSION_TYPES
from swelltree.describe.forces.viscous import VISCOUS_TYPES
from swelltree.describe.forces.weak_scatterer import WeakScatterer
from swelltree.describe.notebook import counted
from swelltree.describe.values import NamedValues
from swelltree.integrate.complementarity.state import usual_formulation
from swelltree.jit import Tree
from swelltree.model.capabilities import HasUnknowns, having

if TYPE_CHECKING:
    from rich.console import RenderableType

    from swelltree.describe.joints.joint import Joint
    from swelltree.describe.mooring.line import LineEnd
    from swelltree.describe.pto import Pto
    from swelltree.model.model import Model


def outline(case: Case, model: Model, notes: list[str]) -> RenderableType:
    """What a checked case holds: bodies and joints, DOFs, remarks, studies.

    Args:
        case: the case.
        model: its compiled system.
        notes: further messages.
    """
    from rich.console import Group
    from rich.text import Text

    layout = model.layout
    dofs = model.dofs
    loops = len(case.system.topology.loops)
    parts: list[RenderableType] = [
        system_tree(case.system),
        Text(""),
        Text.assemble(
            (f"{dofs}", "bold"),
            f" {'degree' if dofs == 1 else 'degrees'} of freedom: {layout.n_tree} of the tree",
            f", less {layout.n_tree - dofs} from loops and prescribed motions"
            if model.cut_rows
            else "",
            f"; {counted(len(layout.described) and layout.n_bodies, 'body')}, "
            f"{counted(len(layout.described) and layout.n_joints, 'joint')}, "
            f"{counted(loops, 'loop')}",
        ),
        Text(
            f"{counted(len(case.system.forces), 'force element')}, "
            f"{counted(len(case.system.controllers), 'controller')}, "
            f"{counted(len(case.system.sensors), 'sensor')}; rho {case.system.water.rho:g} kg/m^3, "
            f"g {case.system.water.g:g} m/s^2"
        ),
    ]
    parts += [Text(f"- {sentence}", style="yellow") for sentence in (*model.report, *notes)]
    parts += [
        Text.assemble("study ", (s.name, "cyan"), f": {study_text(s, model)}") for s in case.studies
    ]
    if not case.studies:
        parts.append(Text("no studies: add [[studies]] to run something"))
    return Group(*parts)


def system_tree(system: System) -> RenderableType:
    """Bodies below the joints that hold them, loops at the end."""
    from rich.text import Text
    from rich.tree import Tree

    topology = system.topology
    tree = Tree(Text.assemble((system.name, "bold"), "  world"), guide_style="dim")
    branches: dict[int, Tree] = {-1: tree}
    for i, (name, joint, parent) in enumerate(
        zip(topology.body_names, topology.tree_joint, topology.parent, strict=True)
    ):
        implicit = joint == f"{name}_free" and name in topology.implicit_free
        about = "free" if implicit else joint_text(system.joint(joint))
        label = Text.assemble(
            (joint, "green"), (f" {about}  ", "dim"), (name, "cyan"), f" {body_text(system, name)}"
        )
        branches[i] = branches[parent].add(label)
    if topology.cut_joints:
        cut = tree.add(Text("closed by equations", style="italic"))
        for name in topology.cut_joints:
            joint = system.joint(name)
            ends = f"{joint.base.body} - {joint.follower.body}"
            cut.add(Text.assemble((name, "green"), (f" {joint_text(joint)}  ", "dim"), ends))
    springs = [f for f in system.forces if isinstance(f, SpringDamper)]
    if springs:
        branch = tree.add(Text("springs", style="italic"))
        for f in springs:
            branch.add(Text.assemble((f.name, "green"), f" {f.a.body} - {f.b.body}"))
    for f in system.forces:
        if isinstance(f, AppliedForce):
            tree.add(Text.assemble((f.name, "green"), f" applied to {f.point.body}"))
        elif isinstance(f, WeakScatterer):
            on = ", ".join(f.bodies) or "all hulls"
            tree.add(Text.assemble((f.name, "green"), (f" {f.type}  ", "dim"), f"on {on}"))
        elif f.type in VISCOUS_TYPES | IMMERSION_TYPES:
            on = next(iter(f.points.values())).body
            tree.add(Text.assemble((f.name, "green"), (f" {f.type}  ", "dim"), f"on {on}"))
    for title, items in machinery(system):
        branch = tree.add(Text(title, style="italic"))
        for name, about in items:
            branch.add(Text.assemble((name, "green"), f" {about}"))
    return tree


def machinery(system: System) -> list[tuple[str, list[tuple[str, str]]]]:
    """PTOs, moorings, lines and winches with their attachments."""
    parts = {
        "power take-offs": [(p.name, f"{p.type}, on {_place(p)}") for p in system.ptos],
        "moorings": [(m.name, f"{m.type}, on {m.body.body}") for m in system.moorings],
        "lines": [
            (line.name, f"{line.model}, {_end(line.A)} - {_end(line.B)}") for line in system.lines
        ],
        "winches": [(w.name, f"on line {w.line}") for w in system.winches],
    }
    return [(title, items) for title, items in parts.items() if items]


def _place(pto: Pto) -> str:
    return f"joint {pto.joint}" if pto.joint is not None else f"{pto.a.body} - {pto.b.body}"


def _end(end: LineEnd) -> str:
    """Attachment of a line end."""
    for field in ("body", "junction", "line"):
        if getattr(end, field, None) is not None:
            return str(getattr(end, field))
    return str(end)


def joint_text(joint: Joint) -> str:
    dofs = [f"{d} prescribed" if d in joint.motions() else d for d in joint.layout().dofs]
    return f"{joint.type}: {', '.join(dofs)}" if dofs else joint.type


def body_text(system: System, name: str) -> str:
    body = system.resolved.body(name)
    volume = body.displaced_volume
    return f"{body.mass:g} kg" + (f", displaces {volume:g} m^3" if volume else "")


def study_text(study: Study, model: Model) -> str:
    """Short description of a study."""
    moored = bool(having(model, HasUnknowns))
    words, run = [study.type], study.in_time
    if isinstance(study, OperabilityStudy):
        sizes = " x ".join(f"{len(values)} {name}" for name, values in study.over)
        words.append(f"{sizes}, {len(study.limits)} limits")
    if run is not None:
        solver = run.arguments()["solver"] or ("two_step" if moored else "tsit5")
        words.append(f"{run.duration:g} s with {solver}")
    formulation = getattr(run or study, "formulation", None)
    return ", ".join(
        [*words, formulation or (usual_formulation(model) if moored else "path_matrix")]
    )


def without_user_code(system: System) -> tuple[System, list[str]]:
    """The system with every "module:name" replaced by zero, and messages about motions.

    A check must not import the user's modules. Forces and controllers do not matter for it;
    prescribed motions and the speeds of winches do, so a message says so.
    """
    notes, joints, winches = [], [], []
    for winch in system.winches:
        named = isinstance(winch.speed, str)
        if named:
            notes.append(
                f"winch '{winch.name}': speed follows '{winch.speed}', which only a run imports; "
                "the check used zero."
            )
        winches.append(winch.replace(speed=0.0) if named else winch)
    for joint in system.joints:
        texts = {dof: signal for dof, signal in joint.motions().items() if isinstance(signal, str)}
        for dof, text in texts.items():
            notes.append(
                f"joint '{joint.name}': {dof} follows '{text}', which only a run imports; the "
                "check used zero."
            )
        motion = {dof: 0.0 if dof in texts else s for dof, s in joint.motions().items()}
        joints.append(joint.replace(motion=motion) if texts else joint)
    changes: NamedValues = {
        "joints": tuple(joints),
        "forces": tuple(_quiet(force) for force in system.forces),
        "ptos": tuple(_quiet(pto) for pto in system.ptos),
        "winches": tuple(winches),
        "controllers": (),
    }
    if isinstance(system.current, FlowField):
        notes.append("the current is a function, which only a run imports; the check left it out.")
        changes["current"] = None
    return system.replace(**changes), notes


def _quiet(force: Force) -> Force:
    """A force without users' functions."""
    if not isinstance(force, AppliedForce):
        named = isinstance(getattr(force, "force", None), str)
        return force.replace(force=0.0) if named else force
    if force.function is not None:
        return force.replace(function=None, force=(0.0, 0.0, 0.0))
    changes = {
        field: tuple(0.0 if isinstance(s, str) else s for s in signals)
        for field in ("force", "torque")
        if (signals := getattr(force, field)) is not None
    }
    return force.replace(**changes)
