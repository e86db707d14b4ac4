"""Radiation: kernel, fit, passivity."""
