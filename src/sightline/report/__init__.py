"""Reports and leaderboards: what was measured, with intervals, failures and costs, for people to read."""

from sightline._callable import make_callable

make_callable(__name__)
