"""The quality of a trace: all checks of the replies to one question, and one number from those that could be made.

A pure function of its input, so that worker processes can run it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sightline.reason.traces.claims import (
    LABEL_SCORES,
    VERIFIED_EACH,
    ClaimAgreement,
    TraceClaim,
    compare_claims,
    cover_caption,
    cover_facts,
    find_label,
    split_claims,
)
from sightline.reason.traces.filters import FilteredReply, filter_reply
from sightline.reason.traces.records import (
    CUT_OFF,
    CheckedTrace,
    CheckJob,
    Findings,
    TeacherReplies,
    TraceQuestion,
    TraceRules,
    Verdict,
    Verified,
)
from sightline.types import Box, Failure, Json

WEIGHTS: Mapping[str, float] = {
    "grounding": 3.0,
    "facts": 3.0,
    "label": 2.0,
    "caption": 1.0,
    "agreement": 1.0,
    "thinking": 1.0,
    "variety": 1.0,
}
"""grounding: claims that who looked at the picture supports / claims judged. facts, caption, label: see `claims`.
agreement: mean share of claims that another teacher made too, less a quarter for each contradiction.
thinking: 1 with thinking of at least 8 words, else 0. variety: 1 − share of repeated 8-grams."""
_EVIDENCE = ("grounding", "facts", "caption", "agreement")
"""What can speak for a trace that does not name the picture's class; form alone does not."""
_LEAST_CONSISTENT = 0.5
"""Of the claims of an answer, so many must not be contradicted by its own thinking."""
_CONFLICT_COSTS = 0.25
_THOUGHT = 8
_DIGITS = 3


def quality_of(parts: Mapping[str, float]) -> float:
    """Σ weight · part / Σ weight, over the parts that are known; each part is between 0 and 1."""
    total = sum(WEIGHTS[name] for name in parts)
    return sum(WEIGHTS[name] * value for name, value in parts.items()) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class _PassedReply:
    """A reply that passed the filters."""

    place: int
    sifted: FilteredReply
    claims: tuple[TraceClaim, ...]


def check_replies(job: CheckJob) -> Findings:
    """Every reply to a question filtered, compared with what is known and with the others, and scored."""
    question, asked, rules, teachers = job
    traces: dict[int, CheckedTrace] = {}
    sound: list[_PassedReply] = []
    for place, said in enumerate(asked.replies):
        if isinstance(said, Failure):
            why = CUT_OFF.get(said.kind, said.kind)
            traces[place] = CheckedTrace("failed", reasons=(why,), failure=said)
            continue
        sifted = filter_reply(said, rules)
        if sifted.reasons:
            traces[place] = CheckedTrace("rejected", sifted.thinking, sifted.answer, sifted.reasons)
        else:
            sound.append(_PassedReply(place, sifted, split_claims(sifted.answer)))
    pairs = _compare(sound, teachers)
    for one in sound:
        traces[one.place] = _scored(
            one, question, asked, rules, [pair for key, pair in pairs.items() if one.place in key]
        )
    shares = [pair.share for pair in pairs.values() if pair.share is not None]
    conflicts = {(found.kind, found.one, found.other): None for pair in pairs.values() for found in pair.conflicts}
    return Findings(tuple(traces[place] for place in range(len(asked.replies))), _mean(shares), tuple(conflicts))


def _compare(sound: list[_PassedReply], teachers: tuple[str, ...]) -> dict[tuple[int, int], ClaimAgreement]:
    return {
        (one.place, other.place): compare_claims(one.claims, other.claims)
        for number, one in enumerate(sound)
        for other in sound[number + 1 :]
        if not _is_echo(one, other, teachers)
    }


def _is_echo(one: _PassedReply, other: _PassedReply, teachers: tuple[str, ...]) -> bool:
    """Did one teacher say the very same twice? That it agrees with itself tells nothing."""
    if not teachers or teachers[one.place] != teachers[other.place]:
        return False
    return (one.sifted.thinking, one.sifted.answer) == (other.sifted.thinking, other.sifted.answer)


