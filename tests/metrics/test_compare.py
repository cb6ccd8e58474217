from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.metrics.comparison import Comparison, compare
from sightline.metrics.scores import Scores, Status, TaskScore
from sightline.metrics.statistics.estimates import estimate
from sightline.metrics.statistics.paired import paired_difference
from sightline.metrics.statistics.significance import max_t
from sightline.metrics.tables import comparison_text
from sightline.types import TaskKind

RNG = np.random.default_rng(0)
BASE = RNG.random(60).round(3)


def scored(
    system: str,
    values: Sequence[float | None] | NDArray[np.float64],
    *,
    status: Mapping[int, Status] | None = None,
    clusters: Sequence[str] | None = None,
    metrics: tuple[str, ...] = ("f1",),
    checksum: str | None = "c",
) -> Scores:
    """Scores as `evaluate` gives them, one task for each value; every second task is `intra`, the others `inter`."""
    said = status or {}
    rows = []
    for place, value in enumerate(values):
        of = said.get(place, "answered")
        rows.append(
            TaskScore(
                task_id=f"t{place:03}",
                attempt=0,
                kind="select",
                status=of,
                values=dict.fromkeys(metrics, value if of == "answered" else 0.0),
                labels={"query_type": (("inter", "intra")[place % 2],)} | ({"rare": ("yes",)} if place < 3 else {}),
                cluster=None if clusters is None else clusters[place],
                failure=None if of == "answered" else "timeout",
            )
        )
    headline = estimate([row.values[metrics[0]] for row in rows])
    return Scores(
        benchmark="b",
        system=system,
        metrics=metrics,
        level=0.95,
        seed=0,
        tasks=tuple(rows),
        overall=dict.fromkeys(metrics, headline),
        by_label={},
        checksum=checksum,
        clustered_by=None if clusters is None else "owner",
    )


def better(by: float, noise: float = 0.05) -> np.ndarray:
    return BASE + by + np.random.default_rng(7).normal(0, noise, len(BASE)).round(3)


def test_a_pair_is_the_paired_statistics_of_its_tasks() -> None:
    after = better(0.1)
    found = compare([scored("clip", BASE), scored("agent", after)])
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.metric) == ("clip", "agent", "f1")
    assert pair.difference == paired_difference(BASE, after)
    assert pair.difference.mean == pytest.approx(0.1, abs=0.03)
    assert pair.p_adjusted == pair.difference.p
    inter = pair.by_label["query_type"]["inter"]
    assert inter.mean == pytest.approx((after - BASE)[::2].mean())
    assert (inter.n, inter.p) == (30, None)
    assert list(pair.by_label["rare"]) == ["yes", "unlabelled"]


def test_p_is_adjusted_over_the_pairs_of_each_metric_and_letters_follow() -> None:
    runs = [scored("low", BASE), scored("same", better(0.0, 0.001)), scored("high", better(0.2))]
    found = compare(runs, seed=3)
    raw = [pair.difference.p or 0.0 for pair in found.pairs]
    together = max_t(np.stack([BASE, better(0.0, 0.001), better(0.2)], axis=1), seed=3)
    assert [pair.p_adjusted for pair in found.pairs] == [max(p) for p in zip(raw, together.p.tolist(), strict=True)]
    letters = {standing.system: standing.letters for standing in found.standings["f1"]}
    assert letters["high"] == "a"
    assert letters["low"] == letters["same"] == "b"
    assert found.standings["f1"][0].system == "high"


def test_clusters_are_used_and_named() -> None:
    clusters = [f"o{place % 10}" for place in range(60)]
    after = better(0.05)
    found = compare([scored("a", BASE, clusters=clusters), scored("b", after, clusters=clusters)])
    assert found.pairs[0].difference == paired_difference(BASE, after, clusters=clusters)
    assert "clustered by owner" in comparison_text(found)


def test_a_missing_prediction_counts_as_a_failure() -> None:
    first = scored("a", BASE, status={0: "missing", 1: "missing"})
    second = scored("b", better(0.1), status={1: "missing", 2: "missing"})
    with pytest.raises(UserError, match="a failed on 1 task that b did not fail on"):
        compare([first, second])
    found = compare([first, second], allow_failures_differ=True)
    assert found.pairs[0].difference.n == 60
    means = [entry.overall[found.metrics[0]].mean for entry in (first, second)]
    assert found.pairs[0].difference.mean == pytest.approx(means[1] - means[0])


