"""Steps metrics."""
