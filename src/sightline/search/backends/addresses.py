"""Addresses without what is secret in them: for manifests, messages and logs."""

from __future__ import annotations

import re
from urllib.parse import unquote

_IN_URL = re.compile(r"(?P<before>\w+://[^/\s:@]*):(?P<secret>[^\s/?#]*)@")
_IN_PAIRS = re.compile(
    r"(?P<before>\b(?:password|sslpassword|api_?key|token)\s*=\s*)(?P<secret>'(?:[^'\\]|\\.)*'|[^\s&,#]+)", re.I
)


def public(address: str) -> str:
    """The address with every password and key taken out."""
    return _IN_PAIRS.sub(r"\g<before>…", _IN_URL.sub(r"\g<before>@", address))


def without_secrets(message: str, address: str) -> str:
    """One line of a message about an address, with no secret of it in there."""
    line = public(" ".join(message.split()).rstrip("."))
    for pattern in (_IN_URL, _IN_PAIRS):
        for match in pattern.finditer(address):
            secret = match["secret"].strip("'")
            for form in {secret, unquote(secret)} - {""}:
                line = line.replace(form, "…")
    return line
