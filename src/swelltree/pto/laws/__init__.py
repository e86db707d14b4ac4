"""PTO laws: force as a function of stroke and rate."""
