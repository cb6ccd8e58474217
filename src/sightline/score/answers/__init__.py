"""Answers metrics."""
