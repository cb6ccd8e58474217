"""Ranked metrics."""
