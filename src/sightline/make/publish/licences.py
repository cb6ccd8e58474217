"""Licences by one name each, and which of them let pictures be given on."""

from __future__ import annotations

import re

UNKNOWN = "unknown"
"""Stands for pictures of which no licence is known."""

_URL = re.compile(r"creativecommons\.org/(licenses|publicdomain)/([a-z-]+)/(\d\.\d)")
_WORDS = {
    "attribution": "by",
    "noncommercial": "nc",
    "sharealike": "sa",
    "noderivatives": "nd",
    "noderivs": "nd",
}
_ALIASES = {
    "cc0": "cc0-1.0",
    "cc-zero": "cc0-1.0",
    "cc0-1.0-universal": "cc0-1.0",
    "pdm": "public-domain",
    "pdm-1.0": "public-domain",
    "public-domain-mark-1.0": "public-domain",
    "us-gov-public-domain": "public-domain",
    "apache2": "apache-2.0",
}
_SHARED = re.compile(
    r"cc0-1\.0|cc-by(-nc)?(-sa|-nd)?(-\d\.\d)?|public-domain|pddl(-1\.0)?|odbl(-1\.0)?|odc-by(-1\.0)?|"
    r"cdla-(permissive|sharing)-\d\.\d|mit|apache-2\.0|bsd-[23]-clause|etalab-2\.0"
)
# What the Hugging Face hub calls them; others are "other" there.
_ON_THE_HUB = re.compile(
    r"cc0-1\.0|cc-by-(2\.0|2\.5|3\.0|4\.0)|cc-by-sa-(3\.0|4\.0)|cc-by-nc-(2\.0|3\.0|4\.0)|cc-by-nd-4\.0|"
    r"cc-by-nc-nd-(3\.0|4\.0)|cc-by-nc-sa-(2\.0|3\.0|4\.0)|pddl|odbl|odc-by|mit|apache-2\.0|bsd-[23]-clause|etalab-2\.0|"
    r"cdla-permissive-(1\.0|2\.0)|cdla-sharing-1\.0"
)


def licence_id(text: str | None) -> str:
    """One name for the ways in which a licence is written: "CC BY 4.0", its address, "cc-by-4.0"; or `UNKNOWN`."""
    plain = (text or "").strip().casefold()
    if not plain or plain == UNKNOWN:
        return UNKNOWN
    address = _URL.search(plain)
    if address is not None:
        kind, terms, version = address.groups()
        if kind == "licenses":
            return f"cc-{terms}-{version}"
        return "cc0-1.0" if terms == "zero" else "public-domain"
    plain = plain.replace("creative commons", "cc").removesuffix(" license").removesuffix(" licence")
    words = [
        _WORDS.get(word, word) for word in re.split(r"[\s_-]+", plain) if word not in ("international", "unported")
    ]
    joined = "-".join(words)
    return _ALIASES.get(joined, joined)


def may_be_shared(licence: str) -> bool:
    """Does this licence, by its one name, let a picture be given on?"""
    return _SHARED.fullmatch(licence) is not None


def on_the_hub(licence: str) -> str:
    """The name of a licence in the head of a card."""
    return licence if _ON_THE_HUB.fullmatch(licence) else "other"
