from __future__ import annotations

from typing import Any

import pytest

from metrics.text.text_embedders import HashEmbedder
from metrics.text.text_functions import rouge_l
from sightline.errors import UserError
from sightline.metrics.context import Context, TextEmbedder
from sightline.metrics.registry import kinds_of, metric
from sightline.metrics.text.bag_of_words import document_frequencies
from sightline.metrics.text.similarity import text_metric
from sightline.types import Choice, Failure, PictureSet, Prediction, Text, Trace, Traces, Truth

LEXICAL = ["rouge-1", "rouge-l", "jaccard", "overlap", "tfidf", "bleu", "chrf", "meteor", "cider"]
NAMES = [*LEXICAL, "embedding", "bertscore"]
TRUTH = Traces((Trace("first I look", "a red car"), Trace("it seems", "a red bus", "other")))


def context_with(embedder: TextEmbedder) -> Context:
    corpus = [["a red car", "a red bus"], ["two dogs"], ["first I look", "it seems"]]
    return Context(embedder=embedder, idf=document_frequencies(corpus, order=4))


@pytest.mark.parametrize("name", NAMES)
def test_each_is_registered_for_describe(name: str) -> None:
    assert kinds_of(name) == ("describe",)


@pytest.mark.parametrize("name", NAMES)
def test_a_part_is_scored_and_references_are_combined(name: str, hash_embedder: HashEmbedder) -> None:
    context = context_with(hash_embedder)
    prediction = Trace("first I look", "a red car")
    single: list[Any] = [
        metric(name)(Traces((reference,)), prediction, Context(embedder=hash_embedder, idf=context.idf))
        for reference in TRUTH.references
    ]
    assert metric(name)(TRUTH, prediction, context) == pytest.approx(sum(single) / 2)
    assert metric(f"{name}(over=max)")(TRUTH, prediction, context) == pytest.approx(max(single))
    thinking = metric(f"{name}(part=thinking,over=max)")(TRUTH, prediction, context)
    assert thinking is not None and thinking > 0.4
    assert metric(f"{name}(part=thinking)")(TRUTH, Trace("", "a red car"), context) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_missing_parts(name: str, hash_embedder: HashEmbedder) -> None:
    context = context_with(hash_embedder)
    thinking = metric(f"{name}(part=thinking)")
    without = Traces((Trace("", "a red car"), Trace(" \n", "a red bus")))
    assert thinking(without, Trace("some thoughts", "a red car"), context) is None
    half = Traces((Trace("", "a red car"), Trace("first I look", "a red bus")))
    assert thinking(half, Trace("first I look", ""), context) == thinking(
        Traces(half.references[1:]), Trace("first I look", ""), context
    )
    assert metric(name)(TRUTH, Failure("timeout", "no reply"), context) == 0.0


def test_plain_text_is_an_answer_without_thinking() -> None:
    assert metric("rouge-l")(TRUTH, Text("a red car"), Context()) == rouge_l("a red car", ["a red car", "a red bus"])
    assert metric("rouge-l(part=thinking)")(TRUTH, Text("a red car"), Context()) == 0.0


@pytest.mark.parametrize(("truth", "prediction"), [(TRUTH, Choice("A")), (PictureSet(("a",)), Trace("", "a"))])
def test_other_kinds_are_refused(truth: Truth, prediction: Prediction) -> None:
    with pytest.raises(UserError, match="describe"):
        metric("jaccard")(truth, prediction, Context())


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("jaccard@5", "no cut-off"),
        ("jaccard(part=title)", "part=answer|thinking"),
        ("jaccard(tokens=words)", "no option tokens=words"),
        ("rouge-l(tokens=13a)", "tokens=rouge|words"),
        ("rouge-l(over=min)", "over=mean|max"),
    ],
)
def test_wrong_options_are_refused_with_the_right_ones(name: str, says: str) -> None:
    with pytest.raises(UserError) as refused:
        metric(name)
    assert says in str(refused.value)


def test_a_metric_of_another_kind_is_refused() -> None:
    with pytest.raises(UserError):
        text_metric("ndcg@10")


def test_references_must_be_a_list_with_something_in_it() -> None:
    with pytest.raises(UserError, match="not one text"):
        rouge_l("a", "a")
    with pytest.raises(UserError, match="no reference"):
        rouge_l("a", [])


def test_labels_say_what_was_done() -> None:
    rouge = text_metric("rouge-l(part=thinking,over=max)")
    assert rouge.label(Context()) == "rouge-l of the thinking, max over references, tokens rouge"
    tfidf = text_metric("tfidf")
    assert tfidf.label(Context()).endswith("by idf over the prediction and its references")
    corpus = Context(idf=document_frequencies([["a"], ["b"]]))
    assert tfidf.label(corpus).endswith("by idf over 2 documents")
    assert tfidf.label(Context(idf={"a": 1.0})).endswith("by a given table of idf")
