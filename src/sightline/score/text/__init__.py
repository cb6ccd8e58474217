"""Text metrics."""
