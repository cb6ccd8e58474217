"""The parts of a chapter, each from one section of what was gathered to blocks."""
