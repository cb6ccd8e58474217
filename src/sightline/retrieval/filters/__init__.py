"""Filters on what is known of a picture: parsed by a grammar, never evaluated (docs/filters.md)."""
