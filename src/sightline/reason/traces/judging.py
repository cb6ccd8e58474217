"""All checks of one question's replies; a pure function, so that worker processes can do it."""

from __future__ import annotations

from dataclasses import dataclass

from sightline.reason.traces.claims import VERIFIED_EACH, Agreement, Claim, compare_claims, split_claims
from sightline.reason.traces.filters import Sifted, sift
from sightline.reason.traces.nouns import CUT_OFF, Asked, Findings, Job, Judged, Question, Rules, Verdict, Verified
from sightline.reason.traces.quality import quality_of
from sightline.reason.traces.truths import LABEL_SCORES, cover_caption, cover_facts, find_label
from sightline.types import Box, Failure, Json

_CONFLICT_COSTS = 0.25
_THOUGHT = 8
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class _Sound:
    """A reply that passed the filters."""

    place: int
    sifted: Sifted
    claims: tuple[Claim, ...]


def judge(job: Job) -> Findings:
    """Every reply to a question filtered, compared with what is known and with the others, and scored."""
    question, asked, rules, teachers = job
    traces: dict[int, Judged] = {}
    sound: list[_Sound] = []
    for place, said in enumerate(asked.replies):
        if isinstance(said, Failure):
            traces[place] = _failed(said)
            continue
        sifted = sift(said, rules)
        if sifted.reasons:
            traces[place] = Judged("rejected", sifted.thinking, sifted.answer, sifted.reasons)
        else:
            sound.append(_Sound(place, sifted, split_claims(sifted.answer)))
    pairs = _compare(sound, teachers)
    for one in sound:
        traces[one.place] = _scored(
            one, question, asked, rules, [pair for key, pair in pairs.items() if one.place in key]
        )
    shares = [pair.share for pair in pairs.values() if pair.share is not None]
    conflicts = {(found.kind, found.one, found.other): None for pair in pairs.values() for found in pair.conflicts}
    return Findings(tuple(traces[place] for place in range(len(asked.replies))), _mean(shares), tuple(conflicts))


def _failed(said: Failure) -> Judged:
    return Judged("failed", reasons=(CUT_OFF.get(said.kind, said.kind),), failure=said)


def _compare(sound: list[_Sound], teachers: tuple[str, ...]) -> dict[tuple[int, int], Agreement]:
    return {
        (one.place, other.place): compare_claims(one.claims, other.claims)
        for number, one in enumerate(sound)
        for other in sound[number + 1 :]
        if not _is_echo(one, other, teachers)
    }


def _is_echo(one: _Sound, other: _Sound, teachers: tuple[str, ...]) -> bool:
    """Did one teacher say the very same twice? That it agrees with itself tells nothing."""
    if not teachers or teachers[one.place] != teachers[other.place]:
        return False
    return (one.sifted.thinking, one.sifted.answer) == (other.sifted.thinking, other.sifted.answer)


def _scored(one: _Sound, question: Question, asked: Asked, rules: Rules, pairs: list[Agreement]) -> Judged:
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
    quality = quality_of(parts)
    reasons = []
    if parts.get("grounding", 1.0) < rules.least_grounded:
        reasons.append("ungrounded")
    if quality < rules.least_quality:
        reasons.append("low-quality")
    return Judged(
        "rejected" if reasons else "kept",
        one.sifted.thinking,
        one.sifted.answer,
        tuple(reasons),
        round(quality, _DIGITS),
        {name: round(value, _DIGITS) for name, value in parts.items()},
        notes,
    )


def _beside_truth(one: _Sound, question: Question) -> tuple[dict[str, float], dict[str, Json]]:
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


def _agreement(pairs: list[Agreement]) -> float | None:
    shares = [max(0.0, pair.share - _CONFLICT_COSTS * len(pair.conflicts)) for pair in pairs if pair.share is not None]
    return _mean(shares)


def _grounding(one: _Sound, verified: Verified, notes: dict[str, Json]) -> float | None:
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
