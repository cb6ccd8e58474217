"""Embedders: pictures and texts into one space, found by name, with their vectors kept in the workspace."""
