"""Views: outline of a system in the terminal, plots, and a report that opens by double click."""
