"""IPTC, the older form of captions and keywords, as Photoshop keeps it in JPEG and TIFF files."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sightline.corpus.metadata.facts import BROKEN_IPTC, IMPLAUSIBLE_TIME, MetadataFacts, believe
from sightline.corpus.metadata.values import decode, keyword_tuple, parse_time

_RESOURCE = 0x0404
_TITLE, _KEYWORD, _DATE, _TIME, _BYLINE, _HEADLINE, _COPYRIGHT, _CAPTION = 5, 25, 55, 60, 80, 105, 116, 120
_WANTED = frozenset({_TITLE, _KEYWORD, _DATE, _TIME, _BYLINE, _HEADLINE, _COPYRIGHT, _CAPTION})


class IptcRecords(NamedTuple):
    """The wanted datasets of the application record, as text; `broken` when the block is cut short."""

    values: Mapping[int, list[str]] = {}
    broken: bool = False

    def text(self, dataset: int) -> str | None:
        return next(iter(self.values.get(dataset, [])), None)


def find_in_photoshop(data: bytes) -> bytes | None:
    """The IPTC block among Photoshop's image resources."""
    at = 0
    while data[at : at + 4] == b"8BIM" and at + 12 <= len(data):
        code = int.from_bytes(data[at + 4 : at + 6], "big")
        at += 6 + (data[at + 6] + 2) // 2 * 2  # The name is padded to an even length, its length byte included.
        size = int.from_bytes(data[at : at + 4], "big")
        if code == _RESOURCE:
            return data[at + 4 : at + 4 + size]
        at += 4 + (size + 1) // 2 * 2
    return None


def parse(data: bytes) -> IptcRecords:
    """The datasets of an IPTC block: marker, record, dataset, two bytes of length, value."""
    values: dict[int, list[str]] = {}
    at = 0
    while at + 5 <= len(data) and data[at] == 0x1C:
        record, dataset = data[at + 1], data[at + 2]
        size = int.from_bytes(data[at + 3 : at + 5], "big")
        at += 5
        if size & 0x8000:  # Long form: what follows is the length of the length.
            digits = size & 0x7FFF
            size = int.from_bytes(data[at : at + digits], "big") if digits <= 8 else len(data)
            at += digits
        value = data[at : at + size]
        if len(value) < size:
            return IptcRecords(values, broken=True)
        at += size
        if record == 2 and dataset in _WANTED and (text := decode(value)):
            values.setdefault(dataset, []).append(text)
    return IptcRecords(values, broken=bool(data[at:].strip(b"\0 ")))


def facts(records: IptcRecords) -> MetadataFacts:
    """What IPTC says."""
    warnings = [BROKEN_IPTC] if records.broken else []
    text = records.text
    return MetadataFacts(
        taken_at=believe(IMPLAUSIBLE_TIME, warnings, _time, records),
        title=text(_TITLE) or text(_HEADLINE),
        description=text(_CAPTION),
        keywords=keyword_tuple(records.values.get(_KEYWORD, [])),
        creator="; ".join(records.values.get(_BYLINE, [])) or None,
        copyright=text(_COPYRIGHT),
        warnings=tuple(warnings),
    )


def _time(records: IptcRecords) -> datetime | None:
    """`20210503` and `101112+0200`; GIMP writes `2021-05-03` and `10:11:12`."""
    date = (records.text(_DATE) or "").replace("-", "")
    clock = (records.text(_TIME) or "").replace(":", "")
    if not date:
        return None
    time = f"T{clock[:2]}:{clock[2:4]}:{clock[4:6]}{clock[6:]}" if len(clock) >= 6 else ""
    return parse_time(f"{date[:4]}-{date[4:6]}-{date[6:]}{time}")
