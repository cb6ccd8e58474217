"""The stage `audit`: what a benchmark in the making is worth, as JSON for the card and as text for the reader."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.bench import read
from sightline.io import write_json, write_whole
from sightline.make import project as files
from sightline.make.asking import free
from sightline.make.assemble.benchmark import assemble
from sightline.make.audit.blind import blind_baselines
from sightline.make.audit.drift import find_drift
from sightline.make.audit.judges import judge_quality
from sightline.make.audit.pools import find_twins, look_at_queries
from sightline.make.audit.report import Audit
from sightline.make.audit.reviews import check
from sightline.make.judge.verdicts import Verdict
from sightline.make.project import Project
from sightline.make.stages import StageResult
from sightline.models.asking import Asking
from sightline.types import Benchmark, Relevance


@dataclass(frozen=True, slots=True)
class AuditStage:
    """Looks for what makes scores mean less than they seem to; asks nobody."""

    bench: Path | None = None
    "A benchmark to audit in place of the project's: imported, mined, or reviewed."
    name: str = "audit"
    reads: tuple[str, ...] = (
        files.JUDGMENTS,
        files.IMAGES,
        files.ANNOTATIONS,
        files.POOL,
        files.QUERIES,
        files.VERDICTS,
        files.REVIEWS,
        files.JUDGING,
    )
    writes: tuple[str, ...] = (files.AUDIT,)

    def run(self, project: Project, asking: Asking) -> StageResult:
        """Audit the benchmark that the files of the project make, or the one that was given, beside its tables."""
        if asking.plan:
            return StageResult(self.name, price=free(self.name, "nobody"))
        started = time.monotonic()
        seed = project.config.judge.random_seed % 2**32
        warnings: tuple[str, ...] = ()
        if self.bench is not None:
            benchmark = read(self.bench)
            judging = benchmark.card.get("judging")
            audit = audit_benchmark(benchmark, judging=judging if isinstance(judging, dict) else None, seed=seed)
            path = self.bench / files.FILES[files.AUDIT]
        else:
            found = assemble(project)
            aside = project.path(files.SET_ASIDE)
            lines = len(aside.read_bytes().splitlines()) if aside.is_file() else 0
            warnings, gone = found.warnings, lines + len(found.set_aside)
            audit = audit_benchmark(found.benchmark, found.verdicts, judging=found.judging, set_aside=gone, seed=seed)
            path = project.prepare(files.AUDIT)
        write_json(path, audit.to_json())
        text = path.with_suffix(".txt")
        write_whole(text, audit.to_text().encode())
        return StageResult(
            self.name,
            (path, text),
            {
                "queries": audit.queries.count,
                "problems": len(audit.problems()),
                "labels checked": 0 if audit.checked.main is None else audit.checked.main.checked,
            },
            {},
            (*warnings, *audit.problems()),
            seconds=time.monotonic() - started,
        )


def audit_benchmark(
    benchmark: Benchmark,
    verdicts: Sequence[Verdict] = (),
    *,
    judging: Mapping[str, Any] | None = None,
    set_aside: int = 0,
    seed: int = 0,
) -> Audit:
    """All checks of a benchmark; `verdicts` tell when and in which place a picture was judged.

    Blind baselines, look-alikes and lopsided queries are looked for among rank tasks; what people checked in all.
    """
    ranks = any(isinstance(truth, Relevance) for truth in benchmark.truth.values())
    return Audit(
        benchmark.name,
        blind_baselines(benchmark, seed) if ranks else (),
        find_twins(benchmark),
        look_at_queries(benchmark),
        find_drift(verdicts, seed),
        check(benchmark, seed=seed),
        judge_quality(benchmark, seed=seed),
        judging or {},
        set_aside,
    )
