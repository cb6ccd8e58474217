"""An mteb data set folder: which files are corpus, queries, qrels and top_ranked, and the files that describe it.

Those are a card, by which `datasets` finds the configurations, and a Python module with the task for `mteb`.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sightline.benchmark.formats.base import FormatOptions
from sightline.errors import UserError, needs_extra
from sightline.types import Benchmark

Configs: TypeAlias = Mapping[str, Mapping[str, Sequence[Path]]]
"""Files by configuration and split."""

_READABLE = (".parquet", ".jsonl", ".jsonl.gz", ".arrow")
_LAYOUT = "an mteb data set has the configurations corpus, queries and qrels (or default)"
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
class MtebFiles:
    """The files of one subset and split."""

    corpus: Sequence[Path]
    queries: Sequence[Path]
    qrels: Sequence[Path]
    top_ranked: Sequence[Path]


def find_files(folder: Path, options: FormatOptions) -> MtebFiles:
    """The files to read: of `--option subset=NAME` where there are several, and of `--split` (test)."""
    configs = _configs(folder)
    subset = _subset(folder, configs, options.extra.get("subset"))
    wanted = options.split or "test"

    def files(*names: str, required: bool = True) -> Sequence[Path]:
        name = next((name for name in names if name in configs), None)
        if name is None:
            if required:
                raise UserError(f"{folder} has no configuration {' or '.join(names)}.", _LAYOUT)
            return ()
        return _of_split(folder, name, configs[name], wanted)

    prefix = f"{subset}-" if subset else ""
    return MtebFiles(
        corpus=files(f"{prefix}corpus"),
        queries=files(*([] if prefix else ["query"]), f"{prefix}queries"),
        qrels=files(*([] if prefix else ["default"]), f"{prefix}qrels"),
        top_ranked=files(f"{prefix}top_ranked", required=False),
    )


def _subset(folder: Path, configs: Configs, wanted: str | None) -> str | None:
    subsets = [name.removesuffix("-corpus") for name in configs if name.endswith("-corpus")]
    if wanted is None and ("corpus" in configs or len(subsets) <= 1):
        return subsets[0] if subsets and "corpus" not in configs else None
    if wanted not in subsets:
        said = "has several subsets" if wanted is None else f'has no subset "{wanted}"'
        known = f"choose with --option subset=: {', '.join(subsets)}" if subsets else "it has no subsets"
        raise UserError(f"{folder} {said}.", known)
    return wanted


def _of_split(folder: Path, config: str, splits: Mapping[str, Sequence[Path]], wanted: str) -> Sequence[Path]:
    """As mteb chooses: the split that was asked for, or the only one."""
    if wanted in splits:
        return splits[wanted]
    if len(splits) == 1:
        return next(iter(splits.values()))
    raise UserError(f'{folder}: {config} has no split "{wanted}".', f"choose with --split: {', '.join(splits)}")


def _configs(folder: Path) -> Configs:
    """As the card lists them, else by the names of folders and files."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder.", f"{_LAYOUT}; predictions end in .json")
    found = _from_card(folder) or _from_names(folder)
    if not found:
        raise UserError(f"{folder} has no Parquet or JSONL files.", _LAYOUT)
    return found


def _from_names(folder: Path) -> Configs:
    """`corpus/test-00000-of-00001.parquet` and `corpus.jsonl`."""
    found: dict[str, dict[str, list[Path]]] = {}
    for path in sorted(folder.glob("*")) + sorted(folder.glob("*/*")):
        if path.is_file() and path.name.endswith(_READABLE):
            stem = path.name.partition(".")[0]
            inner = path.parent != folder
            config = path.parent.name if inner else stem
            split = stem.partition("-")[0] if inner else "test"
            found.setdefault("default" if config == "data" else config, {}).setdefault(split, []).append(path)
    return found


def _from_card(folder: Path) -> Configs:
    found: dict[str, dict[str, list[Path]]] = {}
    for entry in _front_matter(folder / "README.md").get("configs") or ():
        splits = found.setdefault(str(entry.get("config_name", "default")), {})
        for split, pattern in _patterns(entry.get("data_files") or ()):
            matches = [path for path in sorted(folder.glob(pattern)) if path.name.endswith(_READABLE)]
            splits.setdefault(split, []).extend(matches)
    return {name: splits for name, splits in found.items() if any(splits.values())}


def _front_matter(card: Path) -> Mapping[str, Any]:
    """The YAML at the head of a card; nothing if there is none, or none that says where the files are."""
    if not card.is_file():
        return {}
    head = card.read_text("utf-8", errors="replace").removeprefix("\ufeff").split("\n---", 1)[0]
    if not head.startswith("---") or "\nconfigs:" not in head:
        return {}
    with needs_extra(f"reading the list of files in {card}", "hub"):
        import yaml
    try:
        content = yaml.safe_load(head[3:])
    except yaml.YAMLError as error:
        raise UserError(f"{card}: its head is not YAML: {error}.", "correct it, or remove README.md") from error
    return content if isinstance(content, dict) else {}


def _patterns(data_files: Any, split: str = "train") -> Iterator[tuple[str, str]]:
    """Splits and patterns of paths, in all the forms that a card may have them."""
    match data_files:
        case str():
            yield split, data_files
        case {"path": paths, **rest}:
            yield from _patterns(paths, str(rest.get("split", split)))
        case dict():
            for name, paths in data_files.items():
                yield from _patterns(paths, str(name))
        case list() | tuple():
            for item in data_files:
                yield from _patterns(item, split)


Category: TypeAlias = Literal["t2i", "i2i", "it2i"]
"""What a query is (text, a picture, or both) and what is looked for."""


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
