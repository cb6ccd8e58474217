"""Grounding: a model that looks at the picture verifies claims, without being told who made them.

It is also shown crops of the parts that the claims mention.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from PIL import Image

from sightline.corpus import metadata
from sightline.corpus.pixels import MAX_PIXELS, RefusedError
from sightline.metrics.text.regions import regions_in
from sightline.models.embedders.pixels import decode_region
from sightline.models.failures import failure
from sightline.models.pictures import is_web, open_one, read_source
from sightline.models.protocols import ChatModel
from sightline.models.replies import total_usd
from sightline.models.structured_output import ReplySchema, ask_twice
from sightline.reason.traces.claims import VERIFIED_EACH, split_claims
from sightline.reason.traces.filters import filter_reply
from sightline.reason.traces.records import TeacherReply, TraceQuestion, TraceRules, Verdict, Verified
from sightline.types import Box, ChatReply, ChatRequest, Failure, ImagePart, Message

MOST_CROPS = 6
"""Parts that are shown beside one picture; each is one more picture to pay for."""
_MARGIN = 0.1
_SIDE = 768
_NEARLY_ALL = 0.8
_ON_ITS_SIDE = frozenset({5, 6, 7, 8})
STAGE = "verify"
MAX_TOKENS = 4_096
_INSTRUCTION = (
    "Look at the picture and judge each numbered claim by what can be seen, not by what is likely. "
    '"supported": it can be seen to be true. "contradicted": it can be seen to be false. '
    '"unclear": the picture does not tell. Give one verdict for each number.\n\n'
)


@dataclass(frozen=True, slots=True)
class Crop:
    """A part of a picture, and the claims (by number, from 1) that speak of it."""

    box: Box
    claims: tuple[int, ...]
    png: bytes


def crops_for(uri: str, claims: Sequence[str]) -> tuple[Crop, ...]:
    """One for each part that is named; none where the picture is not on this machine or can't be read."""
    if is_web(uri) or not any(map(regions_in, claims)):
        return ()
    data = read_source(ImagePart(uri))
    if isinstance(data, Failure):
        return ()  # Whoever is shown the whole picture finds out why.
    size = _size(data)
    named: dict[Box, list[int]] = {}
    for number, claim in enumerate(claims, 1):
        for box in regions_in(claim, size):
            named.setdefault(box, []).append(number)
    parts = [(box, numbers) for box, numbers in named.items() if _area(box) < _NEARLY_ALL]
    cut = ((box, tuple(numbers), _cut(data, widened(box))) for box, numbers in parts[:MOST_CROPS])
    return tuple(Crop(box, numbers, png) for box, numbers, png in cut if png is not None)


def widened(box: Box) -> Box:
    """A little more than was named: words are not exact, and what stands at the edge is cut in two."""
    across, down = _MARGIN * (box.right - box.left), _MARGIN * (box.bottom - box.top)
    return Box(
        max(0.0, box.left - across),
        max(0.0, box.top - down),
        min(1.0, box.right + across),
        min(1.0, box.bottom + down),
    )


def _area(box: Box) -> float:
    return (box.right - box.left) * (box.bottom - box.top)


def _size(data: bytes) -> tuple[int, int] | None:
    """Width and height, upright."""
    try:
        image = open_one(data)
    except RefusedError:
        return None
    lies = metadata.read_facts(image).orientation in _ON_ITS_SIDE
    return (image.height, image.width) if lies else image.size


def _cut(data: bytes, box: Box) -> bytes | None:
    pixels = decode_region(data, _SIDE, MAX_PIXELS, box)
    if isinstance(pixels, Failure):
        return None
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """A claim's number, and what is seen of it."""

    claim: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One verdict for each claim."""

    verdicts: list[ClaimVerdict]


@cache
def _wanted() -> ReplySchema[Verdicts]:
    """Made once: building a schema takes longer than reading a reply."""
    return ReplySchema.of(Verdicts, {Verdicts: "Verdicts", ClaimVerdict: "ClaimVerdict"})


def claims_to_verify(replies: Sequence[TeacherReply | Failure], rules: TraceRules) -> tuple[str, ...]:
    """The claims of all replies that pass the filters, each once."""
    found: dict[str, None] = {}
    for said in replies:
        if isinstance(said, TeacherReply):
            sifted = filter_reply(said, rules)
            if not sifted.reasons:
                found.update((claim.text, None) for claim in split_claims(sifted.answer, VERIFIED_EACH))
    return tuple(found)


def request_for(model: str, question: TraceQuestion, claims: Sequence[str], crops: Sequence[Crop] = ()) -> ChatRequest:
    """What the verifier is asked: the picture, the parts of it that claims speak of, and the claims by number."""
    listed = "\n".join(f"{number}. {claim}" for number, claim in enumerate(claims, 1))
    wanted = _wanted()
    shown = [part for crop in crops for part in (_introduced(crop), ImagePart("", crop.png))]
    message = Message("user", (ImagePart(question.subject.uri), *shown, _INSTRUCTION + listed))
    return ChatRequest(model, (message,), schema=wanted.schema, schema_name=wanted.name, max_tokens=MAX_TOKENS)


def _introduced(crop: Crop) -> str:
    """What is said before a part of the picture, which is shown larger."""
    claims = f"claim {crop.claims[0]}" if len(crop.claims) == 1 else f"claims {', '.join(map(str, crop.claims))}"
    across, down = (
        f"{100 * low:.0f} to {100 * high:.0f} %"
        for low, high in ((crop.box.left, crop.box.right), (crop.box.top, crop.box.bottom))
    )
    return f"A part of the same picture, {across} from its left and {down} from its top, for {claims}:"


async def verify(
    model: ChatModel, question: TraceQuestion, replies: Sequence[TeacherReply | Failure], rules: TraceRules
) -> Verified | Failure:
    """One call for all claims of all teachers, since most of its price is the picture; one more if it does not fit."""
    claims = claims_to_verify(replies, rules)
    if not claims:
        return Verified({}, 0.0)
    crops = await asyncio.to_thread(crops_for, question.subject.uri, claims)
    request = request_for(model.name, question, claims, crops)
    found, came = await ask_twice(model, request, lambda reply: _read(reply, claims, crops))
    usd = total_usd(reply.usd for reply in came)
    if isinstance(found, Failure):
        return replace(found, usage=found.usage or came[0].usage, usd=usd)
    return replace(found, usd=usd)


def _read(reply: ChatReply, claims: Sequence[str], crops: Sequence[Crop]) -> Verified | Failure:
    """Exactly one verdict for each claim, or a failure: a verifier that skips some has not looked."""
    value = _wanted().read(reply)
    if isinstance(value, Failure):
        return replace(value, usage=reply.usage, usd=reply.usd)
    verdicts = {one.claim: one.verdict for one in value.verdicts}
    if len(value.verdicts) != len(claims) or set(verdicts) != set(range(1, len(claims) + 1)):
        wrong = failure("wrong-schema", f"expected one verdict for each of the claims 1 to {len(claims)}")
        return replace(wrong, usage=reply.usage, usd=reply.usd)
    regions = {claims[number - 1]: crop.box for crop in crops for number in crop.claims}
    return Verified({claim: verdicts[number] for number, claim in enumerate(claims, 1)}, reply.usd, regions)
