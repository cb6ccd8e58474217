"""Pictures on disk become a corpus: scanned, hashed, grouped and stored."""
