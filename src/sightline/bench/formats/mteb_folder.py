"""Which files of a Hugging Face data set folder are mteb's corpus, queries, qrels and top_ranked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sightline.bench.formats.base import Options
from sightline.errors import MissingExtraError, UserError

Configs: TypeAlias = Mapping[str, Mapping[str, Sequence[Path]]]
"""Files by configuration and split."""

_READABLE = (".parquet", ".jsonl", ".jsonl.gz", ".arrow")
_LAYOUT = "an mteb data set has the configurations corpus, queries and qrels (or default)"


@dataclass(frozen=True, slots=True)
class MtebFiles:
    """The files of one subset and split."""

    corpus: Sequence[Path]
    queries: Sequence[Path]
    qrels: Sequence[Path]
    top_ranked: Sequence[Path]
    split: str


def find_files(folder: Path, options: Options) -> MtebFiles:
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
        split=wanted,
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
    try:
        import yaml
    except ImportError:
        raise MissingExtraError(f"reading the list of files in {card}", "hub") from None
    try:
        content = yaml.safe_load(head[3:])
    except yaml.YAMLError as error:
        raise UserError(f"{card}: its head is not YAML: {error}.", "mend it, or take README.md away") from error
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
