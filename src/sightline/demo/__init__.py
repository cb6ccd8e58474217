"""A first look: the flow on built-in samples (`samples`), or at what can be seen and found in one's own (`own`)."""
