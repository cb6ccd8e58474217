"""Files and folders: written whole or not at all, JSONL, locks, SQLite, checksums, temporary files."""
