"""The card of a published benchmark: a head that tools read, and what a person must know before using it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sightline import __version__
from sightline.authoring.dataset.card_checks import SplitCheck, TieCheck
from sightline.authoring.dataset.metadata import DatasetFacts, bibtex, judged_by, quoted, size_category
from sightline.authoring.dataset.tables import DatasetConfig
from sightline.benchmark.grade import GRADES
from sightline.benchmark.label_quality import WIDEST, LabelQuality, label_quality
from sightline.english import counted
from sightline.plain_text import one_line

_MOST_RIGHTS = 30
_DEPTH = 3
_TIES = {"burst": ("burst", "bursts"), "event": ("event", "events"), "owner": ("owner", "owners")}
_NOT_FOR = (
    "Not for recognising people, not for deciding about people, and not as a sample of the world: which pictures are "
    "here follows from where they were collected. Scores on it say something about pictures like these."
)


def card_file(facts: DatasetFacts, text: str | None = None) -> bytes:
    """`README.md`; with `text`, the author's own words stand in place of ours, under the same head."""
    body = "\n\n".join(_body(facts)) if text is None else _without_head(text)
    grade = _grade(facts)
    return f"---\n{_head(facts)}---\n\n{grade}{body.strip()}\n".encode()


def _grade(facts: DatasetFacts) -> str:
    """On top of every card, also of one in the author's words: how far the labels can be trusted."""
    grade = facts.options.grade
    if grade is None:
        return ""
    why = f" {_md(grade.why)}" if grade.why else ""
    lines = [f"**Label grade: {grade.name}.** {GRADES[grade.name]}{why}"]
    if grade.precision is not None:
        found = grade.precision
        lines.append(
            f"Of the labels that say relevant, {found.mean:.1%} are right (95 % interval {found.low:.1%} to "
            f"{found.high:.1%}, {grade.decisions:,} decisions by people)."
        )
    lines += [f"{one.code}: {_md(one.message)}" for one in facts.options.warnings]
    return "".join(f"> {line}\n>\n" for line in lines[:-1]) + f"> {lines[-1]}\n\n"


def _head(facts: DatasetFacts) -> str:
    lines = [f"pretty_name: {quoted(facts.title)}"]
    licences = facts.licences
    lines.append(f"license: {licences[0]}" if len(licences) == 1 else f"license: {json.dumps(licences)}")
    if "other" in licences:
        lines += ["license_name: see-rights-table", "license_link: rights.csv"]
    said = facts.benchmark.card.get("languages")
    lines.append("task_categories: [image-feature-extraction]")
    if isinstance(said, list) and said:
        lines.append(f"language: {json.dumps([str(one) for one in said])}")
    lines += ["tags: [image-retrieval, text-to-image-retrieval, benchmark, sightline]"]
    lines.append(f'size_categories: ["{size_category(max(facts.pictures, facts.judged_pairs))}"]')
    lines.append("configs:")
    for config in facts.configs:
        lines += _config(config, first=config is facts.configs[0])
    return "\n".join(lines) + "\n"


def _config(config: DatasetConfig, *, first: bool) -> Iterator[str]:
    name = "default" if config.name == "data" else config.name
    yield f"- config_name: {name}"
    if first:
        yield "  default: true"
    yield "  data_files:"
    for split in config.rows:
        yield f"  - split: {split}"
        yield f"    path: {config.pattern(split)}"


def _body(facts: DatasetFacts) -> Iterator[str]:
    yield f"# {_md(facts.title)}\n\n{_md(facts.description)}"
    yield _numbers(facts)
    yield _loading(facts)
    yield _use(facts)
    if len(facts.divided.splits) > 1:
        yield _splits(facts.checks.splits)
    yield _labels(facts)
    yield _privacy(facts)
    yield _rights(facts)
    yield _left_out(facts)
    yield f"## Citation\n\nSee `CITATION.cff`, or:\n\n```bibtex\n{bibtex(facts)}\n```"
    yield _contact(facts)
    yield f"Made with Sightline {__version__}; content `{facts.fingerprint[:16]}`."


def _numbers(facts: DatasetFacts) -> str:
    rows = [
        (split, *(f"{config.rows.get(split, 0):,}" for config in facts.configs))
        for split in dict.fromkeys(split for config in facts.configs for split in config.rows)
    ]
    return "## What it holds\n\n" + _table(("split", *(config.name for config in facts.configs)), rows)


