"""Rows, forces and reports of lines in a step."""
