"""Claims verified by a model that looks at the picture, and is told nothing of who made them.

Claims that name a part of it, by a box or in words, are judged by that part, which is shown beside the whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from sightline.models.failures import failure
from sightline.models.protocols import ChatModel
from sightline.models.structured import Wanted, ask_again
from sightline.reason.traces.claims import VERIFIED_EACH, split_claims
from sightline.reason.traces.crops import Crop, crops_for
from sightline.reason.traces.filters import sift
from sightline.reason.traces.nouns import Question, Rules, Said, Verdict, Verified
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Message

STAGE = "verify"
MAX_TOKENS = 4_096
_INSTRUCTION = (
    "Look at the picture and judge each numbered claim by what can be seen, not by what is likely. "
    '"supported": it can be seen to be true. "contradicted": it can be seen to be false. '
    '"unclear": the picture does not tell. Give one verdict for each number.\n\n'
)


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
def _wanted() -> Wanted[Verdicts]:
    """Made once: building a schema takes longer than reading a reply."""
    return Wanted.of(Verdicts, {Verdicts: "Verdicts", ClaimVerdict: "ClaimVerdict"})


def claims_to_verify(replies: Sequence[Said | Failure], rules: Rules) -> tuple[str, ...]:
    """The claims of all replies that pass the filters, each once."""
    found: dict[str, None] = {}
    for said in replies:
        if isinstance(said, Said):
            sifted = sift(said, rules)
            if not sifted.reasons:
                found.update((claim.text, None) for claim in split_claims(sifted.answer, VERIFIED_EACH))
    return tuple(found)


def request_for(model: str, question: Question, claims: Sequence[str], crops: Sequence[Crop] = ()) -> ChatRequest:
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
    model: ChatModel, question: Question, replies: Sequence[Said | Failure], rules: Rules
) -> Verified | Failure:
    """One call for all claims of all teachers, since most of its price is the picture; one more if it does not fit."""
    claims = claims_to_verify(replies, rules)
    if not claims:
        return Verified({}, 0.0)
    crops = await asyncio.to_thread(crops_for, question.subject.uri, claims)
    request = request_for(model.name, question, claims, crops)
    first = await model.reply(request)
    found = _read(first, claims, crops)
    if not isinstance(found, Failure) or found.kind != "wrong-schema":
        return found
    said = first if isinstance(first, ChatReply) else None
    second = _read(await model.reply(ask_again(request, found.message, said)), claims, crops)
    both = None if found.usd is None or second.usd is None else found.usd + second.usd
    if isinstance(second, Failure):
        return replace(second, usage=second.usage or found.usage, usd=both)
    return replace(second, usd=both)


def _read(reply: ChatReply | Failure, claims: Sequence[str], crops: Sequence[Crop]) -> Verified | Failure:
    """Exactly one verdict for each claim, or a failure: a verifier that skips some has not looked."""
    if isinstance(reply, Failure):
        return reply
    value = _wanted().read(reply)
    if isinstance(value, Failure):
        return replace(value, usage=reply.usage, usd=reply.usd)
    verdicts = {one.claim: one.verdict for one in value.verdicts}
    if len(value.verdicts) != len(claims) or set(verdicts) != set(range(1, len(claims) + 1)):
        wrong = failure("wrong-schema", f"expected one verdict for each of the claims 1 to {len(claims)}")
        return replace(wrong, usage=reply.usage, usd=reply.usd)
    regions = {claims[number - 1]: crop.box for crop in crops for number in crop.claims}
    return Verified({claim: verdicts[number] for number, claim in enumerate(claims, 1)}, reply.usd, regions)