def _loading(facts: DatasetFacts) -> str:
    place = facts.options.repo or "path/to/this/folder"
    name = "default" if facts.configs[0].name == "data" else facts.configs[0].name
    split = list(facts.configs[0].rows)[-1]
    text = (
        f'## How to load it\n\n```python\nfrom datasets import load_dataset\n\n{name} = load_dataset("{place}", '
        f'"{name}", split="{split}")\n```'
    )
    if facts.terms.layout == "retrieval":
        text += "\n\n`mteb_task.py` is the same data as a task of `mteb`; `sightline import mteb FOLDER` reads it too."
    elif facts.terms.layout == "rows":
        text += "\n\nOne row for each pair of query and picture, the seed of the query first."
    return text


def _use(facts: DatasetFacts) -> str:
    labels, tables = facts.checks.labels, {config.name for config in facts.configs}
    said = "## Intended use\n\n"
    if {"corpus", "queries", "qrels"} <= tables:
        said += (
            "For measuring how well a system finds pictures: rank the `corpus` for each of the `queries`, and compare "
            "with `qrels`. "
        )
    if labels.possible > labels.judged:
        said += (
            f"{labels.judged:,} of {labels.possible:,} pairs of query and picture were judged; a picture that was not "
            "judged for a query may be relevant."
        )
    elif labels.judged:
        said += f"All {labels.judged:,} pairs of query and picture that can be asked for were judged."
    return f"{said.strip()}\n\n{_NOT_FOR}"


def _splits(found: SplitCheck) -> str:
    """What is in more than one split, counted in the published data."""
    said = [
        f"No picture is in two splits ({found.pictures:,} pictures, by SHA-256)."
        if not found.twice
        else f"{counted(found.twice, 'file is', 'files are')} in more than one split."
    ]
    compared = (
        f"{found.compared:,} of {found.pictures:,} files were compared, also for brighter, cropped and mirrored copies"
    )
    if found.copies:
        said.append(f"{counted(found.copies, 'pair', 'pairs')} of copies are in different splits: {compared}.")
    elif found.compared:
        said.append(f"No picture has a copy in another split: {compared}.")
    else:
        said.append("Copies were not looked for: no file could be read.")
    return "## Splits\n\n" + "\n".join(f"- {line}" for line in (*said, *map(_tie, found.ties)))


def _tie(found: TieCheck) -> str:
    one, several = _TIES[found.kind]
    if not found.groups:
        return f"{several.capitalize()} are not known; pictures of one {one} may be in different splits."
    apart = f"{found.apart:,}" if found.apart else "none"
    has = "has" if found.apart <= 1 else "have"
    return f"Of {counted(found.groups, one, several)}, {apart} {has} pictures in more than one split."


def _labels(facts: DatasetFacts) -> str:
    said = [_md(judged_by(facts.checks.labels)), _checked(label_quality(facts.benchmark))]
    parts = ["## Label quality and audit\n\n" + " ".join(said)]
    for title, found, note in (
        ("judging", facts.benchmark.card.get("judging"), "As measured when the labels were made:"),
        ("audit", facts.audit, "As measured on what is published here:"),
    ):
        rows = list(_flat(found)) if isinstance(found, Mapping) else []
        if rows:
            parts.append(f"{note}\n\n{_table((title, 'value'), rows)}")
    return "\n\n".join(parts)


def _checked(found: LabelQuality | None) -> str:
    if found is None:
        return "No person has checked them; treat differences of a few percent with care."
    right, people = found.right, counted(found.people, "person", "people")
    checked = f"{found.checked:,} of {found.labels:,} labels were checked by {people}"
    if found.needed:
        return f"{checked}; {right.reason} to say how many are right."
    return (
        f"{checked}; by that {right.mean:.1%} of all are "
        f"right ({right.no_interval or f'95 % interval {right.low:.1%} to {right.high:.1%}'})."
    )


