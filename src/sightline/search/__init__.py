"""How to find a picture: an exact search over the vectors of a workspace."""

from sightline._callable import make_callable
from sightline.search.results import Hit, Results

__all__ = ["Hit", "Results"]

make_callable(__name__)
