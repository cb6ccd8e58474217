"""What is wrong with a filter, and where."""

from __future__ import annotations

from sightline.errors import UserError


class FilterError(UserError):
    """A filter that can't be used; `at` is the place of the character, from 0."""

    def __init__(self, what: str, at: int, fix: str | None = None) -> None:
        super().__init__(f"{what} at character {at + 1}.", fix)
        self.at = at


class TooDeepError(FilterError):
    """A filter of which it is clear how to read it, and that is nested too deep to be read."""
