"""A benchmark as others get it: only what may be given away, in a folder that the usual tools load."""
