"""The equations of a step solved: blocks, complementarity, rescue."""
