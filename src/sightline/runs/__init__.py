"""Systems under test, and what each said on a benchmark: running them, and the run on disk."""
