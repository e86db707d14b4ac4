"""A square matrix factored once, to solve with it many times."""

from __future__ import annotations

import numpy as np

from swelltree.solvers.lapack import lapack


class Factor:
    """LU of a matrix; a singular one gives numbers that are not finite."""

    def __init__(self, A: np.ndarray) -> None:
        self.lu, self.pivots, info = lapack().dgetrf(A)
        self.good = info == 0 and bool(np.isfinite(self.lu).all())

    def solve(self, b: np.ndarray, transposed: bool = False) -> np.ndarray:
        """x of A x = b, or of the transpose of A."""
        if not self.good:
            return np.full(b.shape, np.nan)
        return lapack().dgetrs(self.lu, self.pivots, b, trans=int(transposed))[0]
