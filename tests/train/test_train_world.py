"""What the experiment trains on: the shipped plans as arms, with as many tokens each; and the small model's files."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "training/world"))
sys.path.insert(0, str(Path(__file__).parents[2] / "training/curriculum"))

import pretrain
from arms import ARMS, LATER, PLANS, Setting, stages_of, text_of, texts_of, variants
from array_examples import ArrayExamples, TrainText
from asking import said_together
from choices import choices_of
from drawing import STEPS, Drawing, _question, _scene
from experiment import Journal
from eyesight import give_eye, name_things, order_numbers
from keeping import keep, load
from levels import HALVES, answered_by, learnt_by, measured
from network import Reader

from sightline.reason.curriculum.plan import load_plan
from sightline.reason.train.trainer import chosen_option, generated_texts
from sightline_world.models.glimpse import GlimpseForConditionalGeneration, glimpse_config, learn_tokenizer
from sightline_world.models.glimpse_vision import HUES, KINDS, TAGS
from sightline_world.scene import SCENE_COLOURS, SCENE_KINDS

SETTING = Setting(questions=24)


@pytest.fixture(scope="module")
def drawing() -> Drawing:
    items, pixels = [], list[torch.Tensor]()
    for number in range(24):
        item, shots = _question(number, "test", len(pixels))
        items.append(item)
        pixels += [torch.from_numpy(shot.copy()) for shot in shots]
    return Drawing(items, torch.stack(pixels))


def _records(stages: list[tuple[str, list[TrainText]]]) -> Counter[TrainText]:
    return Counter(text for _, texts in stages for text in texts)


def test_derived_arms_have_the_records_of_the_curriculum_in_another_order(drawing: Drawing) -> None:
    mir = texts_of("mir", drawing.items, SETTING, 0)
    assert [name for name, _ in mir] == ["easy", *(f"stage-{n}" for n in range(1, 6))]
    for arm in ("shuffled", "reverse", "anti"):
        other = texts_of(arm, drawing.items, SETTING, 0)
        assert _records(other) == _records(mir)
        assert [texts for _, texts in other] != [texts for _, texts in mir]
    assert _records(texts_of("mir", drawing.items, SETTING, 1)) != _records(mir)


def test_later_arms_repeat_earlier_stages_or_their_last(drawing: Drawing) -> None:
    mir = texts_of("mir", drawing.items, SETTING, 0)
    rehearsed = texts_of("rehearsed", drawing.items, SETTING, 0)
    assert [name for name, _ in rehearsed] == [name for name, _ in mir]
    before = Counter(rehearsed[0][1])
    for (_, texts), (_, own) in zip(rehearsed[1:], mir[1:], strict=True):
        again = texts[len(own) :]
        assert len(again) == len(own) and not set(again) - set(before)
        before += Counter(texts[: len(own)])
    *_, (_, last) = texts_of("long-end", drawing.items, SETTING, 0)
    assert set(Counter(last).values()) == {5}


@pytest.mark.parametrize("arm", ("rehearsed", "long-end"))
def test_later_plans_ask_for_the_same_steps(arm: str) -> None:
    plan = load_plan(str(PLANS[1] / f"{arm}.toml"))
    assert [(stage.given, stage.target) for stage in plan.stages] == [
        (stage.given, stage.target) for stage in load_plan("mir").stages
    ]


def test_faded_arms_ask_for_one_step_less_in_each_stage(drawing: Drawing) -> None:
    faded = load_plan("faded")
    assert [(stage.given, stage.target) for stage in faded.stages] == [((), STEPS[n:]) for n in range(5)]
    assert replace(load_plan(str(PLANS[1] / "faded-mixed.toml")), name="faded", summary=faded.summary) == replace(
        faded, shuffled=True
    )
    in_order, (mixed,) = (texts_of(arm, drawing.items, SETTING, 0) for arm in ("faded", "faded-mixed"))
    assert _records(in_order) == _records([mixed])
    (plain,) = texts_of("plain", drawing.items, SETTING, 0)
    assert _records(in_order[-1:]) == Counter(dict.fromkeys(plain[1], 4))


def test_no_stage_gives_what_it_asks_for(drawing: Drawing) -> None:
    item = drawing.items[10]
    for given in range(5):
        text = text_of(item, STEPS[:given], STEPS[given:])
        for step in STEPS[given:]:
            assert all(words not in text.prompt for words in item.steps[step])
        assert text.prompt.count("<image>") == len(text.pictures) == len(item.pictures)
        assert chosen_option(text.target, item.options) == item.answer


def test_answers_are_read_by_the_words_of_their_options(drawing: Drawing) -> None:
    for item in drawing.items:
        conclusion = item.steps["conclusion"][-1]
        words = item.options[item.answer].removesuffix(".") or item.answer
        assert conclusion.endswith(f"The answer is {words}.")
        assert chosen_option(f"Conclusion: {conclusion}", item.options) == item.answer
        for key, words in item.options.items():
            answer = words.removesuffix(".") or key
            assert chosen_option(f"Conclusion: The answer is {answer}.", item.options) == key


def test_all_arms_get_as_many_tokens(drawing: Drawing) -> None:
    tokenizer = learn_tokenizer([text_of(item, (), STEPS).target for item in drawing.items], 500)
    budget = sum(stage.budget for stage in stages_of("mir", drawing, SETTING, 0, tokenizer, None))
    for arm in ARMS:
        assert sum(stage.budget for stage in stages_of(arm, drawing, SETTING, 0, tokenizer, budget)) == budget


def test_weights_come_back_almost_as_they_were(tmp_path: Path) -> None:
    tokenizer = learn_tokenizer(["The answer is C."], 300)
    model = GlimpseForConditionalGeneration(glimpse_config(len(tokenizer), tiny=True))
    keep(model, tokenizer, tmp_path)
    again, processor = load(tmp_path, "cpu")
    assert processor.tokenizer("The answer")["input_ids"] == tokenizer("The answer")["input_ids"]
    for name, weight in model.state_dict().items():
        rows = weight.flatten(1) if weight.ndim > 1 else weight[None]
        moved = (again.state_dict()[name].view_as(rows) - rows).abs()
        assert (moved <= rows.abs().amax(1, keepdim=True) / 250).all(), name


def test_the_eye_sees_what_the_reader_sees(tmp_path: Path) -> None:
    reader = Reader().eval()
    for name, value in reader.state_dict().items():
        if name.endswith(("running_mean", "running_var")) or (value.ndim == 1 and name.endswith("1.weight")):
            value.uniform_(0.5, 1.5)
    torch.save(reader.state_dict(), tmp_path / "reader.pt")
    model = GlimpseForConditionalGeneration(glimpse_config(300, num_hidden_layers=1, vision_frozen=True))
    give_eye(model, tmp_path / "reader.pt")
    pixels = torch.rand(1, 3, 64, 96)
    with torch.no_grad():
        heat, boxes, attributes, _ = reader(pixels)
        _, fine, ours, sides = model.eye.trunk.maps((pixels - 0.5) * 4)
        tags = model.eye.trunk.tags(fine[0, :, 3, 5], torch.tensor([9.0]))
    torch.testing.assert_close(ours, heat, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(sides, boxes, rtol=1e-4, atol=1e-4)
    told = torch.cat([heat[0, :, 3, 5].softmax(-1), attributes[0, :HUES, 3, 5].softmax(-1)])
    torch.testing.assert_close(tags, told, rtol=1e-3, atol=1e-3)


def test_a_thing_is_named_by_the_words_for_it() -> None:
    tokenizer = learn_tokenizer(["a red camera, a blue lamp"] * 9, 300)
    model = GlimpseForConditionalGeneration(glimpse_config(len(tokenizer), tiny=True))
    name_things(model, tokenizer)
    tags = torch.zeros(TAGS)
    tags[SCENE_KINDS.index("camera")] = tags[KINDS + SCENE_COLOURS.index("red")] = 1.0
    pieces = tokenizer(" red camera", add_special_tokens=False)["input_ids"]
    torch.testing.assert_close(model.names(tags), model.get_input_embeddings().weight[pieces].sum(0))


def test_things_are_compared_in_a_talk_only_where_all_of_them_were_told() -> None:
    item, shots = _scene(1, "test", 0)
    drawing = Drawing([item], torch.from_numpy(shots[0].copy())[None])
    together, apart = (pretrain.texts_of(drawing, apart=apart) for apart in (False, True))
    assert together[0][1].target == item.captions[0]
    compared = [(ask.question, ask.answer) for ask in item.asks if ask.kind in ("left", "near")]
    assert compared
    assert [(kind, list(text.more)) for kind, text in together if text.more] == [("all", compared)]
    assert not any(text.more for _, text in apart)
    assert [text.target for _, text in apart[1:]] == [ask.answer for ask in item.asks]


def test_of_four_options_the_one_that_is_told_is_right() -> None:
    scenes = [_scene(number, "test", number)[0] for number in range(12)]
    found = list(choices_of(scenes, "test"))
    assert {kind for kind, _ in found} == {"letters", "choose what", "choose where", "choose picture", "choose image"}
    for kind, text in found:
        listed = dict(re.findall(r"\n([A-D])\. (.+)", text.prompt))
        assert len(listed) == 4
        if kind == "letters":
            for question, answer in [(text.prompt.splitlines()[-1], text.target), *text.more]:
                key = question[-2] if question.startswith("What") else answer[-2]
                assert listed[key] in f"{question} {answer}"
            continue
        assert text.prompt.count("<image>") == len(text.pictures)
        said = text.target.rpartition("The answer is ")[2].removesuffix(".")
        if kind == "choose image":
            (name,) = re.findall(r"the (.+)\?", text.prompt)
            shown = [name in scenes[number].names for number in text.pictures]
            assert [key for key, there in zip("ABCD", shown, strict=True) if there] == [said]
        else:
            assert said in listed.values()
            assert text.target.count(said) == 2


def test_nothing_is_asked_twice_of_a_picture() -> None:
    for number in range(20):
        questions = [ask.question for ask in _scene(number, "test", 0)[0].asks]
        assert len(set(questions)) == len(questions)


def test_looks_are_what_the_model_would_see(drawing: Drawing) -> None:
    tokenizer = learn_tokenizer([text_of(item, (), STEPS).target for item in drawing.items], 500)
    torch.manual_seed(0)  # By some weights two things are equally sure, and rounding decides which is seen.
    model = GlimpseForConditionalGeneration(glimpse_config(len(tokenizer), tiny=True, vision_frozen=True)).eval()
    few = Drawing(drawing.items[:2], drawing.pixels)
    texts = [text_of(item, (), STEPS) for item in few.items]
    said = []
    for one in (few, few.looked_at(model)):
        batch = ArrayExamples(texts, tokenizer, one.pixels).batch([0, 1])
        with torch.no_grad():
            said.append(model(**batch.inputs, use_cache=False).logits)
    torch.testing.assert_close(*said, rtol=3e-2, atol=3e-2)


def test_asked_together_it_says_what_it_generates(drawing: Drawing) -> None:
    tokenizer = learn_tokenizer([text_of(item, (), STEPS).target for item in drawing.items], 500)
    torch.manual_seed(1)
    model = GlimpseForConditionalGeneration(glimpse_config(len(tokenizer), tiny=True, vision_frozen=True)).eval()
    for weight in model.model.parameters():  # So that what it says depends on what it reads, and some of it ends.
        if weight.ndim == 2:
            weight.data *= 8
    texts = [text_of(item, (), STEPS[-1:]) for item in drawing.items]
    inputs = ArrayExamples(texts, tokenizer, drawing.looked_at(model).pixels).prompts(range(len(texts)))
    whole = said_together(model, tokenizer, inputs, 40, half=False)
    assert whole == generated_texts(model, tokenizer, inputs, 40, half=False)
    assert len(set(whole)) > 12
    with torch.no_grad():  # A token from the middle of what it says is now an end.
        ends = int(model.generate(**inputs, max_new_tokens=40, do_sample=False)[0, -20])
    model.config.eos_token_id = model.generation_config.eos_token_id = ends
    ended = said_together(model, tokenizer, inputs, 40, half=False)
    assert ended == generated_texts(model, tokenizer, inputs, 40, half=False)
    assert ended != whole


def test_captions_say_of_which_picture_they_are(drawing: Drawing) -> None:
    item = drawing.items[5]
    captions = [line for line in text_of(item, (), STEPS).target.splitlines() if line.startswith("Caption: ")]
    assert captions == [f"Caption: Picture {n}: {text}" for n, text in enumerate(item.steps["caption"], 1)]
    assert len(captions) == len(item.pictures) > 1


def test_numbers_begin_in_their_order() -> None:
    tokenizer = learn_tokenizer([f"{number} and {number}" for number in range(100)] * 3, 600)
    model = GlimpseForConditionalGeneration(glimpse_config(len(tokenizer), tiny=True))
    order_numbers(model, tokenizer)
    ids = [tokenizer(f"{number}", add_special_tokens=False)["input_ids"] for number in (40, 41, 70)]
    at, next_to_it, far = (model.get_input_embeddings().weight[number].squeeze(0) for number in ids)
    assert torch.cosine_similarity(at, next_to_it, dim=0) > torch.cosine_similarity(at, far, dim=0)


def test_only_whole_runs_are_taken_over(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "runs.jsonl")
    whole = {
        "arm": "mir",
        "seed": 0,
        "setting": asdict(SETTING),
        "stage": "end",
        "mode": "chain",
        "letters": "A",
        "last": True,
    }
    journal.add(whole)
    journal.add({**whole, "seed": 1, "last": False})
    (tmp_path / "next").mkdir()
    taken = Journal(tmp_path / "next" / "runs.jsonl")
    taken.take(tmp_path)
    assert taken.has("mir", 0, SETTING)
    assert not taken.has("mir", 1, SETTING)
    assert len(taken.rows) == 1


def test_halves_share_no_question_and_have_all_subtasks(drawing: Drawing) -> None:
    first, second = (answered_by(arm, drawing.items) for arm in HALVES)
    assert learnt_by("half-0", drawing.items) == second
    assert learnt_by("half-1", drawing.items) == first
    assert sorted(item.id for item in (*first, *second)) == sorted(item.id for item in drawing.items)
    assert abs(len(first) - len(second)) <= 1
    assert len({item.subtask for item in first}) > 6


def test_a_question_is_as_hard_as_answers_to_it_are_wrong(drawing: Drawing, tmp_path: Path) -> None:
    rows = []
    for arm in HALVES:
        asked = answered_by(arm, drawing.items)
        wholly = "".join(item.answer for item in asked)
        rows += [{"arm": arm, "letters": wholly}] * 3 + [{"arm": arm, "letters": f"-{wholly[1:]}"}]
    (tmp_path / "levels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = measured(drawing.items, tmp_path / "levels.jsonl")
    unsure = {answered_by(arm, drawing.items)[0].id for arm in HALVES}
    assert [item.level for item in found] == [0.25 if item.id in unsure else 0.0 for item in drawing.items]
    assert [item.id for item in found] == [item.id for item in drawing.items]


def test_variants_are_other_settings_of_known_arms() -> None:
    found = variants()
    assert len({setting for _, setting in found} - {Setting()}) >= 6
    for arms, setting in found:
        assert set(arms) <= {*ARMS, *LATER}
        assert (setting == Setting()) <= (set(arms) <= set(LATER))
