"""What a case holds beside what was translated, reported by object and by block."""

from __future__ import annotations

from swelltree.interchange.wecsim.diagram import MECHANICS, RIM, Block, Diagram
from swelltree.interchange.wecsim.findings import Findings
from swelltree.interchange.wecsim.given import Given
from swelltree.interchange.wecsim.network import Network

# they only show, keep or hand on signals
QUIET_BLOCKS = (
    *("Scope", "ToWorkspace", "Display", "Terminator", "ToFile", "Clock", "Goto", "From"),
    *("Inport", "Outport", RIM),
)


def tell_objects(
    objects: dict[str, dict[int, Given]], network: Network, diagram: Diagram, findings: Findings
) -> None:
    """Objects without a block, PTO-Sim models and control laws, and fields that were not read."""
    used = {(tie.kind, tie.number) for tie in network.ties} | set(network.merged)
    for kind in ("constraint", "pto"):
        for n, given in objects[kind].items():
            if (kind, n) not in used:
                findings.leave(given.place(), f"{given.label} has no block in {diagram.path.name}.")
            if (kind, n) not in used or (kind, n) in network.merged:
                given.use_all()
    for kind in ("ptoSim", "controller"):
        for given in objects[kind].values():
            what = given.first_text() or "control law"
            findings.leave(
                given.place(),
                f"{given.label} ({what}) belongs to the Simulink diagram; it is not translated.",
            )
    for kind in ("simu", "waves", "body", "constraint", "pto", "mooring", "cable"):
        for given in objects[kind].values():
            given.tell_unused()


def tell_blocks(diagram: Diagram, findings: Findings) -> None:
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
