"""Intervals, tests, corrections, tie groups and power: numpy only, deterministic in a seed."""
