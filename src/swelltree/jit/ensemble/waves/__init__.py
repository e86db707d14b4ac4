"""Seas of many cases: drawn, and summed where the cases are stepped."""
