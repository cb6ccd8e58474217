"""The demo: a synthetic photo history, searched and scored."""
