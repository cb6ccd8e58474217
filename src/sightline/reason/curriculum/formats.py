"""The formats in which a curriculum is written: Sightline's own, LLaVA, ms-swift, ShareGPT, LLaMA-Factory and TRL.

A format writes the files and says how they are used; to add one, write both functions and list it in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sightline.io import dump, write_json, write_jsonl, write_whole
from sightline.reason.curriculum.lessons import IMAGE, TITLES, Lesson
from sightline.reason.curriculum.plan import STEPS
from sightline.reason.curriculum.pool import draws_of, redrawn
from sightline.reason.curriculum.records import CompiledCurriculum, CurriculumRecord

TRAIN = "train.jsonl"
STAGES = "stages.json"
MODEL = "Qwen/Qwen2.5-VL-7B-Instruct"
"""In the ready commands; MIR's own choice."""


@dataclass(frozen=True, slots=True)
class CurriculumFormat:
    """A way to write a curriculum; `usage` is the part of its README that says how to train with it."""

    name: str
    write: Callable[[CompiledCurriculum, Path], None]
    usage: Callable[[CompiledCurriculum], str]


def write_in_order(course: CompiledCurriculum, folder: Path, line: Callable[[CurriculumRecord], Any]) -> None:
    """All records in one file in the order of the training, and where each stage begins in it."""
    write_jsonl(folder / TRAIN, map(line, course.records()))
    first, stages = 1, []
    for stage in course.stages:
        row = {"name": stage.name, "phase": stage.phase, "file": TRAIN, "first_line": first}
        stages.append({**row, "records": len(stage.entries), "tokens": stage.tokens})
        first += len(stage.entries)
    write_json(folder / STAGES, stages)


def write_by_stage(
    course: CompiledCurriculum, folder: Path, suffix: str, write: Callable[[Path, Iterator[CurriculumRecord]], None]
) -> None:
    """A file for each stage, and their list in the order of the training."""
    stages = []
    for name, stage in zip(stage_names(course), course.stages, strict=True):
        file = f"{name}{suffix}"
        write(folder / file, course.records(stage))
        row = {"name": stage.name, "phase": stage.phase, "file": file}
        stages.append({**row, "records": len(stage.entries), "tokens": stage.tokens})
    write_json(folder / STAGES, stages)


def stage_names(course: CompiledCurriculum) -> list[str]:
    """`01-easy`, `02-stage-1`, …: names of files that sort in the order of the training."""
    return [f"{number:02}-{stage.name}" for number, stage in enumerate(course.stages, 1)]


def write_list(path: Path, rows: Iterable[Any]) -> None:
    """One JSON list, a row on each line, written as a stream."""
    write_whole(path, _listed(rows))


def turns(record: CurriculumRecord) -> list[dict[str, str]]:
    """The messages in ShareGPT's words."""
    return [
        {"from": "human", "value": record.exercise.prompt},
        {"from": "gpt", "value": record.exercise.target},
    ]


