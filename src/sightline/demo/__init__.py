"""A first look: the whole flow on a life of the built-in world (`world`), or at one's own pictures (`own`)."""
