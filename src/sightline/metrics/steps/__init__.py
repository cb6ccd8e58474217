"""Reasoning steps: read from text, aligned with a reference, checked for order and contradictions."""
