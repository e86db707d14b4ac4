"""MATLAB input scripts: read, never executed."""
