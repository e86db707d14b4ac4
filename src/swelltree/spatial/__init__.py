"""Vectors, rotations and small linear algebra: the bottom of the road."""
