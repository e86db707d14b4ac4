"""States of rest."""
