"""Dynamic lines: nodes with inertia, stepped by the two-step scheme."""
