"""Traced functions as machine code: flat equations of single numbers, loops kept, by LLVM."""
