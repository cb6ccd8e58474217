"""The card of a folder of traces: how it was made, what it holds, what it cost, what failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sightline.english import counted
from sightline.io import write_whole
from sightline.reason.traces.filters import REASONS
from sightline.reason.traces.folder import CARD, DATA
from sightline.reason.traces.summary import Summary

_COLUMNS = """\
| column | what it holds |
|---|---|
| `id` | the row: the picture, and `#2`, `#3`, … for further prompts about it |
| `picture`, `image` | the picture's id: its path under the pictures' folder |
| `prompt` | what the teachers were asked |
| `labels`, `synset` | what was known of the picture, where anything was |
| `model_n`, `think_n`, `answer_n` | teacher n, its thinking and its answer; empty where it is not kept |
| `quality_n` | from 0 to 1, the weighted mean of the parts in `checks` |
| `usage` | tokens, dollars and finish reason of each reply |
| `checks` | agreement and contradictions between teachers; for each reply its state, reasons and parts of quality |
"""


def write_card(folder: Path, header: Mapping[str, Any], summary: Summary) -> None:
    """Write README.md."""
    write_whole(folder / CARD, "\n".join(_lines(header, summary)).encode())


def _lines(header: Mapping[str, Any], summary: Summary) -> Iterator[str]:
    yield "---"
    yield "task_categories: [image-text-to-text]"
    yield f"configs: [{{config_name: default, data_files: [{{split: train, path: {DATA}/*.{header['format']}}}]}}]"
    yield "---"
    yield f"\n# Traces of {header['source']}\n"
    yield (
        f"{counted(summary.kept, 'trace')} (thinking and answer) of {counted(summary.rows_kept, 'row')} in "
        f"{counted(summary.shards, 'shard')}. "
        "The pictures are not part of it, and keep their own rights.\n"
    )
    yield from _teachers(summary)
    yield "## Not kept\n"
    yield "| reason | replies | |\n|---|---|---|"
    counts = [*summary.rejected.items(), *summary.failed.items()]
    for reason in dict(counts):
        count = summary.rejected.get(reason, 0) + summary.failed.get(reason, 0)
        yield f"| {reason} | {count:,} | {REASONS.get(reason, 'the call failed')} |"
    if not counts:
        yield "| none | 0 | |"
    yield "\nTheir text, cut where it ran away, is in `rejected/`; failed calls have none.\n"
    yield from _checks(summary, header)
    yield "## How it was made\n"
    prompts = header["prompts"]
    many = f"{counted(len(prompts), 'prompt')}, {header['prompts_each']} for each picture"
    yield f"{many}, drawn by seed {header['seed']}:\n"
    yield from (f"> {' '.join(prompt.split())}\n" for prompt in prompts[:20])
    settings = {**header["parameters"], **header["rules"]}
    yield "Settings: " + ", ".join(f"`{name}={value}`" for name, value in settings.items()) + "\n"
    yield f"## Columns\n\n{_COLUMNS}"


def _teachers(summary: Summary) -> Iterator[str]:
    yield "## Teachers\n"
    yield "| n | model | kept | rejected | failed | tokens in | tokens out | of these thinking | cost | mean quality |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for number, (name, one) in enumerate(zip(summary.names, summary.teachers, strict=True), 1):
        cost = _cost(one.usd, one.unpriced)
        quality = "–" if one.quality is None else f"{one.quality:.3f}"
        yield (
            f"| {number} | {name} | {one.kept:,} | {one.rejected:,} | {one.failed:,} | {one.input:,} "
            f"| {one.output:,} | {one.reasoning:,} | {cost} | {quality} |"
        )
    yield ""


def _checks(summary: Summary, header: Mapping[str, Any]) -> Iterator[str]:
    yield "## Checks\n"
    if summary.agreement is not None:
        yield f"- Between teachers: {summary.agreement:.3f} of the claims have a partner, in the mean over rows."
    yield f"- Rows in which teachers contradict each other: {summary.contradicting:,}."
    if header["verifier"] is None:
        yield "- Grounding: not verified; no claim was compared with its picture.\n"
        return
    failed = ", ".join(f"{count:,} {kind}" for kind, count in summary.verifier_failed.items()) or "none"
    cost = _cost(summary.verifier_usd, summary.verifier_unpriced)
    yield f"- Grounding: {header['verifier']} verified {counted(summary.verified, 'row')} ({cost}); failed: {failed}."
    if header["verifier"] in header["teachers"]:
        yield "- The verifier is a teacher, too: of its own mistakes it says that they are in the picture."
    yield ""


def _cost(usd: float, unpriced: int) -> str:
    if unpriced:
        return "unknown" if usd == 0 else f"at least ${usd:.4f}"
    return f"${usd:.4f}"
