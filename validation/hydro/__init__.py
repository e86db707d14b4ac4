"""Hydrodynamics and flow against data, papers and other codes."""
