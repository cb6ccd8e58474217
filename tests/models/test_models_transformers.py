"""Models in this process: a tiny text model and a tiny one that sees, both made on the spot with random weights."""

from __future__ import annotations

import asyncio
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from hub_unreachable import cut_off
from pictures import random_picture
from sightline.errors import UserError
from sightline.models.protocols import CallOutcome
from sightline.models.transport_factory import open_transport
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Message

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch", reason="needs the extra `transformers`")
transformers = pytest.importorskip("transformers", reason="needs the extra `transformers`")

SPECIAL = ["<s>", "</s>", "<pad>", "<image>", "<|user|>", "<|assistant|>"]
TEMPLATE = (
    "{% for m in messages %}<|user|>{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for p in m['content'] %}{% if p['type'] == 'image' %}<image>{% else %}{{ p['text'] }}{% endif %}{% endfor %}"
    "{% endif %}{% endfor %}<|assistant|>"
)


def tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    vocabulary = {token: number for number, token in enumerate(SPECIAL + sorted(pre_tokenizers.ByteLevel.alphabet()))}
    bytes_ = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    bytes_.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_.decoder = decoders.ByteLevel()
    bytes_.add_special_tokens(SPECIAL)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=bytes_, bos_token="<s>", eos_token="</s>", pad_token="<pad>", chat_template=TEMPLATE
    )


def text_config(size: int) -> Any:
    return transformers.LlamaConfig(
        vocab_size=size,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=8192,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
    )


@pytest.fixture(scope="module")
def text_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    words = tokenizer()
    torch.manual_seed(0)
    transformers.LlamaForCausalLM(text_config(len(words))).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def seeing_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seeing")
    words = tokenizer()
    eye = transformers.CLIPVisionConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        image_size=28,
        patch_size=14,
    )
    config = transformers.LlavaConfig(
        vision_config=eye,
        text_config=text_config(len(words)),
        image_token_index=SPECIAL.index("<image>"),
        vision_feature_select_strategy="default",
        vision_feature_layer=-1,
    )
    torch.manual_seed(0)
    transformers.LlavaForConditionalGeneration(config).save_pretrained(folder)
    transformers.LlavaProcessor(
        image_processor=transformers.CLIPImageProcessorPil(
            size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}
        ),
        tokenizer=words,
        patch_size=14,
        vision_feature_select_strategy="default",
        image_token="<image>",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    ).save_pretrained(folder)
    return folder


HELLO = ChatRequest("transformers/tiny", (Message("user", ("hello",)),), max_tokens=8)


def only(letter: str, size: int) -> dict[str, Any]:
    """Options that let the model write one letter, and end when its time is up."""
    allowed = {tokenizer().convert_tokens_to_ids(letter), 1}
    return {"suppress_tokens": [number for number in range(size) if number not in allowed], "forced_eos_token_id": 1}


def ask(folder: Path | str, *requests: ChatRequest, local_only: bool = True, **settings: Any) -> list[CallOutcome]:
    async def go() -> list[CallOutcome]:
        transport = open_transport(f"transformers/{folder}", local_only=local_only, settings=WireSettings(**settings))
        try:
            return [await transport.send(request) for request in requests]
        finally:
            await transport.close()

    return asyncio.run(go())


def said(outcome: CallOutcome) -> ChatReply:
    reply = outcome.result if isinstance(outcome.result, ChatReply) else outcome.partial
    assert reply is not None, outcome
    return reply


def test_a_reply_with_its_tokens_and_the_cut_off(text_model: Path) -> None:
    ended, cut = ask(text_model, replace(HELLO, extra=only("a", 262)), HELLO)
    assert isinstance(ended.result, ChatReply)
    assert ended.result.text == "a" * len(ended.result.text)
    assert (ended.result.usage.input, ended.result.finish) == (len("hello") + 2, "stop")
    assert isinstance(cut.result, Failure)
    assert cut.result.kind == "length"
    assert said(cut).usage.output == 8


def test_a_seed_makes_sampling_repeatable(text_model: Path) -> None:
    first = replace(HELLO, temperature=1.0, top_p=0.9, seed=3)
    one, same, other = (said(outcome).text for outcome in ask(text_model, first, first, replace(first, seed=4)))
    assert one == same
    assert one != other


def test_stop_strings_end_the_reply(text_model: Path) -> None:
    (outcome,) = ask(text_model, replace(HELLO, stop=("aa",), extra=only("a", 262)))
    assert said(outcome).usage.output == 2
    assert "aa" not in said(outcome).text


