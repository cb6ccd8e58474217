"""`croissant.json`: the data set described for machines, by MLCommons' Croissant 1.0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sightline.bench.formats.parquet import IMAGE
from sightline.io import dump
from sightline.make.publish.facts import Facts
from sightline.make.publish.layout import Config

_CONTEXT: Mapping[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/", "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract",
    "field": "cr:field", "fileObject": "cr:fileObject", "fileProperty": "cr:fileProperty", "fileSet": "cr:fileSet",
    "format": "cr:format", "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath",
    "key": "cr:key", "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/", "recordSet": "cr:recordSet", "references": "cr:references",
    "regex": "cr:regex", "repeated": "cr:repeated", "replace": "cr:replace", "sc": "https://schema.org/",
    "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
_TYPES = {
    "string": "sc:Text",
    "int32": "sc:Integer",
    "int64": "sc:Integer",
    "float64": "sc:Float",
    "bool": "sc:Boolean",
}
_REPO = "repo"


def croissant_file(facts: Facts) -> bytes:
    """The JSON-LD document."""
    return dump(_document(facts), indent=True)


def _document(facts: Facts) -> dict[str, Any]:
    address = f"https://huggingface.co/datasets/{facts.repo}" if facts.repo else "./"
    repo = {
        "@type": "cr:FileObject", "@id": _REPO, "name": _REPO, "description": "The folder of the data set.",
        "contentUrl": f"{address}/tree/main" if facts.repo else "./",
        "encodingFormat": "git+https", "sha256": "https://github.com/mlcommons/croissant/issues/80",
    }  # fmt: skip
    creator = {"@type": "Person", "name": facts.author.author or "unknown"}
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": facts.title,
        "description": facts.description,
        "url": address,
        "version": facts.version,
        "datePublished": facts.released.isoformat(),
        "license": [row.licence for row in _one_of_each(facts)],
        "creator": creator | ({"email": facts.author.email} if facts.author.email else {}),
        "isLiveDataset": False,
        "rai:personalSensitiveInformation": _people(facts),
        "rai:dataAnnotationProtocol": "Relevance was judged by models that saw the pictures; see README.md.",
        "distribution": [repo, *(_file_set(config) for config in facts.configs)],
        "recordSet": [_record_set(config) for config in facts.configs if config.columns],
    }


def _one_of_each(facts: Facts) -> list[Any]:
    return list({row.licence: row for row in facts.rights}.values())


def _people(facts: Facts) -> str:
    kept = "kept" if facts.metadata_kept else "removed"
    return (
        f"{facts.people} pictures are annotated as showing people; of {facts.people_unknown} it is not known. "
        f"EXIF, GPS and other metadata of the files are {kept}."
    )


def _file_set(config: Config) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet", "@id": f"files-{config.name}", "name": f"files-{config.name}",
        "containedIn": {"@id": _REPO}, "encodingFormat": "application/x-parquet",
        "includes": f"{config.name}/*.parquet",
    }  # fmt: skip


def _record_set(config: Config) -> dict[str, Any]:
    found: dict[str, Any] = {"@type": "cr:RecordSet", "@id": config.name, "name": config.name}
    if "id" in config.columns:
        found["key"] = {"@id": f"{config.name}/id"}
    fields = [_field(config, name, kind) for name, kind in config.columns.items()]
    split = {
        "@type": "cr:Field", "@id": f"{config.name}/split", "name": "split", "dataType": "sc:Text",
        "description": "The split, from the name of the file.",
        "source": {
            "fileSet": {"@id": f"files-{config.name}"}, "extract": {"fileProperty": "fullpath"},
            "transform": {"regex": f"{config.name}/([^/]+)-\\d+\\.parquet$"},
        },
    }  # fmt: skip
    return found | {"field": [split, *fields]}


def _field(config: Config, name: str, kind: Any) -> dict[str, Any]:
    repeated = isinstance(kind, list)
    inner = kind[0] if repeated else kind
    extract: dict[str, Any] = {"extract": {"column": name}}
    if inner == IMAGE:
        extract["transform"] = {"jsonPath": "bytes"}
    found: dict[str, Any] = {
        "@type": "cr:Field", "@id": f"{config.name}/{name}", "name": name,
        "dataType": "sc:ImageObject" if inner == IMAGE else _TYPES.get(inner, "sc:Text"),
        "source": {"fileSet": {"@id": f"files-{config.name}"}, **extract},
    }  # fmt: skip
    target = {"query-id": "queries/id", "corpus-id": "corpus/id", "picture": "corpus/id"}.get(name)
    if target and not repeated:
        found["references"] = {"field": {"@id": target}}
    return found | ({"repeated": True} if repeated else {})
