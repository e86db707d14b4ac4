"""State space of the memory force: what the time stepper and the frequency domain use."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float

from swelltree.hydro.radiation.reduction import modal
from swelltree.jit import Array


@dataclass(frozen=True)
class RadiationModel:
    r"""Memory force of the water as a linear system with constant coefficients.

    .. math:: \dot\chi = A \chi + B v, \qquad \text{memory\_force} = C \chi, \qquad
        \text{wrench} = -\,\text{memory\_force}

    The states are modal: complex pairs first, each a block [[a, w], [-w, a]], then real poles.
    The transfer function uses the causal time factor e^{+i omega t}; with the package's e^{-i
    omega t}
    take its conjugate.

    Args:
        A: state matrix, block-diagonal [1/s].
        B: input by the body velocities.
        C: memory force per state.
        poles: eigenvalues of A in the order of the states [rad/s].
        n_pairs: how many 2 x 2 blocks come first.
        A_inf: added mass at infinite frequency that belongs to the fit.
        scale: size of each DOF used to compare them.
        storage: matrix of the energy kept by the water, half chi' storage chi; None if the method
            gives none.
        band: lowest and highest frequency of the data [rad/s].
        error: Frobenius misfit over the band relative to K, scaled DOFs.
        error_bound: the error that was asked for.
        freedom_error: the same for each diagonal entry, zero where a DOF does not radiate.
        passivity_margin: min eigenvalue of the Hermitian part over the largest |K|, to ten times
            the band.
        method: how it was found.
        data_inconsistency: part of the data's K that violated causality and was corrected before
            the fit.
        notes: messages about data and fit.
        kernel_error: rms of the kernel's misfit over its rms, of what lies in the band, scaled
            DOFs.
        mass_error: misfit of the added mass over its size, rms weighted by the damping: where the
            bodies radiate.
        damping_error: the same of the damping.
        impulse_error: rms misfit of the impulse response to the cosine transform of the damping,
            continued above the band, over its rms.
        data: frequencies, added mass and damping that it was fitted to, corrected and without what
            was left out.
    """

    A: Float[Array, "k k"]
    B: Float[Array, "k b6"]
    C: Float[Array, "b6 k"]
    poles: Complex[Array, " k"]
    n_pairs: int
    A_inf: Float[Array, "b6 b6"]
    scale: Float[Array, " b6"]
    storage: Float[Array, "k k"] | None
    band: tuple[float, float]
    error: float
    error_bound: float
    freedom_error: Float[Array, " b6"]
    passivity_margin: float
    method: str
    data_inconsistency: float = 0.0
    notes: tuple[str, ...] = ()
    kernel_error: float = 0.0
    mass_error: float = 0.0
    damping_error: float = 0.0
    impulse_error: float = 0.0
    data: tuple[Array, Array, Array] | None = None

    @property
    def order(self) -> int:
        return self.A.shape[0]

    @property
    def stable(self) -> bool:
        return bool((self.poles.real < 0).all())

    @property
    def passive(self) -> bool:
        """Whether the water never returns more energy than it took (to 1e-8)."""
        return self.passivity_margin >= -1e-8

    def transfer(
        self, omega: Float[Array, " f"], onto: Float[Array, "b6 d"] | None = None
    ) -> Complex[Array, "f d d"]:
        """K(i omega) = B(omega) + i omega (A(omega) - A_inf), time factor e^{+i omega t}.

        Args:
            omega: frequencies [rad/s].
            onto: T of T^T K T; K itself if not given.
        """
        gain = 1.0 / (1j * np.asarray(omega, dtype=float)[:, None] - self.poles)
        left, right = self._modes()
        if onto is not None:
            left, right = onto.T @ left, right @ onto
        return (left * gain[:, None, :]) @ right

    def kernel(self, time: Float[Array, " lag"]) -> Float[Array, "lag b6 b6"]:
        """Impulse response C exp(A t) B."""
        left, right = self._modes()
        gain = np.exp(np.asarray(time, dtype=float)[:, None] * self.poles)
        return ((left * gain[:, None, :]) @ right).real

    def _modes(self) -> tuple[Array, Array]:
        """C and B in complex modal coordinates."""
        left, right = self.C.astype(complex), self.B.astype(complex)
        for k in range(0, 2 * self.n_pairs, 2):
            # block [[a, w], [-w, a]]: chi = Re part of conjugate pair
            left[:, k] = (self.C[:, k] + 1j * self.C[:, k + 1]) / 2
            right[k] = self.B[k] - 1j * self.B[k + 1]
            left[:, k + 1], right[k + 1] = np.conj(left[:, k]), np.conj(right[k])
        return left, right

    def added_mass(self, omega: Float[Array, " f"]) -> Float[Array, "f b6 b6"]:
        omega = np.asarray(omega, dtype=float)
        return self.A_inf + self.transfer(omega).imag / omega[:, None, None]

    def radiation_damping(self, omega: Float[Array, " f"]) -> Float[Array, "f b6 b6"]:
        return self.transfer(omega).real

    def summary(self) -> str:
        """One line: order, error, passivity."""
        return (
            f"radiation: {self.method}, {self.order} states, error {100 * self.error:.2g} % "
            f"(asked {100 * self.error_bound:.2g} %) over {self.band[0]:.3g}-{self.band[1]:.3g} "
            "rad/s, "
            f"passivity margin {self.passivity_margin:.1e}"
        )


def passivity_margin(
    transfer: Complex[Array, "f m m"],
) -> float:
    """Min eigenvalue of the Hermitian part over the largest |K|, over the given frequencies."""
    largest = np.abs(transfer).max()
    if largest == 0:
        return 0.0
    half = (transfer + np.conj(transfer.transpose(0, 2, 1))) / 2
    return float(np.linalg.eigvalsh(half)[:, 0].min() / largest)


def modal_parts(
    A: Array, B: Array, C: Array, storage: Array | None
) -> tuple[tuple[Array, Array, Array], Array, int, Array | None, float]:
    """Modal matrices, poles, number of pairs, storage of the new states, condition."""
    matrices, poles, T, condition = modal(A, B, C)
    stored = None if storage is None else T.T @ storage @ T
    return matrices, poles, int((poles.imag > 0).sum()), stored, condition