def test_different_failures_are_refused_unless_told() -> None:
    first = scored("a", BASE, status={0: "failed", 1: "failed", 5: "failed"})
    second = scored("b", better(0.1), status={5: "failed", 6: "failed"})
    with pytest.raises(UserError, match="a failed on 2 tasks that b did not fail on; b failed on 1 task that a did"):
        compare([first, second])
    found = compare([first, second], allow_failures_differ=True)
    assert found.pairs[0].difference.n == 60
    assert found.notes[0] == "a failed on 2 tasks that b did not fail on; each counts as zero"
    assert len(found.notes) == 2


def two_kinds(system: str, ranked: Status, answered: Status) -> Scores:
    """Two rank tasks, of which the second is always answered, and two answer tasks."""
    statuses: list[tuple[TaskKind, str, Status]] = [
        ("rank", "rr", ranked),
        ("rank", "rr", "answered"),
        ("answer", "answer", answered),
        ("answer", "answer", answered),
    ]
    rows = tuple(
        TaskScore(f"t{place}", 0, kind, status, {metric: float(status == "answered")})
        for place, (kind, metric, status) in enumerate(statuses)
    )
    overall = {name: estimate([row.values.get(name) for row in rows]) for name in ("rr", "answer")}
    return Scores("b", system, ("rr", "answer"), 0.95, 0, rows, overall, {}, checksum="c")


def test_only_tasks_that_the_metrics_score_can_fail() -> None:
    first, second = two_kinds("a", "answered", "failed"), two_kinds("b", "answered", "answered")
    assert compare([first, second], ["rr"]).notes == ()
    with pytest.raises(UserError, match="a failed on 2 tasks that b did not fail on"):
        compare([first, second], ["rr", "answer"])


def test_what_a_system_does_not_do_is_told_and_is_no_failure() -> None:
    retriever, oracle = two_kinds("retriever", "answered", "missing"), two_kinds("oracle", "answered", "answered")
    assert compare([retriever, oracle], ["rr"]).notes == ()
    found = compare([retriever, oracle])
    assert found.notes == ("retriever left out answer tasks (2), which it does not do; each counts as zero",)
    with pytest.raises(UserError, match="retriever failed on 1 task that oracle did not fail on"):
        compare([two_kinds("retriever", "missing", "missing"), oracle])


def test_the_same_failures_are_no_obstacle() -> None:
    same: dict[int, Status] = {0: "failed", 9: "failed"}
    found = compare([scored("a", BASE, status=same), scored("b", better(0.1), status=same)])
    assert found.notes == ()
    assert found.pairs[0].difference.ties >= 2


def test_a_failure_and_a_missing_prediction_are_the_same_gap() -> None:
    found = compare([scored("a", BASE, status={0: "failed"}), scored("b", better(0.1), status={0: "missing"})])
    assert found.pairs[0].difference.n == 60
    assert found.notes == ()


def test_worse_means_significantly_below_the_first_run() -> None:
    def against_base(*others: Scores) -> Comparison:
        return compare([scored("base", BASE), *others])

    worse = against_base(scored("bad", better(-0.1)), scored("good", better(0.1)))
    assert [pair.second for pair in worse.worse("f1")] == ["bad"]
    assert against_base(scored("same", better(0.0, 0.0))).worse("f1") == ()
    assert against_base(scored("noise", better(-0.001, 0.2))).worse("f1") == ()
    with pytest.raises(UserError, match=r'"em".*\n.*f1'):
        worse.worse("em")


def test_undefined_values_are_left_out_of_a_pair() -> None:
    first, second = list(BASE), list(better(0.1))
    found = compare([scored("a", [None, *first[1:]]), scored("b", second)])
    assert found.pairs[0].difference.n == 59


def with_steps(run: Scores, steps: float | None) -> Scores:
    """The run, scored with a second metric that gives every task this value."""
    rows = tuple(replace(row, values={**row.values, "steps": steps}) for row in run.tasks)
    overall = {**run.overall, "steps": estimate([steps] * len(rows))}
    return replace(run, metrics=(*run.metrics, "steps"), tasks=rows, overall=overall)


