"""A published data set: only what may be given away, in a folder that the usual tools load."""
