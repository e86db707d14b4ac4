"""From the chains of cables to arrays: the group of forces, and the added mass of the nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swelltree.describe import System
from swelltree.describe.bodies.body import Point
from swelltree.describe.mooring.line_types import LineType
from swelltree.model.model import Bodies
from swelltree.mooring.cable.cable_winch import Drums, Reel
from swelltree.mooring.cable.cables import Cables, Elements, wet_part
from swelltree.mooring.cable.expand import Chain
from swelltree.mooring.winches import Winches, build_winches
from swelltree.multibody.build_layout import local_point, pose_of
from swelltree.multibody.layout import Layout

_WATER = ("diameter", "Cdn", "Cdt", "Can", "Cat", "lift")


def damping_of(kind: LineType, length: float) -> float:
    """CA of an element [N s]; a ratio refers to the critical damping of its two half masses."""
    if kind.damping_ratio is None:
        return float(kind.BA or 0.0)
    return float(kind.damping_ratio * length * np.sqrt((kind.EA or 0.0) * kind.mass_per_length))


def build_cables(system: System, layout: Layout, chains: tuple[Chain, ...]) -> Cables:
    """The group of all cables.

    Args:
        system: with the bodies of the cables.
        layout: of it.
        chains: what the cables are made of.
    """
    rows = [
        (chain, k, kind, length)
        for chain in chains
        for k, (kind, length) in enumerate(zip(chain.types, chain.rest_lengths, strict=True))
    ]

    def column(values: list[float]) -> np.ndarray:
        return np.array(values, dtype=float)

    elements = Elements(
        rest_length=column([length for _, _, _, length in rows]),
        mass_per_length=column([kind.mass_per_length for _, _, kind, _ in rows]),
        EA=column([kind.EA or 0.0 for _, _, kind, _ in rows]),
        CA=column([damping_of(kind, length) for _, _, kind, length in rows]),
        pushes=column([float(chain.line.slack == "damped") for chain, _, _, _ in rows]),
        wet=column([float(not chain.line.dry) for chain, _, _, _ in rows]),
        **{name: column([getattr(kind, name) for _, _, kind, _ in rows]) for name in _WATER},
    )
    upper = [chain.nodes[k] for chain, k, _, _ in rows]
    lower = [chain.nodes[k + 1] for chain, k, _, _ in rows]
    names = tuple(chain.line.name for chain in chains)
    drums = build_drums(system, layout, chains, np.asarray(elements.rest_length))
    winches = () if drums is None else tuple(f"winch {name}" for name in drums.winches.names)
    return Cables(
        elements=elements,
        point_A=np.array([local_point(system, point) for point in upper]),
        point_B=np.array([local_point(system, point) for point in lower]),
        body_A=tuple(_number(layout, point) for point in upper),
        body_B=tuple(_number(layout, point) for point in lower),
        line=tuple(names.index(chain.line.name) for chain, _, _, _ in rows),
        lines=names,
        names=(*names, *winches),
        in_water=any(not chain.line.dry for chain in chains),
        drums=drums,
        turned=tuple(chain.turned for chain in chains),
    )


def build_drums(
    system: System, layout: Layout, chains: tuple[Chain, ...], rest: np.ndarray
) -> Drums | None:
    """Winches of multibody cables, None if there are none."""
    names = [chain.line.name for chain in chains]
    winches = build_winches(system, layout, names, "multibody")
    if winches is None:
        return None
    winches = _measured_at_chains(system, layout, winches, chains)
    begin = np.cumsum([0, *(len(chain.rest_lengths) for chain in chains)])
    reels, start, per_length = [], rest.copy(), []
    for k in winches.line:
        chain, n = chains[k], len(chains[k].rest_lengths)
        bodies = [_number(layout, point) for point in chain.nodes]
        joints = [layout.joints.index(f"{point.body}_link") for point in chain.nodes[1:]]
        tree = layout.dofs[: layout.n_tree]
        half = f"{chain.line.name}_0"
        # the first section may come in and out, but for one element of it
        full = chain.line.segment_counts[0]
        reel = Reel(
            elements=tuple(range(begin[k], begin[k] + n)),
            nodes=tuple(bodies),
            dofs=tuple(tuple(i for i, d in enumerate(tree) if d.joint == j) for j in joints),
            idle=chain.idle,
            spare=chain.idle + full - 1,
            tip=layout.bodies.index(half) if half in layout.bodies else layout.n_bodies,
        )
        reels.append(reel)
        start[begin[k] : begin[k] + chain.idle] = 0.0
        per_length.append(chain.types[0].mass_per_length)
    return Drums(winches, np.array(per_length), start, tuple(reels))


def _measured_at_chains(
    system: System, layout: Layout, winches: Winches, chains: tuple[Chain, ...]
) -> Winches:
    """Junctions are bodies here: what is measured there is the first node of the cable."""
    bodies, points = list(winches.tip_body), np.array(winches.tip_point)
    for w, junction in enumerate(winches.tip_junction):
        if junction:
            point = chains[winches.line[w]].nodes[0]
            bodies[w] = _number(layout, point)
            points[w] = local_point(system, point)
    return replace(winches, tip_body=tuple(bodies), tip_point=points)


def _number(layout: Layout, point: Point) -> int:
    return layout.n_bodies if point.body == "world" else layout.bodies.index(point.body)


def with_cable_added_mass(
    bodies: Bodies, system: System, layout: Layout, group: Cables, chains: tuple[Chain, ...]
) -> Bodies:
    """Bodies with the added mass of the halves of elements that are wet as described.

    At the nodes of a multibody cable it is across and along the element above the node and turns
    with it. At free points and at bodies of other kinds it is the same in all directions.
    """
    if not group.in_water:
        return bodies
    elements = group.elements
    full, d = np.asarray(elements.rest_length), np.asarray(elements.diameter)
    out = full if group.drums is None else np.asarray(group.drums.start_rest)
    volume = 0.125 * np.pi * d**2 * out * np.asarray(elements.wet)
    block = {
        node.body
        for chain in chains
        if chain.line.model == "multibody"
        for node in chain.nodes
        if node.body.startswith(f"{chain.line.name}_")
    }
    A = np.zeros((layout.n_bodies, 6, 6))
    for numbers, points in ((group.body_A, group.point_A), (group.body_B, group.point_B)):
        for e, (body, point) in enumerate(zip(numbers, points, strict=True)):
            if body == layout.n_bodies:
                continue
            name = layout.bodies[body]
            p, R = pose_of(system, name)
            z = (p + R @ (point + np.array(system.body(name).reference)))[2]
            height = 0.5 * float(full[e])
            wet = float(wet_part(np.zeros(1), np.array([z]), np.array([height]))[0][0])
            across, along = float(elements.Can[e]), float(elements.Cat[e])
            part = across * np.eye(3)
            if name in block:
                part = np.diag([across, across, along])
            arm = np.cross(np.eye(3), point)  # rows: e_i x point
            J = np.hstack([np.eye(3), -arm.T])
            A[body] += system.water.rho * volume[e] * wet * J.T @ part @ J
    if not A.any():
        return bodies
    return replace(bodies, added_mass=A if bodies.added_mass is None else bodies.added_mass + A)
