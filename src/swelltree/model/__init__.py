"""The compiled model: arrays are leaves, the layout is static; the base class of effects."""