def longest(course: CompiledCurriculum) -> int:
    """The length to train at: the limit that was proved, else the longest record and, if estimated, half as much."""
    wanted = course.proof.longest if course.counter.exact else course.proof.longest * 3 // 2
    return course.proof.against.limit_tokens or -(-wanted // 1024) * 1024


def _listed(rows: Iterable[Any]) -> Iterator[bytes]:
    before = b"[\n"
    for row in rows:
        yield before + dump(row).rstrip()
        before = b",\n"
    yield b"\n]\n" if before != b"[\n" else b"[]\n"


def _write_own(course: CompiledCurriculum, folder: Path) -> None:
    write_by_stage(course, folder, ".jsonl", _write_own_stage)


def _write_own_stage(path: Path, records: Iterator[CurriculumRecord]) -> None:
    write_jsonl(path, map(own_record, records))


def own_record(record: CurriculumRecord) -> dict[str, Any]:
    """A record with all that is known of it."""
    exercise = record.exercise
    return {
        "id": record.id,
        "task": exercise.lesson.task,
        "phase": record.phase,
        "stage": record.stage,
        "form": exercise.stage.name,
        "order": record.order,
        "messages": record.messages,
        "images": list(record.images),
        "given": list(exercise.stage.given),
        "target": list(exercise.stage.target),
        "options": {option.key: option.text for option in exercise.lesson.options},
        "answer": exercise.lesson.answer,
        "target_chars": len(exercise.target),
        "tokens": asdict(record.tokens),
    }


def _own_usage(course: CompiledCurriculum) -> str:
    return f"""`stages.json` lists the stages in the order of the training, each with its file of JSON lines. The user's
message has `<image>` where each of `images` (paths from this folder) stands; the loss belongs on the assistant's
message alone.

```console
$ sightline train . --model MODEL --out {course.trained}
```
"""


OWN = CurriculumFormat("sightline", _write_own, _own_usage)


def _write_llava(course: CompiledCurriculum, folder: Path) -> None:
    write_by_stage(course, folder, ".json", _write_llava_stage)


def _write_llava_stage(path: Path, records: Iterator[CurriculumRecord]) -> None:
    write_list(path, map(_llava_record, records))


def _llava_record(record: CurriculumRecord) -> dict[str, Any]:
    return {"id": record.id, "image": list(record.images), "conversations": turns(record)}


def _llava_usage(course: CompiledCurriculum) -> str:
    return f"""LLaVA's trainer shuffles and has no flag against it, so each stage is a file and a run of its own,
which goes on from the model of the one before; inside a stage the order is LLaVA's. `image` is a list, as LLaVA-NeXT
reads it. Run it in this folder; `llava` is where LLaVA was checked out.

```bash
llava=~/LLaVA-NeXT
out={course.trained}
model=lmms-lab/llava-onevision-qwen2-7b-ov
for stage in {" ".join(stage_names(course))}; do
  torchrun --nproc_per_node 8 $llava/llava/train/train_mem.py --model_name_or_path $model --version qwen_1_5 \\
    --data_path $stage.json --image_folder . --bf16 True --num_train_epochs 1 --learning_rate 2e-5 \\
    --warmup_ratio 0.05 --model_max_length {longest(course)} --output_dir $out/$stage
  model=$out/$stage
done
```
"""


LLAVA = CurriculumFormat("llava", _write_llava, _llava_usage)


def _write_swift(course: CompiledCurriculum, folder: Path) -> None:
    write_in_order(course, folder, _swift_record)


def _swift_record(record: CurriculumRecord) -> dict[str, Any]:
    return {"messages": record.messages, "images": list(record.images)}


def swift_command(course: CompiledCurriculum) -> str:
    """Both shuffles off: of the data set, and of the loader. Epochs are in the file already."""
    return f"""```console
$ swift sft --model {MODEL} --tuner_type full --torch_dtype bfloat16 \\
    --dataset {TRAIN} --dataset_shuffle false --train_dataloader_shuffle false \\
    --num_train_epochs 1 --per_device_train_batch_size 1 --gradient_accumulation_steps 4 \\
    --learning_rate 2e-5 --warmup_ratio 0.05 --max_length {longest(course)} \\
    --output_dir {course.trained}
```
"""


def _swift_usage(course: CompiledCurriculum) -> str:
    return f"""Run it in this folder: the paths of the pictures start here (or set `ROOT_IMAGE_DIR`). Without both
shuffle flags ms-swift mixes the stages; records longer than `--max_length` it leaves out. Before ms-swift 4,
`--tuner_type` was called `--train_type`.

{swift_command(course)}"""


MS_SWIFT = CurriculumFormat("ms-swift", _write_swift, _swift_usage)


def _write_sharegpt(course: CompiledCurriculum, folder: Path) -> None:
    write_in_order(course, folder, _sharegpt_record)


def _sharegpt_record(record: CurriculumRecord) -> dict[str, Any]:
    return {"id": record.id, "conversations": turns(record), "images": list(record.images)}


def _sharegpt_usage(course: CompiledCurriculum) -> str:
    return f"""Many tools read these fields; whichever is used, turn its shuffling off. With ms-swift, in this folder:

{swift_command(course)}"""


SHAREGPT = CurriculumFormat("sharegpt", _write_sharegpt, _sharegpt_usage)


CONFIG = "train.yaml"
_NAME = "sightline_curriculum"
_INFO = {
    "file_name": TRAIN,
    "formatting": "sharegpt",
    "columns": {"messages": "messages", "images": "images"},
    "tags": {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"},
}


def _write_llama_factory(course: CompiledCurriculum, folder: Path) -> None:
    write_in_order(course, folder, _llama_factory_record)
    write_json(folder / "dataset_info.json", {_NAME: _INFO})
    write_whole(folder / CONFIG, _llama_factory_config(course).encode())


def _llama_factory_record(record: CurriculumRecord) -> dict[str, Any]:
    return {"messages": record.messages, "images": list(record.images)}


def _llama_factory_config(course: CompiledCurriculum) -> str:
    return f"""model_name_or_path: {MODEL}
template: qwen2_vl
stage: sft
do_train: true
finetuning_type: full
dataset_dir: .
media_dir: .
dataset: {_NAME}
disable_shuffling: true
cutoff_len: {longest(course)}
overwrite_cache: true
num_train_epochs: 1.0
per_device_train_batch_size: 1
gradient_accumulation_steps: 4
learning_rate: 2.0e-5
lr_scheduler_type: cosine
warmup_ratio: 0.05
bf16: true
output_dir: {course.trained}
"""


def _llama_factory_usage(course: CompiledCurriculum) -> str:
    return f"""`{CONFIG}` has `disable_shuffling: true`, without which the stages would be mixed. Run it in this folder:

```console
$ llamafactory-cli train {CONFIG}
```
"""


LLAMA_FACTORY = CurriculumFormat("llama-factory", _write_llama_factory, _llama_factory_usage)


MESSAGES, STEPWISE = "messages.jsonl", "stepwise.jsonl"


def _write_trl(course: CompiledCurriculum, folder: Path) -> None:
    write_in_order(course, folder, _trl_record)
    write_jsonl(folder / MESSAGES, map(_whole, course.records()))
    write_jsonl(folder / STEPWISE, (row for lesson in course.lessons() for row in _stepwise(lesson, course)))


def _trl_record(record: CurriculumRecord) -> dict[str, Any]:
    user, assistant = _messages(record)
    return {"prompt": [user], "completion": [assistant], "images": list(record.images)}


def _whole(record: CurriculumRecord) -> dict[str, Any]:
    return {"messages": _messages(record), "images": list(record.images)}


def _messages(record: CurriculumRecord) -> list[dict[str, Any]]:
    return [{"role": one["role"], "content": list(_parts(one["content"]))} for one in record.messages]


def _parts(text: str) -> Iterator[dict[str, str]]:
    for place, words in enumerate(text.split(IMAGE)):
        if place:
            yield {"type": "image"}
        if words:
            yield {"type": "text", "text": words}


def _stepwise(lesson: Lesson, course: CompiledCurriculum) -> Iterator[dict[str, Any]]:
    """The steps with the right answer behind them, and with a wrong one by lot; both short, so that they read alike."""
    steps = [f"{TITLES[kind]}: {said.text}" for kind in STEPS[:-1] for said in lesson.steps[kind]]
    wrong = [option.key for option in lesson.options if option.key != lesson.answer]
    if not steps or not wrong:
        return
    lot = int(redrawn(draws_of([lesson.task]), f"{course.seed}/stepwise")[0])
    images = [course.pictures.path(name) for name in lesson.images]
    for key, right in ((lesson.answer, True), (wrong[lot % len(wrong)], False)):
        yield {
            "prompt": lesson.question,
            "completions": [*steps, f"{TITLES['conclusion']}: The answer is {key}."],
            "labels": [True] * len(steps) + [right],
            "images": images,
        }


def _trl_usage(course: CompiledCurriculum) -> str:
    return f"""`{TRAIN}` has `prompt` and `completion`, so that the loss is on the target alone; `{MESSAGES}` has the
same as `messages`, for trainers that mask by themselves (TRL's collator for pictures takes the loss on the prompt too).
Run it in this folder, where the paths of the pictures start. Without `train_sampling_strategy` (transformers 5) the
stages are mixed.

```python
from datasets import Image, List, load_dataset
from trl import SFTConfig, SFTTrainer

data = load_dataset("json", data_files="{TRAIN}", split="train").cast_column("images", List(Image()))
settings = SFTConfig(
    output_dir="{course.trained}",
    train_sampling_strategy="sequential",
    num_train_epochs=1,
    per_device_train_batch_size=1,
    gradient_accumulation_steps=4,
    learning_rate=2e-5,
    warmup_steps=0.05,
    bf16=True,
    max_length={longest(course)},
)
SFTTrainer("{MODEL}", args=settings, train_dataset=data).train()
```

`{STEPWISE}` is for a process reward model (`prompt`, `completions`, `labels`): each question twice, with its right
answer and with a wrong one behind the same steps. Only answers are ever wrong in it: the other steps are the
reference's.
"""


TRL = CurriculumFormat("trl", _write_trl, _trl_usage)


FORMATS: Mapping[str, CurriculumFormat] = {
    one.name: one for one in (OWN, MS_SWIFT, LLAMA_FACTORY, TRL, LLAVA, SHAREGPT)
}
"""By name."""