def _scored(
    one: _PassedReply, question: TraceQuestion, asked: TeacherReplies, rules: TraceRules, pairs: list[ClaimAgreement]
) -> CheckedTrace:
    parts, notes = _beside_truth(one, question)
    agreement = _agreement(pairs)
    if agreement is not None:
        parts["agreement"] = agreement
    if isinstance(asked.verified, Verified):
        grounding = _grounding(one, asked.verified, notes)
        if grounding is not None:
            parts["grounding"] = grounding
    parts["thinking"] = float(len(one.sifted.thinking.split(maxsplit=_THOUGHT)) >= _THOUGHT)
    parts["variety"] = 1 - one.sifted.repeated
    quality, consistency = quality_of(parts), _consistency(one, notes)
    if consistency < 1:  # A figure and a filter; as a part of quality it would hide behind the others.
        parts["consistency"] = consistency
    reasons = []
    if notes.get("label") == "denied" or "against_facts" in notes:
        reasons.append("contradicted")
    elif notes.get("label") == "missing" and not any(parts.get(name) for name in _EVIDENCE):
        reasons.append("unsupported")
    if consistency < _LEAST_CONSISTENT:
        reasons.append("inconsistent")
    if parts.get("grounding", 1.0) < rules.least_grounded:
        reasons.append("ungrounded")
    if quality < rules.least_quality:
        reasons.append("low-quality")
    return CheckedTrace(
        "rejected" if reasons else "kept",
        one.sifted.thinking,
        one.sifted.answer,
        tuple(reasons),
        round(quality, _DIGITS),
        {name: round(value, _DIGITS) for name, value in parts.items()},
        notes,
    )


def _beside_truth(one: _PassedReply, question: TraceQuestion) -> tuple[dict[str, float], dict[str, Json]]:
    """What the prompt gave away says nothing of the trace, so it is no part of its quality."""
    known, told = question.subject.known, question.told
    parts: dict[str, float] = {}
    notes: dict[str, Json] = {}
    if known.labels and "label" not in told:
        state = find_label(known.labels, one.sifted.thinking, one.sifted.answer)
        parts["label"], notes["label"] = LABEL_SCORES[state], state
    if known.caption and "caption" not in told:
        covered = cover_caption(known.caption, one.claims, one.sifted.answer)
        parts["caption"] = covered.score
        if covered.against:
            notes["against_caption"] = list(covered.against)
    if known.facts:
        covered = cover_facts(known.facts, one.claims)
        parts["facts"] = covered.score
        if covered.against:
            notes["against_facts"] = list(covered.against)
    return parts, notes


def _consistency(one: _PassedReply, notes: dict[str, Json]) -> float:
    """How much of the answer its own thinking leaves standing; 1 without thinking or claims."""
    if not one.claims or not one.sifted.thinking:
        return 1.0
    conflicts = compare_claims(split_claims(one.sifted.thinking), one.claims).conflicts
    if conflicts:
        notes["against_thinking"] = [conflict.other for conflict in conflicts]
    return 1 - min(len(one.claims), len({conflict.other for conflict in conflicts})) / len(one.claims)


def _agreement(pairs: list[ClaimAgreement]) -> float | None:
    shares = [max(0.0, pair.share - _CONFLICT_COSTS * len(pair.conflicts)) for pair in pairs if pair.share is not None]
    return _mean(shares)


def _grounding(one: _PassedReply, verified: Verified, notes: dict[str, Json]) -> float | None:
    claims = [claim.text for claim in one.claims[:VERIFIED_EACH]]
    verdicts = {claim: verified.verdicts[claim] for claim in claims if claim in verified.verdicts}
    if not verdicts:
        return None
    notes["claims"] = [_noted(claim, verdict, verified.regions.get(claim)) for claim, verdict in verdicts.items()]
    return sum(verdict == "supported" for verdict in verdicts.values()) / len(verdicts)


def _noted(claim: str, verdict: Verdict, region: Box | None) -> dict[str, Json]:
    shown: dict[str, Json] = {"claim": claim, "verdict": verdict}
    if region is not None:
        shown["region"] = [round(edge, _DIGITS) for edge in (region.left, region.top, region.right, region.bottom)]
    return shown


def _mean(values: list[float]) -> float | None:
    return round(sum(values) / len(values), _DIGITS) if values else None
