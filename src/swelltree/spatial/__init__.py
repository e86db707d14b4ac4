"""Vectors, rotations and small linear algebra."""
