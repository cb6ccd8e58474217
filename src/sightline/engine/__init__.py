"""Many items at once: asyncio map, worker processes, the connection to a Ray cluster, progress."""
