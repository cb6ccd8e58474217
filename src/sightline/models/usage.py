"""Tokens as servers report them, in the words of either API; what a server leaves out is not guessed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sightline.types import Usage

NOT_REPORTED = Usage(reported=False)


def read_usage(reported: Any) -> Usage:
    """The tokens of one call; `reported` is false on the result when the server did not say."""
    if not isinstance(reported, dict):
        return NOT_REPORTED
    known_in = _count(reported, "prompt_tokens", "input_tokens")
    known_out = _count(reported, "completion_tokens", "output_tokens")
    if known_in is None and known_out is None:
        return NOT_REPORTED
    input_, output = known_in or 0, known_out or 0
    sent = _details(reported, "prompt_tokens_details", "input_tokens_details")
    came = _details(reported, "completion_tokens_details", "output_tokens_details")
    if not sent and not came and "prompt_cache_hit_tokens" not in reported:
        return Usage(input=input_, output=output)
    reasoning = _count(came, "reasoning_tokens") or 0
    total = _count(reported, "total_tokens")
    # Some servers count thinking beside the output instead of in it; the total gives them away.
    if reasoning and (reasoning > output or total == input_ + output + reasoning):
        output += reasoning
    return Usage(
        input=input_,
        cached=min(input_, _count(sent, "cached_tokens") or _count(reported, "prompt_cache_hit_tokens") or 0),
        output=output,
        reasoning=reasoning,
        image=min(input_, _count(sent, "image_tokens") or 0),
        cache_written=min(input_, _count(sent, "cache_write_tokens") or 0),
    )


def _details(reported: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        found = reported.get(name)
        if isinstance(found, dict):
            return found
    return {}


def _count(reported: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = reported.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None
