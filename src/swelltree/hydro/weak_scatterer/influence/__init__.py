"""Integrals of sources and dipoles of linear density over flat triangles."""