def test_a_metric_without_a_value_in_any_run_is_not_listed() -> None:
    first, second = scored("a", BASE), scored("b", better(0.1))
    nobody = [with_steps(first, None), with_steps(second, None)]
    assert compare(nobody) == compare([first, second])
    assert "steps" not in comparison_text(compare(nobody))
    assert compare([with_steps(first, 0.0), with_steps(second, None)]).metrics == ("f1", "steps")
    assert compare(nobody, ["steps"]).metrics == ("steps",)  # Whoever asks for it sees that there is nothing.


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([scored("a", BASE)], "two runs"),
        ([scored("a", BASE), scored("b", BASE, checksum="d")], "not on the same benchmark"),
        ([scored("a", BASE), scored("b", BASE[:50])], "same tasks"),
        ([scored("a", BASE), scored("b", BASE, metrics=("em",))], "no metric in common"),
        ([scored("a", BASE), scored("b", BASE, clusters=["x"] * 60)], "different clusters"),
    ],
)
def test_what_can_not_be_compared_is_refused(runs: list[Scores], words: str) -> None:
    with pytest.raises(UserError, match=words):
        compare(runs)


def test_metrics_and_names_can_be_chosen() -> None:
    both = ("f1", "em")
    runs = [scored("s", BASE, metrics=both), scored("s", better(0.1), metrics=both), scored("t", BASE, metrics=both)]
    found = compare(runs, ["em"])
    assert found.metrics == ("em",)
    assert found.systems == ("s", "s (2)", "t")
    assert compare(runs, names=["x", "y", "z"]).systems == ("x", "y", "z")
    with pytest.raises(UserError, match="ndcg"):
        compare(runs, ["ndcg@10"])
    with pytest.raises(UserError, match="3 runs but 1 names"):
        compare(runs, names=["x"])


def test_the_order_of_rows_does_not_matter() -> None:
    first, second = scored("a", BASE), scored("b", better(0.1))
    turned = Scores(**{name: getattr(second, name) for name in second.__slots__} | {"tasks": second.tasks[::-1]})
    assert compare([first, turned]) == compare([first, second])


def test_to_dict_is_json() -> None:
    content = compare([scored("a", BASE), scored("b", better(0.1))]).to_json()
    again = json.loads(json.dumps(content, allow_nan=False))
    assert again["pairs"][0]["difference"]["wins"] == content["pairs"][0]["difference"]["wins"]


def test_two_runs_read_as_one_line_per_metric() -> None:
    text = comparison_text(compare([scored("clip", BASE), scored("agent", better(0.2, 0.3))]))
    lines = text.splitlines()
    assert lines[0] == "agent against clip"
    assert lines[1].startswith("  f1  +0.14 [+0.")
    assert "  p < 0.001  (60 tasks; " in lines[1]
    assert " won, 0 tied, " in lines[1]
    assert lines[2].strip().startswith("query_type: inter +0.")
    assert "letters" not in text


def test_three_runs_read_as_a_table_with_letters() -> None:
    runs = [scored("low", BASE), scored("same", better(0.0, 0.0)), scored("high", better(0.2))]
    lines = comparison_text(compare(runs)).splitlines()
    assert lines[0].split() == ["system", "f1"]
    assert lines[1].startswith("  high")
    assert lines[1].endswith(" a")
    assert lines[2].endswith(" b")
    assert "letters: systems that can't be told apart share one" in lines
    assert "  f1  +0.00 [no spread]  p = 1.000  (60 tasks; 0 won, 60 tied, 0 lost)" in lines


def test_few_clusters_show_the_reason_instead_of_an_interval() -> None:
    clusters = [f"o{i % 4}" for i in range(60)]
    found = compare([scored("x", BASE, clusters=clusters), scored("y", better(0.2), clusters=clusters)])
    assert found.few_clusters == found.pairs[0].difference.reason == "too few clusters (4)"
    text = comparison_text(found)
    assert "[too few clusters (4)]" in text
    assert "[+" not in text and "[-" not in text
    assert "reason" not in compare([scored("x", BASE), scored("y", better(0.2))]).to_json()["pairs"][0]["difference"]
