"""What a benchmark is on disk: read it, write it, say what is wrong with it."""
