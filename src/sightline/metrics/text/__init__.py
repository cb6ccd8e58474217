"""Text against one or more references."""
