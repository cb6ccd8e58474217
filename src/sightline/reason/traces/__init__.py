"""Thinking and answers of several teachers about pictures: asked, filtered, checked, and kept in shards.

Docs: docs/think.md.
"""
