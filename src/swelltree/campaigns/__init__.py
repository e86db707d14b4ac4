"""Campaigns: thousands of cases of one model, run by many processes into one store."""
