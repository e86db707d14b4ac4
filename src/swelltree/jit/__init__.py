"""Traced functions as native code: flat equations of single numbers, loops kept, by LLVM."""
