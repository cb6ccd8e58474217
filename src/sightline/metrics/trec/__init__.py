"""TREC files scored straight from disk, by trec_eval's rules."""
