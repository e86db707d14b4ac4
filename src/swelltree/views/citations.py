"""The papers behind the methods that a result used, found from its own attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

FORMULATIONS = {
    "path_matrix": "MBS4WEC, Dynamic simulation of multi-body systems for wave energy conversion "
    "with non-linear body-to-body joints, NUI Maynooth. (path matrix)",
    "partial_velocity": "Ó Catháin, Fossen, Leira (2006), Control-oriented modeling of a 2-body "
    "interconnected marine structure, MCMC'06, Lisbon. (partial velocities)",
    "composite_body": "Wuillaume, Rongère, Babarit, Philippe, Ferrant (2017), and Featherstone "
    "(2008), Rigid Body Dynamics Algorithms, Springer. (composite bodies)",
    "partition": "Paparella, Bacelli, Ó Catháin, Ringwood (2015), On the solution of multi-body "
    "wave energy converter motions using pseudo-spectral methods, EWTEC. (coordinate partition)",
    "lagrange": "Fabien, An approach to modeling multibody systems with compliant moorings, "
    "University of Washington; Paparella et al. (2015). (Lagrange multipliers)",
}
SOLVERS = {
    "tsit5": "Tsitouras (2011), Runge-Kutta pairs of order 5(4) satisfying only the first column "
    "simplifying assumption, Computers & Mathematics with Applications 62. (time stepping)",
    "dopri5": "Dormand, Prince (1980), A family of embedded Runge-Kutta formulae, Journal of "
    "Computational and Applied Mathematics 6. (time stepping)",
}
# variable of the result -> paper
FORCES = {
    "radiation_force": "Cummins (1962), The impulse response function and ship motions, "
    "Schiffstechnik 9; Gustavsen, Semlyen (1999), Rational approximation of frequency domain "
    "responses by vector fitting, IEEE Transactions on Power Delivery 14. (radiation memory)",
    "drift_force": "Pinkster (1980), Low frequency second order wave exciting forces on floating "
    "structures, TU Delft; Newman (1974). (second-order wave loads)",
    "member_force": "Morison, Johnson, Schaaf, O'Brien (1950), The force exerted by surface waves "
    "on piles, Petroleum Transactions 189. (slender members)",
    "slamming_force": "von Karman (1929), The impact on seaplane floats during landing, NACA "
    "TN 321. (entry into the water)",
    "line_position": "Wuillaume et al. (2017). (cables)",
}
SEAS = {
    "Jonswap": "Hasselmann et al. (1973), Measurements of wind-wave growth and swell decay during "
    "the Joint North Sea Wave Project, Deutsche Hydrographische Zeitschrift A8. (sea spectrum)",
    "PiersonMoskowitz": "Pierson, Moskowitz (1964), A proposed spectral form for fully developed "
    "wind seas, Journal of Geophysical Research 69. (sea spectrum)",
    "OchiHubble": "Ochi, Hubble (1976), Six-parameter wave spectra, ICCE. (sea spectrum)",
    "FocusedWave": "Tromans, Anaturk, Hagemeijer (1991), A new model for the kinematics of large "
    "ocean waves, ISOPE. (focused wave)",
    "StreamFunction": "Fenton (1988), The numerical solution of steady water wave problems, "
    "Computers & Geosciences 14. (steep wave)",
    "Cos2s": "Jefferys (1987), Directional seas should be ergodic, Applied Ocean Research 9. "
    "(short-crested sea)",
}
RAYLEIGH = (
    "Longuet-Higgins (1952), On the statistical distribution of the heights of sea waves, Journal "
    "of Marine Research 11. (most probable maximum)"
)


def citations(dataset: xr.Dataset) -> list[str]:
    """Sources of the methods of a result, each once."""
    attrs = dataset.attrs
    wave = str(attrs.get("sea", ""))
    texts = [
        FORMULATIONS.get(str(attrs.get("formulation", "")), ""),
        SOLVERS.get(str(attrs.get("solver", "")), ""),
        *(text for name, text in FORCES.items() if name in dataset),
        *(text for name, text in SEAS.items() if name in wave),
        RAYLEIGH if "time" in dataset.dims else "",
    ]
    return list(dict.fromkeys(text for text in texts if text))
