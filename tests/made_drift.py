"""Hydrodynamic data with second-order loads in closed form, for tests."""

import numpy as np

DOFS = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")
OMEGA = np.linspace(0.3, 1.8, 31)
RHO, MASS, ADDED = 1025.0, 2.0e6, 5.0e5


def mean_drift(omega, beta=0.0):
    """Surge pushes, heave pulls below 1 rad/s and lifts above it, pitch changes sign twice."""
    omega, beta = np.asarray(omega, float), np.asarray(beta, float)
    surge = 6e4 * omega**2 / (1 + omega**4) * np.cos(beta)
    sway = 6e4 * omega**2 / (1 + omega**4) * np.sin(beta)
    heave = 2e4 * (omega - 1.0) + 0 * beta
    pitch = 5e4 * np.cos(4 * omega) + 0 * beta
    zero = 0.0 * surge
    return np.stack(np.broadcast_arrays(surge, sway, heave, zero, pitch, zero), axis=-1)


def newman_pairs(first, second=None):
    """Q(first, second) of Newman's rule, by freedom."""
    second = first if second is None else second
    plus = np.sqrt(np.maximum(first, 0)) * np.sqrt(np.maximum(second, 0))
    return plus - np.sqrt(np.maximum(-first, 0)) * np.sqrt(np.maximum(-second, 0))


def smooth_pairs(w1, w2):
    """A difference-frequency function with a phase, conjugate symmetric."""
    middle, apart = 0.5 * (w1 + w2), w1 - w2
    return mean_drift(middle) * ((1 + apart**2) * np.exp(0.7j * apart))[..., None]


def smooth_sums(w1, w2):
    """A sum-frequency function, symmetric."""
    return mean_drift(0.5 * (w1 + w2)) * (0.3 * np.exp(0.2j * (w1 + w2)))[..., None]


def drift_data(name="box", headings=(0.0,), center=(0.0, 0.0, 0.0), second=("mean",), omega=OMEGA):
    """A dataset of one body; second-order variables as asked for: mean, newman, qtf, sum."""
    import xarray as xr

    headings = np.asarray(headings, float)
    labels = [f"{name}__{dof}" for dof in DOFS]
    f, d = len(omega), len(headings)
    radiation, force = ("omega", "influenced_dof", "radiating_dof"), ("omega", "wave_direction")
    A = np.tile(ADDED * np.diag([1, 1, 1, 10.0, 10.0, 10.0]), (f + 1, 1, 1))
    stiffness = np.zeros((6, 6))
    stiffness[2, 2], stiffness[3, 3], stiffness[4, 4] = 1e6, 4e8, 4e8
    F = 1e4 * np.ones((f + 1, d, 6), complex)
    D = np.full((f + 1, d, 6), np.nan)
    D[:f] = mean_drift(omega[:, None], headings[None, :])
    variables = {
        "added_mass": (radiation, A),
        "radiation_damping": (radiation, 0.0 * A),
        "excitation_force": ((*force, "influenced_dof"), F),
        "hydrostatic_stiffness": (("influenced_dof", "radiating_dof"), stiffness),
        "displaced_volume": ("body", [MASS / RHO]),
        "center_of_buoyancy": (("body", "xyz"), [center]),
        "center_of_mass": (("body", "xyz"), [center]),
        "rotation_center": (("body", "xyz"), [center]),
        "rho": RHO,
        "g": 9.81,
        "water_depth": np.inf,
    }
    coords = {
        "omega": np.append(omega, np.inf),
        "wave_direction": headings,
        "influenced_dof": labels,
        "radiating_dof": labels,
        "body": [name],
        "xyz": ["x", "y", "z"],
    }
    if "mean" in second:
        variables["mean_drift"] = ((*force, "influenced_dof"), D)
    w1, w2 = np.meshgrid(omega, omega, indexing="ij")
    built = {}
    if "newman" in second:
        here = D[:f].transpose(1, 0, 2)
        built["difference"] = newman_pairs(here[:, :, None], here[:, None]).transpose(1, 2, 0, 3)
    if "qtf" in second:
        built["difference"] = np.repeat(smooth_pairs(w1, w2)[:, :, None], d, axis=2)
    if "sum" in second:
        built["sum"] = np.repeat(smooth_sums(w1, w2)[:, :, None], d, axis=2)
    for short, values in built.items():
        axes = (f"{short}_omega_1", f"{short}_omega_2")
        variables[f"qtf_{short}"] = ((*axes, f"{short}_headings", "influenced_dof"), values + 0j)
        coords |= dict.fromkeys(axes, omega)
        coords |= {f"{short}_heading_{k}": (f"{short}_headings", headings) for k in (1, 2)}
    return xr.Dataset(variables, coords, {"time_convention": "exp(-iwt)"})
