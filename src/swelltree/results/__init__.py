"""Results: labelled datasets with units and frames, their files, energy budget and summary."""
