"""`CITATION.cff`, and the same as BibTeX for the card."""

from __future__ import annotations

import json
import re

from sightline.make.publish.facts import Facts


def citation_file(facts: Facts) -> bytes:
    """Citation File Format 1.2.0; values are JSON strings, which YAML reads."""
    lines = [
        "cff-version: 1.2.0",
        'message: "If you use this data set, please cite it as below."',
        "type: dataset",
        f"title: {_text(facts.title)}",
        f"abstract: {_text(facts.description)}",
        f"version: {_text(facts.version)}",
        f"date-released: {facts.released.isoformat()}",
        "authors:",
        *_author(facts),
    ]
    known = [licence for licence in facts.licences if licence != "other"]
    if len(known) == 1 and len(facts.licences) == 1:
        lines.append(f"license: {_spdx(known[0])}")
    if facts.repo:
        lines.append(f"url: {_text(f'https://huggingface.co/datasets/{facts.repo}')}")
    dois = sorted({row.doi for row in facts.rights if row.doi})
    if dois:
        lines += ["references:", *(line for doi in dois for line in _reference(doi))]
    return ("\n".join(lines) + "\n").encode()


def bibtex(facts: Facts) -> str:
    """An entry for a paper."""
    key = re.sub(r"[^a-z0-9]+", "", facts.title.casefold()) or "benchmark"
    address = f"\n  howpublished = {{\\url{{https://huggingface.co/datasets/{facts.repo}}}}}," if facts.repo else ""
    return (
        f"@misc{{{key}{facts.released.year},\n  title = {{{_tex(facts.title)}}},\n"
        f"  author = {{{_tex(facts.author.author or 'unknown')}}},\n  year = {{{facts.released.year}}},{address}\n"
        f"  note = {{Version {_tex(facts.version)}}}\n}}"
    )


def _author(facts: Facts) -> list[str]:
    author = facts.author
    if author.author is None:
        return [f"- name: {_text('The authors of ' + facts.title)}"]
    *given, family = author.author.split()
    lines = [f"- family-names: {_text(family)}", f"  given-names: {_text(' '.join(given))}"] if given else []
    lines = lines or [f"- name: {_text(family)}"]
    if author.affiliation:
        lines.append(f"  affiliation: {_text(author.affiliation)}")
    if author.orcid:
        lines.append(f"  orcid: {_text('https://orcid.org/' + author.orcid.removeprefix('https://orcid.org/'))}")
    return lines


def _reference(doi: str) -> list[str]:
    return ["- type: data", f"  title: {_text('Source of pictures')}", "  authors:", '  - name: "see the DOI"',
            f"  doi: {_text(doi.removeprefix('https://doi.org/'))}"]  # fmt: skip


def _spdx(licence: str) -> str:
    """The hub writes licences in small letters; SPDX, which this format asks for, mostly in capitals."""
    special = {"mit": "MIT", "apache-2.0": "Apache-2.0", "pddl": "PDDL-1.0", "odbl": "ODbL-1.0", "odc-by": "ODC-By-1.0"}
    return special.get(licence) or licence.upper()


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _tex(value: str) -> str:
    return re.sub(r"([&%$#_{}])", r"\\\1", value)
