"""Back-ends for vectors, behind one protocol."""
