"""Mathematical functions in LLVM IR, the same for scalars, vectors and PTX, to two ulp."""
