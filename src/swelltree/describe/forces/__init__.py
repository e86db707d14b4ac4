"""Force elements, controllers, sensors and signals."""
