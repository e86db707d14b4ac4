"""Hydrodynamic data: dataset, checks, frames, gaps, writing."""
