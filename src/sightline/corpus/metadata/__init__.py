"""Photo metadata: EXIF, XMP and IPTC inside a picture, `.xmp` and Google Takeout files beside it."""

from __future__ import annotations

from dataclasses import replace

from PIL import Image

from sightline.corpus.metadata import exif, iptc, sidecar, xmp
from sightline.corpus.metadata.embedded import embedded_metadata
from sightline.corpus.metadata.facts import MetadataFacts, combine, merge_facts
from sightline.corpus.metadata.sidecar import read_sidecar

__all__ = ["MetadataFacts", "merge_facts", "read_facts", "read_sidecar", "sidecar"]


def read_facts(image: Image.Image) -> MetadataFacts:
    """What the metadata inside an opened image says; decodes no pixel, and never raises for what the metadata is.

    Time, position, device, lens: EXIF, then XMP, then IPTC. Words and rating: XMP, then IPTC, then EXIF.
    """
    found = embedded_metadata(image)
    from_exif = exif.facts(found.exif)
    turned = exif.orientation(found.exif)
    if found.xmp is None and found.iptc is None:
        return from_exif if turned in (None, 1) else replace(from_exif, orientation=turned)
    properties = xmp.parse(found.xmp) if found.xmp else xmp.XmpProperties()
    from_xmp = xmp.facts(properties)
    from_iptc = iptc.facts(iptc.parse(found.iptc or b""))
    both = combine((from_exif, from_xmp, from_iptc), (from_xmp, from_iptc, from_exif), unite_keywords=False)
    if turned is None and image.format != "TIFF":
        turned = xmp.orientation(properties)
    return replace(both, orientation=turned or 1)
