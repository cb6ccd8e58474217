"""The chat model `builtin/world`: a reader's eyes, a grammar's ears, and plain rules between them."""
