"""A running simulation in the browser, with sliders."""
