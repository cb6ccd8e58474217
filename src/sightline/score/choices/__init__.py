"""Choices metrics."""
