"""Force elements: `elements`, `viscous`, `immersion`, `weak_scatterer`; controllers, signals."""
