"""Moorings: linear, catenary, dynamic lines and cables; seabed, winches and junctions."""
