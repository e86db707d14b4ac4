"""The compiled system: arrays as leaves, topology static."""
