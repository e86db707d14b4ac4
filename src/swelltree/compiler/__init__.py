"""From the described system to the model that solvers run."""
