"""Two floats joined to each other and to the seabed by a network of lines with free junctions.

The network sketched by Wuillaume, Fabien and Combourieu: lines connect points on the bodies,
anchors on the seabed and free nodes. One line is a rope that goes slack, one carries a clump
weight, one a small float.
"""

import sys

import xarray as xr

import swelltree as sw


def network() -> sw.System:
    """Two buoys, five anchors, three junctions, nine lines."""
    depth = 60.0
    hull = sw.Cylinder(radius=3.0, draft=2.5, height=4.5)
    a, b = (
        sw.Body(name, hull=hull, com=(0, 0, -1.5), reference_point=(0, 0, 0), position=(x, 0, 0))
        for name, x in (("west", -15.0), ("east", 15.0))
    )
    chain, rope = sw.chain(0.05), sw.polyester(0.08)
    clump = sw.Junction("clump", (0, 0, -14), mass=3000.0, volume=0.4)
    floats = [
        sw.Junction(f"float_{side}", (sign * 55.0, 0, -22), mass=300.0, volume=0.9, drag_area=0.6)
        for side, sign in (("west", -1), ("east", 1))
    ]
    lines = [
        # the buoys hold each other through a clump weight
        sw.Line("hold_west", clump, a.at(3, 0, -1), 20.0, rope, segments=6),
        sw.Line("hold_east", clump, b.at(-3, 0, -1), 20.0, rope, segments=6),
        sw.Line("tether", (0, 0, -depth), clump, 48.0, rope, segments=8),
        # outwards through submerged floats to the seabed
        sw.Line("lead_west", floats[0], a.at(-3, 0, -1), 46.0, rope, segments=8),
        sw.Line("lead_east", floats[1], b.at(3, 0, -1), 46.0, rope, segments=8),
        sw.Line("chain_west", (-150, 0, -depth), floats[0], 110.0, chain, segments=12),
        sw.Line("chain_east", (150, 0, -depth), floats[1], 110.0, chain, segments=12),
        # sideways, straight to the seabed
        sw.Line("north", (-15, 140, -depth), a.at(0, 3, -1), 155.0, chain, segments=12),
        sw.Line("south", (15, -140, -depth), b.at(0, -3, -1), 155.0, chain, segments=12),
    ]
    return sw.System(
        "network",
        bodies=[a, b],
        joints=[sw.Free("free_west", sw.WORLD, a), sw.Free("free_east", sw.WORLD, b)],
        forces=[
            sw.QuadraticDrag(
                f"drag_{x.name}",
                x,
                damping={"Surge": 8e3, "Sway": 8e3, "Heave": 2e4, "Roll": 1e6, "Pitch": 1e6},
            )
            for x in (a, b)
        ],
        lines=lines,
        junctions=[clump, *floats],
        water=sw.Water(depth=depth),
        seabed=sw.Seabed(friction=0.3),
    )


def run(duration: float) -> xr.Dataset:
    """The network in an irregular sea; hulls feel the waves on their actual wetted surface."""
    model = sw.compile(network(), nonlinear=True)
    sea = sw.IrregularSea(sw.Jonswap(Hs=2.0, Tp=7.5), seed=2, beta=0.3, components=60, ramp=20.0)
    return sw.simulate(model, sea, duration=duration, output_step=0.5)


def main(duration: float = 30.0) -> None:
    result = run(duration)
    tension = result.fairlead_tension
    for line in result.line.values:
        own = tension.sel(line=line)
        print(f"{line:12s} {float(own.min()) / 1e3:7.1f} to {float(own.max()) / 1e3:7.1f} kN")
    assert result.attrs["result"] == "success", result.attrs["message"]
    assert result.attrs["steps_rescued"] == 0
    assert float(result.penetration.max()) < 1e-6
    # the buoys stay within some metres of their equilibrium
    moved = result.position.isel(dof=slice(0, 2))
    assert float(abs(moved - moved.isel(time=0)).max()) < 15.0


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0)
