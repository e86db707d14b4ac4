"""Quasi-static lines: catenaries between their ends."""
