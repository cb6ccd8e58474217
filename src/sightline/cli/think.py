"""`sightline think [DIR|WORKSPACE|BENCH] --teacher MODEL --teacher MODEL --out DIR`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import (
    Common,
    EndpointArguments,
    EngineOption,
    Positive,
    Repeated,
    SamplingOptions,
    Switch,
    described_by,
)
from sightline.reason.traces.think import think as make_traces

Share = Annotated[float, Parameter(validator=Number(gte=0, lte=1))]


@described_by(make_traces)
def think(
    source: Path | None = None,
    /,
    *,
    teacher: Repeated = None,
    samples: Positive | None = None,
    out: Path | None = None,
    prompt: Repeated = None,
    prompts: Path | None = None,
    prompts_each: Positive = 1,
    verifier: str | None = None,
    labels: Path | None = None,
    metadata: Path | None = None,
    language: str = "en",
    least_words: Positive = 8,
    most_words: Positive = 3_000,
    least_quality: Share = 0.0,
    needs_thinking: Switch = False,
    format: Literal["parquet", "jsonl"] | None = None,  # noqa: A002
    shard_rows: Positive = 1_000,
    retry_failed: Switch = False,
    per_class: Positive | None = None,
    choose: Literal["first", "random", "diverse", "hard"] = "first",
    vectors: Path | None = None,
    engine: EngineOption = "local",
    endpoint: EndpointArguments = EndpointArguments(),
    sampling: SamplingOptions = SamplingOptions(),
    common: Common = Common(),
) -> None:
    """Have teachers think about pictures; keep what passes the checks, in shards, with a card. Run it again to go on.

    Parameters
    ----------
    teacher:
        A teacher model, once for each: MODEL, or MODEL@http://host:8000/v1.
    prompt:
        What is asked, once for each; {caption} and {label} stand for what is known of the picture. ImageNet-Think's
        own prompt when none is given.
    prompts:
        A file of prompts: one a line, or JSON lines with "prompt".
    """
    done = make_traces(
        source,
        out,
        teachers=teacher or (),
        samples=samples,
        prompts=prompt or (),
        prompts_file=prompts,
        prompts_each=prompts_each,
        verifier=verifier,
        labels=labels,
        metadata=metadata,
        language=language,
        least_words=least_words,
        most_words=most_words,
        least_quality=least_quality,
        needs_thinking=needs_thinking,
        format=format,
        shard_rows=shard_rows,
        retry_failed=retry_failed,
        **sampling.parameters(common),
        limit=common.limit,
        per_class=per_class,
        choose=choose,
        vectors=vectors,
        session=common.session(endpoint.calls(common), engine),
    )
    common.warn(done.warnings)
    common.note(done.notes)
    common.show(done)
