"""Sets metrics."""
