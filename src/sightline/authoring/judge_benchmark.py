"""Models judge the pool of a benchmark that people judge: their grades lie beside the labels, and change none of them.

`assess` predicts people's answers by them, so that fewer are needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sightline.authoring.judge_pool import JudgeWork, QueryPool
from sightline.authoring.judge_verdicts import JudgeVerdict
from sightline.authoring.project import Project
from sightline.authoring.project_files import PlannedQuery, Pooled, QueryWording
from sightline.benchmark.files import HEADER, JUDGMENTS
from sightline.benchmark.folder import SAME_TASKS
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import picture_path, sha256_of
from sightline.io.jsonl import read_json, write_json
from sightline.types import Benchmark


def pool_to_judge(benchmark: Benchmark, project: Project) -> JudgeWork:
    """The candidates of a benchmark's queries, as judges are asked about them; verdicts are kept in its folder."""
    folder = benchmark.folder
    assert folder is not None
    pools: dict[str, list[Pooled]] = {}
    for one in benchmark.candidates:
        pools.setdefault(one.task, []).append(Pooled(one.picture, one.tier, one.score))
    if not pools:
        raise UserError(
            f"{folder} lists no pictures to judge.", "Name systems: sightline make DIR --queries FILE --pool NAME=SPEC"
        )
    worded = {id_: QueryWording(id_, benchmark.tasks[id_].text) for id_ in pools if benchmark.tasks[id_].text.strip()}
    wordless = [id_ for id_ in pools if id_ not in worded]
    planned = [PlannedQuery(id_, (), tuple(pools[id_])) for id_ in worded][: project.limit]
    pictures = {
        id_: one if (path := picture_path(one.uri, folder.resolve())) is None else replace(one, uri=path.as_uri())
        for id_, one in benchmark.corpus.pictures.items()
    }
    told = [f"{counted(len(wordless), 'search', 'searches')} by picture: models are not asked about them"]
    here, queries = replace(project, folder=folder, given={}), [QueryPool(query) for query in planned]
    return JudgeWork(here, pictures, {}, worded, planned, wordless, told if wordless else [], queries)


def keep_judgments(benchmark: Benchmark, verdicts: Iterable[JudgeVerdict]) -> None:
    """Write what models said into the benchmark's folder; runs on it stay runs on it."""
    folder = benchmark.folder
    assert folder is not None
    said = {(one.judge, one.task, one.picture): one.to_judgment() for one in verdicts}
    kept = [one for one in benchmark.judgments if (one.judge, one.task, one.picture) not in said]
    JUDGMENTS.write((*kept, *said.values()), folder)
    header = read_json(folder / HEADER)
    header.setdefault("checksums", {})[JUDGMENTS.name] = sha256_of(folder / JUDGMENTS.name)
    former = {*benchmark.former_checksums, benchmark.checksum or ""} - {""}
    header.setdefault("card", {})[SAME_TASKS] = sorted(former)
    write_json(folder / HEADER, header)
