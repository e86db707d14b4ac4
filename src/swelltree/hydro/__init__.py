"""Hydrodynamic data: read, check, move and write what other codes computed."""
