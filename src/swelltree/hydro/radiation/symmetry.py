"""Motions that do not radiate into each other, found from the data alone.

A symmetric hull radiates heave and sway apart; equal barges in a row radiate apart what they do
alike and what they do in opposition. Each set of such motions can be fitted by itself, which is
faster and needs no states for what is known to be zero.
"""

import numpy as np
from jaxtyping import Complex

from swelltree.jit import Array

COUPLING = 1e-3  # sets of motions coupled by less than this part of the largest are fitted apart
MAX_DOFS = 60  # DOFs of a set in which mirror images are looked for
ROWS = 8  # frequencies looked at: what is not a symmetry fails at most of them


def independent_parts(K: Complex[Array, "f m m"]) -> tuple[Array, ...]:
    """Sets of motions that radiate apart, each as an orthonormal basis (m, k).

    Motions that do not radiate are in none of them.
    """
    m, bases = K.shape[1], []
    for group in linked(K):
        inside = K[:, group][:, :, group]
        turn = _mirrored(inside) if 2 < len(group) <= MAX_DOFS else np.eye(len(group))
        for part in linked(turn.T @ inside @ turn):
            basis = np.zeros((m, len(part)))
            basis[group] = turn[:, part]
            bases.append(basis)
    return tuple(bases)


def linked(K: Array) -> list[list[int]]:
    """DOFs connected by entries above noise."""
    size = np.sqrt((np.abs(K) ** 2).mean(axis=0))
    linked = size > COUPLING * size.max()
    left, groups = set(range(len(size))), []
    while left:
        group, frontier = set(), {min(left)}
        while frontier:
            group |= frontier
            frontier = {int(j) for i in frontier for j in np.flatnonzero(linked[i])} - group
        left -= group
        # a DOF without any radiation gets no states
        if linked[np.ix_(sorted(group), sorted(group))].any():
            groups.append(sorted(group))
    return groups


def _mirrored(K: Array) -> Array:
    r"""Axes in which K falls apart into blocks, the given ones where it does not.

    A symmetric matrix X that commutes with K at every frequency has eigenspaces that do not
    radiate into each other. Such X are the null space of the operator that belongs to
    :math:`\sum_\omega \| K X - X K \|^2`,

    .. math:: X \mapsto S X + X S - 2 \sum_\omega K X K , \qquad S = \sum_\omega K^2 ,

    real and imaginary parts of K by themselves. One is picked at random, so that its eigenspaces
    are as small as can be.
    """
    m = K.shape[1]
    rows = np.unique(np.linspace(0, len(K) - 1, ROWS).round().astype(int))
    K = K[rows] / np.sqrt((np.abs(K[rows]) ** 2).sum())
    i, j = np.triu_indices(m)
    # orthonormal basis of the symmetric matrices
    unit = np.where(i == j, 0.5, 0.5**0.5)
    E = np.zeros((i.size, m, m))
    E[np.arange(i.size), i, j] = E[np.arange(i.size), j, i] = np.where(i == j, 1.0, unit)
    image = np.zeros_like(E)
    for k in (*K.real, *K.imag):
        image += k @ (k @ E) + (E @ k) @ k - 2 * (k @ E @ k)
    value, vector = np.linalg.eigh((image[:, i, j] + image[:, j, i]) * unit)
    common = vector[:, value < COUPLING**2]
    if common.shape[1] < 2:  # the unit matrix alone commutes
        return np.eye(m)
    chosen = common @ np.random.default_rng(0).standard_normal(common.shape[1])
    return np.linalg.eigh(np.tensordot(chosen, E, 1))[1]