def test_a_picture_is_seen(seeing_model: Path) -> None:
    def picture(seed: int) -> ImagePart:
        buffer = io.BytesIO()
        random_picture(seed, (60, 40)).save(buffer, "PNG")
        return ImagePart("x", buffer.getvalue())

    request = replace(HELLO, messages=(Message("user", ("hello", picture(1), picture(2))),))
    plain, seeing, broken = ask(
        seeing_model, HELLO, request, replace(HELLO, messages=(Message("user", (ImagePart("x", b"no"),)),))
    )
    assert said(seeing).usage.input == said(plain).usage.input + 2 * 4
    assert isinstance(broken.result, Failure)
    assert broken.result.kind == "bad-picture"


def test_a_slow_reply_is_given_up_and_the_next_one_gets_its_turn(text_model: Path) -> None:
    slow = replace(HELLO, max_tokens=7000, extra={"suppress_tokens": [1]})
    late, next_ = ask(text_model, slow, replace(HELLO, max_tokens=2), total_seconds=1.5)
    assert isinstance(late.result, Failure)
    assert late.result.kind == "timeout"
    assert said(next_).usage.output == 2


@pytest.mark.parametrize("field", ["tool_choice", "reasoning_effort"])
def test_what_a_local_model_has_no_word_for(text_model: Path, field: str) -> None:
    changed: dict[str, Any] = {field: "low"}
    (outcome,) = ask(text_model, replace(HELLO, **changed))
    assert isinstance(outcome.result, Failure)
    assert outcome.result.kind == "unsupported"


def test_no_such_model(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be loaded"):
        ask(tmp_path, HELLO)


@pytest.fixture(scope="module")
def glimpse_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `sightline train` leaves it."""
    from sightline.reason.train.models import open_model

    folder = tmp_path_factory.mktemp("glimpse")
    model, processor = open_model("glimpse-tiny", ["Is it red? It is blue."] * 3)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def shown(*colours: str) -> ChatRequest:
    pictures = []
    for colour in colours:
        file = io.BytesIO()
        Image.new("RGB", (320, 240), colour).save(file, "PNG")
        pictures.append(ImagePart(f"{colour}.png", file.getvalue()))
    return replace(HELLO, messages=(Message("user", (*pictures, "Is it red?")),))


def test_a_model_that_was_trained_here_answers(glimpse_model: Path) -> None:
    from sightline_world.models.glimpse_vision import TOKENS

    one, two = ask(glimpse_model, shown("red"), shown("red", "blue"))
    assert said(two).usage.input - said(one).usage.input == TOKENS
    assert said(one).usage.output == 8


def test_what_lora_added_is_asked_with_its_base(glimpse_model: Path, tmp_path: Path) -> None:
    from sightline.reason.train.models import open_model, with_lora

    model, processor = open_model(str(glimpse_model), ())
    adapted = with_lora(model, 2)
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.normal_()
    adapted.save_pretrained(tmp_path / "model")
    processor.save_pretrained(tmp_path / "model")
    adapted.merge_and_unload().save_pretrained(tmp_path / "whole")
    processor.save_pretrained(tmp_path / "whole")
    (plain,), (added,), (whole,) = (
        ask(folder, shown("red")) for folder in (glimpse_model, tmp_path / "model", tmp_path / "whole")
    )
    assert said(added).text == said(whole).text != said(plain).text


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whoever is asked over the network, where none answers."""
    return cut_off(monkeypatch, tmp_path / "hub")


@pytest.mark.parametrize("made", ["text_model", "seeing_model", "glimpse_model"])
def test_a_folder_is_opened_without_asking_the_hub(made: str, request: pytest.FixtureRequest, asked: list[str]) -> None:
    (reply,) = ask(request.getfixturevalue(made), HELLO, local_only=False)
    assert said(reply).usage.output == 8 and not asked


@pytest.mark.parametrize("whole", [True, False])
def test_an_adapter_to_a_folder_is_opened_without_asking_the_hub(
    glimpse_model: Path, tmp_path: Path, asked: list[str], whole: bool
) -> None:
    from sightline.reason.train.models import open_model, with_lora

    model, processor = open_model(str(glimpse_model), ())
    with_lora(model, 2).save_pretrained(tmp_path / "model")
    if whole:
        processor.save_pretrained(tmp_path / "model")
    (reply,) = ask(tmp_path / "model", HELLO, local_only=False)
    assert said(reply).usage.output == 8 and not asked


def test_local_only_asks_the_hub_for_no_model_and_for_no_base(tmp_path: Path, asked: list[str]) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text('{"base_model_name_or_path": "someone/base"}')
    for name in ("someone/model", adapter):
        with pytest.raises(
            UserError, match=r"can't be \w+: some of its files are not on this machine, and --local-only"
        ):
            ask(name, HELLO)
    assert not asked
    with pytest.raises(UserError, match="can't be loaded"):
        ask("someone/model", HELLO, local_only=False)
    assert asked, "which shows that asking would have been seen"
