"""How to find a picture: an index over vectors, words and metadata, and every way to ask it."""
