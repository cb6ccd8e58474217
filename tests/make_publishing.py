"""A made-up project for the tests of summary, publishing and what surrounds them, in benchmaker's layout."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image

from pictures import random_picture
from sightline.authoring.dataset.folder import build_folder
from sightline.authoring.dataset.ids import FILE, read_names
from sightline.authoring.dataset.manifest import DatasetManifest, PublishOptions, PublishTerms
from sightline.authoring.project import Project
from sightline.authoring.project_benchmark import read_project_benchmark
from sightline.benchmark.formats.parquet import read_table
from sightline.calls.session import Session
from sightline.config import load
from sightline.io.jsonl import write_json, write_jsonl

WISH = PublishOptions(date(2026, 11, 15), "ada/harbour", agreed=True)
LIGHTS, SUBJECTS = ("day", "night", "dusk"), ("harbour", "forest", "street")
TAGS = ("boat", "tree", "car", "lamp", "snow", "water", "house", "road")
CONFIG = """
benchmark_name = "Harbour Lights"
benchmark_description = "Harbours, forests and streets by day and night."
benchmark_author = "Ada Example"
benchmark_author_orcid = "0000-0002-1825-0097"
_hf_token = "hf_very_secret"
columns_boolean = ["people"]
image_root_dir = "{pictures}"

[columns_taxonomy]
light = ["day", "night", "dusk"]
subject = ["harbour", "forest", "street"]

[vision_config]
adapter = "openai"
model = "gpt-5-mini"

[judge_config]
adapter = "openai"
model = "gpt-5-mini"
"""


def picture_id(number: int) -> str:
    return f"{'ab'[number % 2]}/{number:04d}.jpg"


def published_id(project: Project, number: int) -> str:
    """Under which id a picture was published."""
    return read_names(project.folder / FILE).pictures[picture_id(number)]


def publish(
    project: Project, terms: PublishTerms | None = None, wish: PublishOptions = WISH
) -> tuple[Path, DatasetManifest]:
    """The folder that others get."""
    folder = project.folder / "dataset"
    wish = replace(wish, names=project.folder / FILE)
    return folder, build_folder(read_project_benchmark(project), folder, terms or PublishTerms(), project.config, wish)


def rows(folder: Path, config: str) -> list[dict[str, Any]]:
    """The rows of one configuration of a published folder."""
    return [row for path in sorted((folder / config).glob("*.parquet")) for row in read_table(path)]


def annotation(number: int) -> dict[str, Any]:
    rng = Random(number)
    return {
        "image_id": picture_id(number),
        "summary": f"The {SUBJECTS[number % 3]} with {TAGS[number % 8]} at {LIGHTS[number % 3]}",
        "light": LIGHTS[number % 3],
        "subject": SUBJECTS[(number // 2) % 3],
        "people": number % 10 == 0,
        "tags": sorted({TAGS[number % 8], TAGS[(number * 3) % 8]}),
        "confidence": {name: round(rng.uniform(0.5, 1), 3) for name in ("light", "subject", "people")},
        "license": "CC-BY-4.0",
        "doi": "10.1/x",
    }


def judged_rows(queries: int, pool: int, pictures: int) -> list[dict[str, Any]]:
    rows = []
    for query in range(queries):
        rng = Random(query)
        others = rng.sample([number for number in range(pictures) if number != query % pictures], pool - 1)
        for place, number in enumerate([query % pictures, *others]):
            grade = int(place == 0 or place % 4 == 0)
            rows.append({
                "query_id": f"query_{query:03d}", "query_text": f"find {SUBJECTS[query % 3]} number {query}",
                "image_id": picture_id(number), "relevance_label": grade,
                "clip_score": round(rng.gauss(4.7 if grade else 3.4, 0.6), 4),
            })  # fmt: skip
    return rows


def make_project(folder: Path, *, pictures: int = 24, queries: int = 8, pool: int = 8, files: bool = True) -> Project:
    """Files as benchmaker leaves them, pictures too if `files`; read through its own configuration."""
    root, made = folder / "pictures", folder / "project"
    made.mkdir(parents=True)
    if files:
        for number in range(pictures):
            save_picture(root / picture_id(number), number)
    scored = judged_rows(queries, pool, pictures)
    write_jsonl(made / "images.jsonl", (_image(number) for number in range(pictures)))
    write_jsonl(made / "annotations.jsonl", map(annotation, range(pictures)))
    write_jsonl(made / "seeds.jsonl", (
        {"query_id": f"query_{query:03d}", "seed_image_ids": [picture_id(query % pictures)]} for query in range(queries)
    ))  # fmt: skip
    write_jsonl(made / "qrels_with_score.jsonl", scored)
    write_jsonl(made / "qrels.jsonl", ({k: v for k, v in row.items() if k != "clip_score"} for row in scored))
    write_json(folder / "rights_map.json", {"default": {"license": "CC-BY-4.0"}, "files": {}, "prefixes": []})
    config = folder / "config.toml"
    config.write_text(CONFIG.format(pictures=root))
    loaded = load(config, environment={})
    return Project(made, Session(folder / "workspace", loaded.config), config_path=config)


def save_picture(path: Path, number: int, **options: Any) -> None:
    """A JPEG that knows where it was taken, and how it is turned."""
    path.parent.mkdir(parents=True, exist_ok=True)
    exif = Image.Exif()
    exif[0x0112] = 6 if number % 5 == 0 else 1
    exif[0x010F] = "Secret Camera"
    exif.get_ifd(0x8825)[1] = "N"
    exif.get_ifd(0x8825)[2] = (51.0, 30.0, 0.0)
    random_picture(number).save(path, "JPEG", exif=exif, **options)


def _image(number: int) -> dict[str, Any]:
    id_ = picture_id(number)
    return {
        "image_id": id_, "image_url": f"https://example.org/{id_}", "mime_type": "image/jpeg",
        "license": "CC-BY-4.0" if number % 6 else "UNKNOWN", "doi": "10.1/x",
        "original_dataset_name": "Left" if number % 2 == 0 else "Right", "station": f"W{number % 4}",
    }  # fmt: skip
