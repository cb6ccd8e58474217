"""What was measured: the benchmark in counts, its card, its labels."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.english import counted
from sightline.io import dump
from sightline.report.blocks import Block, Facts, Fold, Part, Table
from sightline.report.gather import Section
from sightline.types import Json

_VALUES_SHOWN = 12


def measured(section: Section) -> Part:
    """The benchmark that the numbers are about."""
    facts = section.facts
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in facts.kinds.items())
    pairs = [("Tasks", f"{facts.tasks:,}: {kinds}" if len(facts.kinds) > 1 else kinds or "none")]
    if facts.pictures is None:
        pairs.append(("Pictures", "not known: the benchmark's folder was not among the sources"))
    else:
        groups = ", ".join(counted(count, kind) for kind, count in sorted((facts.groups or {}).items()))
        pairs.append(("Pictures", f"{facts.pictures:,}{f' ({groups})' if groups else ''}"))
        pairs.append(("Judged pictures", f"{facts.judgments or 0:,}"))
    nested = {name: value for name, value in facts.card.items() if isinstance(value, dict)}
    pairs += [(_title(name), _plain(value)) for name, value in facts.card.items() if name not in nested]
    blocks: list[Block] = [Facts(pairs)]
    if facts.labels:
        blocks.append(Fold(f"Labels: {', '.join(facts.labels)}", [_labels(section)]))
    for name, value in nested.items():
        rows = list(_flat(value))
        table = Table(f"What the card says under {name}", ("field", "value"), rows)
        blocks.append(Fold(f"{_title(name)}: {counted(len(rows), 'figure')}", [table]))
    return Part("What was measured", blocks)


def _labels(section: Section) -> Table:
    rows = []
    for label, values in section.facts.labels.items():
        shown = [f"{value} ({count:,})" for value, count in list(values.items())[:_VALUES_SHOWN]]
        more = len(values) - len(shown)
        rows.append((label, ", ".join(shown) + (f" and {more:,} more" if more else "")))
    return Table("Labels and how many tasks have each value", ("label", "values"), rows)


def _flat(value: Json, name: str = "") -> Iterator[tuple[str, str]]:
    """An object's fields and those of the objects in it, each on a line of its own."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _flat(part, f"{name} · {key}" if name else key)
    else:
        yield name, _plain(value)


def _title(name: str) -> str:
    return name[:1].upper() + name[1:].replace("_", " ")


def _plain(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return ", ".join(map(str, value))
    return dump(value).decode().strip()
