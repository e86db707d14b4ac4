"""Water, seas, currents and hydrodynamic data."""
