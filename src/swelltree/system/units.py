"""Numbers that look as if they had another unit."""

from __future__ import annotations

import math

from swelltree.system.errors import warn_user

LARGEST_ANGLE = 2.0 * math.pi + 1e-6  # rad: nobody gives a heading beyond a turn
LIGHTEST = 100.0  # kg/m^3: no liquid is lighter


def tell_units(heading: float, rho: float, who: str) -> None:
    """Warn of headings that look like degrees and of a density that looks like t/m^3.

    Args:
        heading: the largest one given [rad].
        rho: density [kg/m^3].
        who: where they were given, to begin the message.
    """
    if abs(heading) > LARGEST_ANGLE:
        warn_user(
            f"{who}: a heading of {heading:.4g} rad is more than a turn and looks like degrees. "
            f"Give {math.radians(heading):.4g} rad for {heading:.4g} degrees."
        )
    if 0.0 < rho < LIGHTEST:
        warn_user(f"{who}: a density of {rho:.4g} kg/m^3 looks like t/m^3. Give Water(rho=1025.0).")
