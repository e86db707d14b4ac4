"""Programs for many cases in parallel, in SIMD lanes or GPU threads."""
