"""Linear hydrodynamics as data: BEM runs, files of other codes, checks, fits."""
