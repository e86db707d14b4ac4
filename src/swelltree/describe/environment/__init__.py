"""Water, currents and wind (`water`), seas and their spectra, hydrodynamic data."""
