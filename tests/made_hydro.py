"""Hydrodynamic data with known answers, for tests: heaving floats with a rational memory.

K(s) = K0 s (s + a) / ((s + b)^2 + c^2) scaled; B and A follow from it exactly, so the fit and
the frequency domain can be compared with closed forms.
"""

import numpy as np

STIFFNESS, A_INF, MASS = 8.0e5, 1.2e5, 2.6e5
DECAY, SWING, SIZE = 0.7, 1.1, 1.5e5


def memory(omega):
    """K(i omega) = B + i omega (A - A_inf)."""
    s = 1j * np.asarray(omega)
    return SIZE * s * 2 * DECAY / ((s + DECAY) ** 2 + SWING**2)


def excitation(omega):
    """Heave excitation per metre, exp(-iwt)."""
    return STIFFNESS * np.exp(-0.6 * np.asarray(omega) ** 2) * np.exp(0.2j * np.asarray(omega))


def heaving_float(name: str = "float", omega=None):
    """Dataset of one body that moves in heave only."""
    import xarray as xr

    omega = np.linspace(0.05, 6.0, 120) if omega is None else omega
    K = memory(omega)
    dof = [f"{name}__Heave"]
    A = A_INF + K.imag / omega
    data = {
        "added_mass": (
            ("omega", "influenced_dof", "radiating_dof"),
            np.append(A, A_INF)[:, None, None],
        ),
        "radiation_damping": (
            ("omega", "influenced_dof", "radiating_dof"),
            np.append(K.real, 0.0)[:, None, None],
        ),
        "excitation_force": (
            ("omega", "wave_direction", "influenced_dof"),
            np.append(excitation(omega), 0.0)[:, None, None],
        ),
        "hydrostatic_stiffness": (("influenced_dof", "radiating_dof"), [[STIFFNESS]]),
        "displaced_volume": ("body", [MASS / 1000.0]),
        "center_of_buoyancy": (("body", "xyz"), [[0.0, 0.0, -1.0]]),
        "center_of_mass": (("body", "xyz"), [[0.0, 0.0, 0.0]]),
        "rotation_center": (("body", "xyz"), [[0.0, 0.0, 0.0]]),
        "rho": 1000.0,
        "g": 9.81,
        "water_depth": np.inf,
    }
    coords = {
        "omega": np.append(omega, np.inf),
        "wave_direction": [0.0],
        "influenced_dof": dof,
        "radiating_dof": dof,
        "body": [name],
        "xyz": ["x", "y", "z"],
    }
    return xr.Dataset(data, coords, {"time_convention": "exp(-iwt)"})
