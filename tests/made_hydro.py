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


def vessel(name: str = "vessel", step_deg: float = 15.0):
    """Dataset of one slender body with six freedoms and headings all around, symmetric about xz."""
    import xarray as xr

    omega = np.linspace(0.1, 4.0, 60)
    dofs = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")
    label = [f"{name}__{dof}" for dof in dofs]
    size = np.array([0.2, 1.0, 1.0, 3.0, 40.0, 40.0])
    A_inf = A_INF * np.diag(size)
    A_inf[0, 4] = A_inf[4, 0] = -0.4 * A_INF
    A_inf[1, 3] = A_inf[3, 1] = 0.9 * A_INF
    K = memory(omega)[:, None, None] * np.diag(size)
    A = A_inf + K.imag / omega[:, None, None]
    beta = np.radians(np.arange(0.0, 360.0, step_deg))
    shape = np.stack(
        [
            -1j * np.cos(beta),  # behind the crest, as in long waves
            -1.5j * np.sin(beta),
            1.0 + 0.3 * np.cos(2 * beta),
            -2.0j * np.sin(beta),
            8.0 * np.cos(beta),
            5.0 * np.sin(2 * beta),
        ],
        axis=-1,
    )
    F = 0.2 * excitation(omega)[:, None, None] * shape
    G = STIFFNESS * np.diag([0.0, 0.0, 1.0, 3.0, 60.0, 0.0])
    rows = ("omega", "influenced_dof", "radiating_dof")
    data = {
        "added_mass": (rows, np.concatenate([A, A_inf[None]])),
        "radiation_damping": (rows, np.concatenate([K.real, 0.0 * A_inf[None]])),
        "excitation_force": (
            ("omega", "wave_direction", "influenced_dof"),
            np.concatenate([F, 0.0 * F[:1]]),
        ),
        "hydrostatic_stiffness": (("influenced_dof", "radiating_dof"), G),
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
        "wave_direction": beta,
        "influenced_dof": label,
        "radiating_dof": label,
        "body": [name],
        "xyz": ["x", "y", "z"],
    }
    return xr.Dataset(data, coords, {"time_convention": "exp(-iwt)"})
