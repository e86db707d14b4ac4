"""The boundary value problem of the perturbation potential: unknowns, matrices, solution."""
