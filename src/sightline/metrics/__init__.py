"""Metrics, statistics and comparison: pure functions of truth and prediction."""