def _flat(values: Mapping[str, Any], before: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, str]]:
    """Nested numbers as lines; an estimate is one line with its interval."""
    for name, value in values.items():
        label = f"{before}{str(name).replace('_', ' ')}"
        match value:
            case {"mean": int() | float() as mean, "reason": str() as reason}:
                yield label, f"{mean:.3f}, {reason}, n = {value.get('n', '?')}"
            case {"mean": int() | float() as mean, "low": int() | float() as low, "high": int() | float() as high}:
                interval = "too few to say" if high - low > WIDEST else f"[{low:.3f}, {high:.3f}]"
                yield label, f"{mean:.3f} {interval}, n = {value.get('n', '?')}"
            case {"value": int() | float() as mean, "low": int() | float() as low, "high": int() | float() as high}:
                yield label, f"{mean:.4g} [{low:.4g}, {high:.4g}]"
            case Mapping() if depth > 1:
                yield from _flat(value, f"{label}: ", depth - 1)
            case bool() | int() | str():
                yield label, str(value)
            case float():
                yield label, f"{value:.4g}"
            case [*items] if items and all(isinstance(item, str | int | float) for item in items):
                yield label, ", ".join(map(str, items[:12]))


def _privacy(facts: DatasetFacts) -> str:
    people = f"By their annotations {facts.chosen.people:,} pictures show people"
    unknown = f"; of {facts.chosen.people_unknown:,} it is not known" if facts.chosen.people_unknown else ""
    return f"## People and places\n\n{_metadata(facts)} {_ids(facts)} {people}{unknown}."


def _metadata(facts: DatasetFacts) -> str:
    """What the published files tell, as counted in them."""
    found = facts.checks.files
    turned = f" How a picture is turned is kept in {found.turned:,}." if found.turned else ""
    if facts.terms.keep_metadata:
        return (
            f"Metadata of the picture files were kept on purpose: {found.told:,} of {found.files:,} have EXIF, XMP or "
            f"comments, {found.placed:,} a place (GPS).{turned}"
        )
    if not found.told:
        return f"None of the {found.files:,} files has EXIF, GPS, XMP or comments: they were removed.{turned}"
    return (
        f"{found.told:,} of {found.files:,} files have EXIF, XMP or comments, {found.placed:,} a place (GPS).{turned}"
    )


def _ids(facts: DatasetFacts) -> str:
    if facts.terms.keep_ids:
        return "Ids are the names that the files had where they come from, kept on purpose."
    if facts.checks.by_content == facts.pictures:
        return "Ids are made from the content of the files; how the files were called is not told."
    return f"{facts.checks.by_content:,} of {facts.pictures:,} ids are made from the content of the files."


def _rights(facts: DatasetFacts) -> str:
    rows = [
        (row.licence, row.source or "–", row.doi or "–", row.attribution or "–", f"{row.pictures:,}")
        for row in facts.rights[:_MOST_RIGHTS]
    ]
    more = "" if len(facts.rights) <= _MOST_RIGHTS else f"\n\nThe first {_MOST_RIGHTS} of {len(facts.rights):,} lines."
    text = (
        f"## Rights\n\nThe licence of {facts.checks.licensed:,} of {facts.pictures:,} pictures is known; each keeps "
        "that of its source, and `rights.csv` has them one by one.\n\n"
    )
    return text + _table(("licence", "source", "DOI", "attribution", "pictures"), rows) + more


def _left_out(facts: DatasetFacts) -> str:
    said = [f"{count:,} pictures: {reason}" for reason, count in facts.chosen.reasons.items()]
    if facts.lost_tasks:
        said.append(f"{len(facts.lost_tasks):,} queries, which had nothing relevant left")
    if facts.divided.lost_pairs:
        said.append(f"{facts.divided.lost_pairs:,} judged pairs whose query and picture are in different splits")
    return "## What was left out\n\n" + ("\n".join(f"- {_md(line)}" for line in said) if said else "Nothing.")


def _contact(facts: DatasetFacts) -> str:
    author = facts.author
    who = ", ".join(filter(None, (author.author, author.affiliation)))
    where = ", ".join(
        filter(
            None,
            (author.email, author.orcid and f"ORCID {author.orcid}", author.github and f"github.com/{author.github}"),
        )
    )
    text = f"## Contact\n\n{_md(who or 'The publisher of this data set')}{f' ({_md(where)})' if where else ''}."
    return text + " To have a picture taken down, send its `sha256` from `rights.csv`."


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([_md(cell).replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _md(text: str) -> str:
    """Words of others on one line, without what Markdown or HTML would act on."""
    plain = one_line(text)
    for sign in "\\`*_[]<>":
        plain = plain.replace(sign, f"\\{sign}")
    return plain


def _without_head(text: str) -> str:
    """An author's card without a head of its own."""
    if not text.startswith("---\n"):
        return text
    _, _, rest = text[4:].partition("\n---\n")
    return rest
