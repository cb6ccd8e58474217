"""Every verb that asks a model honours a budget of the caller's own, and asks MODEL@URL at that address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from PIL import Image

import models_server as wire
import sightline
from agent_bench import small_bench
from judging_tools import judging_config, ready
from make_tools import COLOURS, colour_config, draw, project_in, with_calls
from search_tools import Colours, painted
from sightline.authoring.annotate import AnnotateStage
from sightline.authoring.judge import JudgeStage
from sightline.authoring.pictures import PicturesStage
from sightline.authoring.project import QUERIES
from sightline.authoring.query import QueryStage
from sightline.authoring.stage import BatchOptions
from sightline.calls.ask_many import Ask, AskJob, ask_many
from sightline.calls.batches.job import load_job
from sightline.calls.batches.manager import BatchJobOptions, BatchManager
from sightline.calls.session import CallOptions, Session
from sightline.config import Config
from sightline.config.settings import Price, PriceSettings
from sightline.errors import SightlineError, StoppedError
from sightline.metrics.answer_judge import AnswerToJudge, AnswerVerdict
from sightline.mining.pipeline import Mining
from sightline.mining.project import MiningSettings, OwnerRules
from sightline.models.embedders.pipeline import embed_texts
from sightline.pictures import scan
from sightline.reason.ablations import Ablations
from sightline.reason.curriculum.measure import ChatReader
from sightline.reason.curriculum.reader import BlindQuestion
from sightline.reason.difficulty.pass_rate import BucketRule
from sightline.reason.difficulty.pipeline import measure_by_judge, measure_by_samples
from sightline.reason.difficulty.sampling import SamplingSettings
from sightline.reason.questions import QuestionWork
from sightline.reason.steps.annotation import StepSettings
from sightline.reason.steps.pipeline import annotate_benchmark
from sightline.reason.traces.pipeline import TraceWork, make_traces
from sightline.reason.traces.questions import PictureSource
from sightline.reason.traces.records import PictureKnowledge, Teacher, TracePicture
from sightline.reason.traces.teachers import TraceSettings
from sightline.retrieval.rerank import Reranker
from sightline.runs import judged_answers
from sightline.runs.judged_answers import AnswerJudgeJob
from sightline.types import Answer, ChatReply, ChatRequest, Failure, Message

MODEL = "vllm/m"
PRICES = PriceSettings(models={MODEL: Price(input=10.0, output=100.0)})
CONFIG = Config(prices=PRICES)


class NoMoney:
    """Allows nothing; no `Budget`, but whatever a caller may write."""

    def __init__(self) -> None:
        self.refused = 0

    async def reserve(self, usd: float, about: str = "") -> None:
        self.refused += 1
        raise StoppedError("not a cent.")

    def settle(self, usd: float, spent: float | None, about: str = "") -> None:
        raise AssertionError("nothing was set aside")


@pytest.fixture
def server() -> Iterator[wire.Server]:
    """Counts what it is asked."""
    with wire.serving_in_thread(lambda _: wire.respond_json(wire.chat("The final answer is: A."))) as serving:
        yield serving


Verb = Callable[[Path, CallOptions], object]


def priced(config: Config) -> Config:
    return config.model_copy(update={"prices": PRICES})


def annotate(folder: Path, asking: CallOptions, model: str = "", batch: BatchOptions | None = None) -> object:
    project = project_in(folder, priced(colour_config(model=model or MODEL)))
    PicturesStage(draw(folder / "pictures", *COLOURS)).run(project)
    return AnnotateStage(batch=batch).run(with_calls(project, asking))


def annotate_in_a_batch(folder: Path, asking: CallOptions) -> object:
    return annotate(folder, asking, "openai/gpt-5-mini", BatchOptions(wait=False))  # Its batches have a listed price.


def query(folder: Path, asking: CallOptions) -> object:
    project = ready(folder, priced(judging_config(model=MODEL)))
    project.path(QUERIES).unlink()
    return QueryStage(MODEL).run(with_calls(project, asking))


def judge(folder: Path, asking: CallOptions) -> object:
    return JudgeStage((MODEL,)).run(with_calls(ready(folder, priced(judging_config(model=MODEL))), asking))


def mine(folder: Path, asking: CallOptions) -> object:
    for number, colour in enumerate(COLOURS.values()):
        exif = Image.Exif()
        exif.get_ifd(0x8769)[0x9003] = f"2021:05:{1 + number:02} 10:00:00"
        (folder / "pictures").mkdir(exist_ok=True)
        Image.new("RGB", (80, 60), colour).save(folder / "pictures" / f"{number}.jpg", exif=exif)
    scan(folder / "pictures", workspace=folder / "ws")
    settings = MiningSettings(MODEL, writer=MODEL, rules=OwnerRules(pictures=1, coverage=0.0, events=1, days=0))
    return Mining(Session(folder / "ws", CONFIG, asking), folder / "mine", settings, Colours()).run("parse")


def leakage(folder: Path, asking: CallOptions) -> object:
    question = BlindQuestion("It is red.", {"A": "red", "B": "blue"}, "A")
    return ChatReader(MODEL, Session(folder / "ws", CONFIG, asking)).guesses([question])


def think(folder: Path, asking: CallOptions) -> object:
    shown = [TracePicture("0.jpg", "https://p.example/0.jpg", PictureKnowledge(("a dog",)))]
    source = PictureSource("things", 1, lambda: iter(shown))
    return make_traces(
        TraceWork(source, TraceSettings((Teacher(MODEL),)), Session(folder / "ws", CONFIG, asking)),
        folder / "out",
        format_="jsonl",
    )


def questions(folder: Path, asking: CallOptions) -> QuestionWork:
    small_bench(folder / "bench")
    return QuestionWork(folder / "bench", Session(folder / "ws", CONFIG, asking))


def steps(folder: Path, asking: CallOptions) -> object:
    return annotate_benchmark(questions(folder, asking), StepSettings(MODEL), folder / "out")


def difficulty_by_samples(folder: Path, asking: CallOptions) -> object:
    settings = SamplingSettings(MODEL, BucketRule(3, 0.7, early=False))
    return measure_by_samples(questions(folder, asking), settings, folder / "out")


def difficulty_by_judge(folder: Path, asking: CallOptions) -> object:
    return measure_by_judge(questions(folder, asking), MODEL, folder / "out")


def ablate(folder: Path, asking: CallOptions) -> object:
    small_bench(folder / "bench")
    arms = Ablations(folder / "bench", MODEL, session=Session(folder / "ws", CONFIG, asking))
    return arms.run(folder / "arms")


def run(folder: Path, asking: CallOptions, spec: str) -> object:
    small_bench(folder / "bench")
    return sightline.run(folder / "bench", spec, folder / "run", session=Session(folder / "ws", CONFIG, asking))


def run_chat(folder: Path, asking: CallOptions) -> object:
    return run(folder, asking, f"chat:model={MODEL}")


def run_agent(folder: Path, asking: CallOptions) -> object:
    return run(folder, asking, f"agent:model={MODEL},tools=ViewPhotos+GetMetadata")


def ask(folder: Path, asking: CallOptions) -> object:
    painted(folder / "pictures", a="red", b="lime")
    return sightline.ask(
        "which is red?",
        folder / "pictures",
        model=MODEL,
        embedder=Colours(),
        session=Session(folder / "ws", CONFIG, asking),
    )


def rerank(folder: Path, asking: CallOptions) -> object:
    """Keeps the old order, and says what stopped it."""
    graded = Reranker(MODEL, Session(folder / "ws", CONFIG, asking)).grade("red", painted(folder / "pictures", a="red"))
    if graded.stopped is not None:
        raise graded.stopped
    return graded


def answer_request(item: AnswerToJudge) -> ChatRequest:
    return request(f"{item.question} {item.truth.text} {item.prediction}")


def verdict_in(reply: ChatReply) -> AnswerVerdict | Failure:
    return AnswerVerdict("A" in reply.text, None, reply.text)


def judge_answers(folder: Path, asking: CallOptions) -> object:
    answers = {"q": AnswerToJudge("Where?", Answer("Paris"), "the French capital")}
    job = AnswerJudgeJob(MODEL, answer_request, verdict_in)
    return judged_answers.judge_answers(answers, job, Session(folder / "ws", CONFIG, asking))


def embed(folder: Path, asking: CallOptions) -> object:
    there = {"base_url": asking.base_url}
    return embed_texts(["a", "b"], embedder=MODEL, options=there, session=Session(folder / "ws", CONFIG, asking))


def request(text: str) -> ChatRequest:
    return ChatRequest(MODEL, (Message("user", (text,)),), max_tokens=20)


def many(folder: Path, asking: CallOptions) -> object:
    asked = [Ask(str(number), request(f"question {number}")) for number in range(20)]
    return list(ask_many(asked, AskJob("probe", MODEL), Session(folder / "ws", CONFIG, asking)))


def batch(folder: Path, asking: CallOptions) -> object:
    making = BatchJobOptions(price_factor=0.5)
    return BatchManager(Session(folder / "ws", CONFIG, asking)).make(
        lambda: [("q", request("?"))], MODEL, folder / "job", making
    )


def batch_of_another(folder: Path, asking: CallOptions) -> object:
    """A job that was made without a budget is not submitted with one that does not allow it."""
    batch(folder, CallOptions(base_url=asking.base_url))
    return BatchManager(Session(folder / "ws", CONFIG, asking)).submit(folder / "job")


VERBS: list[Verb] = [
    ablate,
    annotate,
    annotate_in_a_batch,
    ask,
    batch,
    batch_of_another,
    difficulty_by_judge,
    difficulty_by_samples,
    embed,
    judge,
    judge_answers,
    leakage,
    many,
    mine,
    query,
    rerank,
    run_agent,
    run_chat,
    steps,
    think,
]


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_is_sent(verb: Verb, server: wire.Server, tmp_path: Path) -> None:
    budget = NoMoney()
    with pytest.raises(StoppedError, match="not a cent"):
        verb(tmp_path, CallOptions(base_url=server.base_url, budget=budget))
    assert budget.refused > 0 and server.requests == []


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in (annotate_in_a_batch, batch)])
def test_an_address_in_the_name_is_where_the_model_is_asked(
    verb: Verb, server: wire.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "MODEL", f"{MODEL}@{server.base_url}")
    with suppress(SightlineError):  # What the server says helps no verb.
        verb(tmp_path, CallOptions(base_url="http://127.0.0.1:9/v1"))
    sent = b"".join(each.body for each in server.requests)
    assert b'"model":"m"' in sent and b"@http" not in sent


def test_an_address_in_the_name_is_that_of_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "MODEL", f"{MODEL}@http://127.0.0.1:8/v1")
    batch(tmp_path, CallOptions(base_url="http://127.0.0.1:9/v1"))
    job = load_job(tmp_path / "job")
    assert (
        job.endpoint == "http://127.0.0.1:8/v1"
        and b'"model":"m"' in (tmp_path / "job" / job.shards[0].file).read_bytes()
    )
