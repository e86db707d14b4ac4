"""What each operation of a traced program becomes in a program of single numbers."""
