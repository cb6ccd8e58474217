"""Batches: the calls of any stage as files that a provider works off within a day, at half the price."""
