from __future__ import annotations

from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sightline.types import Answer, Benchmark, Choice, PictureRef, PictureSet, Relevance, Traces
from sightline_world.samples import Samples, sample_benchmark, write_samples


def test_all_five_kinds_are_there(benchmark_of_samples: Benchmark) -> None:
    kinds = Counter(task.kind for task in benchmark_of_samples.tasks.values())
    assert kinds == {"rank": 23, "select": 4, "answer": 4, "choose": 4, "describe": 2}


def test_another_seed_gives_as_many_tasks(tmp_path: Path) -> None:
    assert len(sample_benchmark(write_samples(tmp_path, seed=1)).tasks) >= 18


def test_a_tiny_set_still_gives_a_benchmark(tmp_path: Path) -> None:
    benchmark = sample_benchmark(write_samples(tmp_path, pictures=3))
    assert benchmark.tasks.keys() == benchmark.truth.keys()
    check_ids(benchmark)


def test_every_id_is_in_the_corpus(benchmark_of_samples: Benchmark) -> None:
    check_ids(benchmark_of_samples)


def check_ids(benchmark: Benchmark) -> None:
    known = set(benchmark.corpus.pictures)
    for task in benchmark.tasks.values():
        shown = [*task.prompt, *(part for option in task.options for part in option.content)]
        shown += [part for parts in task.translations.values() for part in parts]
        assert {part.id for part in shown if isinstance(part, PictureRef)} <= known
        match benchmark.truth[task.id]:
            case Relevance(grades):
                assert set(grades) <= known
                assert task.kind == "rank"
            case PictureSet(pictures):
                assert set(pictures) <= known
                assert task.kind == "select"
            case Answer(steps=steps) | Choice(steps=steps):
                assert {ref.id for step in steps for ref in step.pictures} <= known
    for group in benchmark.corpus.groups:
        assert set(group.pictures) <= known
    assert {annotation.picture_id for annotation in benchmark.annotations} == known


def test_graded_relevance_has_all_grades_and_leaves_some_unjudged(benchmark_of_samples: Benchmark) -> None:
    for truth in benchmark_of_samples.truth.values():
        if isinstance(truth, Relevance):
            assert {0, 2} <= set(truth.grades.values()) <= {0, 1, 2}
            assert len(truth.grades) < len(benchmark_of_samples.corpus.pictures)


def test_relevance_agrees_with_the_scenes(samples: Samples, benchmark_of_samples: Benchmark) -> None:
    task = next(task for task in benchmark_of_samples.tasks.values() if task.text == "a dog on a beach")
    truth = benchmark_of_samples.truth[task.id]
    assert isinstance(truth, Relevance)
    for scene in samples.scenes:
        dog = any(thing.kind == "dog" for thing in scene.objects)
        grade = truth.grades.get(scene.id, 0)
        assert grade == (2 if dog and scene.place == "beach" else 1 if dog else 0)


def test_selections_lie_in_their_scope_and_one_is_empty(benchmark_of_samples: Benchmark) -> None:
    owned = {group.id: set(group.pictures) for group in benchmark_of_samples.corpus.groups_of("owner")}
    sizes = []
    for task in benchmark_of_samples.tasks.values():
        truth = benchmark_of_samples.truth[task.id]
        if isinstance(truth, PictureSet):
            assert task.scope.owner is not None
            assert set(truth.pictures) <= owned[task.scope.owner]
            sizes.append(len(truth.pictures))
    assert sizes.count(0) == 1
    assert all(size >= 2 for size in sizes if size)


def test_choices_have_valid_keys_five_steps_and_pictures(benchmark_of_samples: Benchmark) -> None:
    right = []
    for task in benchmark_of_samples.tasks.values():
        truth = benchmark_of_samples.truth[task.id]
        if isinstance(truth, Choice):
            keys = [option.key for option in task.options]
            assert len(keys) == len(set(keys))
            assert truth.option in keys
            kinds = [step.kind for step in truth.steps]
            assert kinds == ["summary", "caption", "text-to-region", "region-to-region", "conclusion"]
            assert task.pictures or any(isinstance(part, PictureRef) for o in task.options for part in o.content)
            assert {"category", "subtask"} <= set(task.labels)
            right.append(truth.option)
    assert len(set(right)) > 1


def test_the_motion_task_is_true(samples: Samples, benchmark_of_samples: Benchmark) -> None:
    task = next(t for t in benchmark_of_samples.tasks.values() if t.labels.get("subtask") == ("Motion Detection",))
    kind = task.text.rsplit("Which way does the ", 1)[1].removesuffix(" move?")
    boxes = [thing.box for ref in task.pictures for thing in samples[ref.id].objects if thing.kind == kind]
    truth = benchmark_of_samples.truth[task.id]
    assert isinstance(truth, Choice)
    assert truth.option == ("A" if boxes[-1].left < boxes[0].left else "B")


def test_descriptions_have_two_different_references(benchmark_of_samples: Benchmark) -> None:
    for truth in benchmark_of_samples.truth.values():
        if isinstance(truth, Traces):
            first, second = truth.references
            assert first.thinking != second.thinking
            assert first.answer != second.answer


def test_every_task_has_labels(benchmark_of_samples: Benchmark) -> None:
    assert all(task.labels for task in benchmark_of_samples.tasks.values())


def test_groups_of_all_kinds_and_only_events_are_hidden(samples: Samples, benchmark_of_samples: Benchmark) -> None:
    corpus = benchmark_of_samples.corpus
    assert {group.kind for group in corpus.groups} == {"owner", "event", "burst", "duplicate"}
    assert {group.kind for group in corpus.groups if group.hidden} == {"event"}
    assert len({group.id for group in corpus.groups}) == len(corpus.groups)
    assert all(len(group.pictures) > 1 for group in corpus.groups if group.kind != "event")
    assert sorted(p for group in corpus.groups_of("owner") for p in group.pictures) == [s.id for s in samples.scenes]


def test_pictures_are_where_their_address_says(benchmark_of_samples: Benchmark) -> None:
    for picture in benchmark_of_samples.corpus.pictures.values():
        assert Path(unquote(urlsplit(picture.uri).path)).is_file()
