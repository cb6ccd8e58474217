"""What a benchmark is like, in numbers, tables and drawings: one page, and files beside it."""
