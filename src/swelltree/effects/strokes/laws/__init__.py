"""PTO laws: the force as a function of stroke and rate."""
