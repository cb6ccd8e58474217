"""The files that make a folder a data set for `datasets` and a task for `mteb`: a card and a Python module."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline.types import Benchmark

Category: TypeAlias = Literal["t2i", "i2i", "it2i"]
"""What a query is (text, a picture, or both) and what is looked for."""

MODULE = "mteb_task"

_LANGUAGES = {
    "ar": "ara-Arab", "de": "deu-Latn", "en": "eng-Latn", "es": "spa-Latn", "fr": "fra-Latn", "hi": "hin-Deva",
    "it": "ita-Latn", "ja": "jpn-Jpan", "ko": "kor-Hang", "nl": "nld-Latn", "pl": "pol-Latn", "pt": "por-Latn",
    "ru": "rus-Cyrl", "tr": "tur-Latn", "uk": "ukr-Cyrl", "vi": "vie-Latn", "zh": "zho-Hans",
}  # fmt: skip
# Licences that mteb knows by these names.
_LICENCES = {
    "apache-2.0", "bsd-3-clause", "cc-by-2.0", "cc-by-3.0", "cc-by-4.0", "cc-by-nc-3.0", "cc-by-nc-4.0",
    "cc-by-nc-nd-4.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0",
    "cc0-1.0", "gpl-3.0", "lgpl-3.0", "mit", "mpl-2.0", "odc-by",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What the card and the task say of a benchmark."""

    title: str
    name: str
    description: str
    revision: str
    split: str
    category: Category
    language: str
    licence: str | None
    configs: Sequence[str]

    @property
    def modalities(self) -> list[str]:
        return ["image"] if self.category == "i2i" else ["text", "image"]


def task_facts(
    benchmark: Benchmark, *, split: str, category: Category, language: str | None, configs: Sequence[str]
) -> TaskFacts:
    """The facts from the benchmark's card; its first language is that of the queries."""
    card = benchmark.card
    languages = card.get("languages")
    first = languages[0] if isinstance(languages, list) and languages else "en"
    licence = str(card.get("license", "")).lower()
    return TaskFacts(
        title=_one_line(benchmark.name),
        name=class_name(benchmark.name),
        description=_one_line(
            str(card.get("description") or f"Pictures to be found for the queries of {benchmark.name}.")
        ),
        revision=(benchmark.checksum or benchmark.version)[:12],
        split=split,
        category=category,
        language=language or _LANGUAGES.get(str(first).lower()[:2], "eng-Latn"),
        licence=licence if licence in _LICENCES else None,
        configs=configs,
    )


def class_name(name: str) -> str:
    """A Python name in CamelCase: "fire bench 2" → `FireBench2Retrieval`."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    joined = "".join(word[0].upper() + word[1:] for word in words) or "Benchmark"
    plain = joined if joined[0].isalpha() else f"Benchmark{joined}"
    return plain if plain.endswith("Retrieval") and not keyword.iskeyword(plain) else f"{plain}Retrieval"


def task_module(facts: TaskFacts) -> str:
    """A module with the task's class; its data are the folder that it lies in."""
    kind = "Any2AnyReranking" if "top_ranked" in facts.configs else "Any2AnyRetrieval"
    return f'''\
"""A retrieval task for mteb (2 or later) over the data in this folder.

In a Python session that was started in this folder, or has it on its path:

    import mteb
    from {MODULE} import {facts.name}

    mteb.evaluate(mteb.get_model("..."), {facts.name}())
"""

from pathlib import Path

from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata


class {facts.name}(AbsTaskRetrieval):
    metadata = TaskMetadata(
        name={_literal(facts.name)},
        description={_literal(facts.description)},
        dataset={{"path": str(Path(__file__).resolve().parent), "revision": {_literal(facts.revision)}}},
        type={_literal(kind)},
        category={_literal(facts.category)},
        modalities={json.dumps(facts.modalities)},
        eval_splits=[{_literal(facts.split)}],
        eval_langs=[{_literal(facts.language)}],
        main_score="ndcg_at_10",
        license={_literal(facts.licence) if facts.licence else None},
    )
'''


def dataset_card(facts: TaskFacts) -> str:
    """A README.md whose head tells `datasets` where the configurations are."""
    configs = "".join(
        f"- config_name: {config}\n  data_files:\n"
        f"  - split: {facts.split}\n    path: {config}/{facts.split}-*.parquet\n"
        for config in facts.configs
    )
    licence = f"license: {facts.licence}\n" if facts.licence else ""
    return f"""\
---
pretty_name: {json.dumps(facts.title, ensure_ascii=False)}
{licence}configs:
{configs}---

# {facts.title}

{facts.description}

The configurations are {", ".join(f"`{config}`" for config in facts.configs)}, each with the split `{facts.split}`:

```python
from datasets import load_dataset

corpus = load_dataset("path/to/this/folder", "corpus", split="{facts.split}")
```

`{MODULE}.py` is the same data as a task of `mteb`.
"""


def _one_line(text: str) -> str:
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def _literal(text: str) -> str:
    """A Python literal, in double quotes."""
    return json.dumps(text, ensure_ascii=True)
