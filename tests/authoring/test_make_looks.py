"""Which pictures look the same: as the scan says, which compares colours too; by hash where nobody scanned them."""

from __future__ import annotations

import shutil
from pathlib import Path

from PIL import Image, ImageDraw

from make_tools import project_in, rows, write_rows
from sightline.authoring.pictures import PicturesStage
from sightline.authoring.plan_table import PictureTable
from sightline.authoring.project import IMAGES, Project
from sightline.authoring.project_files import look_of
from sightline.config import Config
from sightline.types import Annotation


def circle(path: Path, colour: str, left: int = 100, seconds: int | None = None) -> None:
    picture = Image.new("RGB", (400, 300), "white")
    draw = ImageDraw.Draw(picture)
    draw.ellipse((left, 50, left + 200, 250), fill=colour)
    exif = Image.Exif()
    if seconds is not None:
        exif[0x0132] = f"2024:05:01 10:00:{seconds:02}"
        exif.get_ifd(0x8769)[0x9003] = f"2024:05:01 10:00:{seconds:02}"
    picture.save(path, exif=exif)


def listed(tmp_path: Path) -> Project:
    project = project_in(tmp_path, Config())
    PicturesStage(tmp_path / "pictures").run(project)
    return project


def twins(project: Project, *, scanned: bool = True) -> dict[str, int]:
    """The group of each picture, as planning sees it."""
    found = {row["image_id"]: row for row in rows(project.path(IMAGES))}
    for row in found.values() if not scanned else ():
        row.pop("look_alike", None)
    looks = {id_: look_of(row) for id_, row in found.items()}
    table = PictureTable((Annotation(id_) for id_ in looks), looks=looks)
    return dict(zip(table.ids, table.twins.tolist(), strict=True))


def test_the_same_drawing_in_two_colours_is_two_pictures(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    circle(tmp_path / "pictures" / "red.png", "red")
    circle(tmp_path / "pictures" / "yellow.png", "yellow")
    project = listed(tmp_path)
    assert [row["look_alike"] for row in rows(project.path(IMAGES))] == ["", ""]
    assert twins(project) == {"red.png": -1, "yellow.png": -1}
    unscanned = twins(project, scanned=False)
    assert unscanned["red.png"] == unscanned["yellow.png"] >= 0, "by hash alone they are the same"


def test_a_copy_of_a_frame_belongs_to_its_burst(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    circle(folder / "a.jpg", "red", seconds=1)
    circle(folder / "b.jpg", "red", left=104, seconds=2)
    (folder / "copy.jpg").write_bytes((folder / "a.jpg").read_bytes() + b"saved by another program")
    circle(folder / "z.jpg", "blue", left=180)
    found = {row["image_id"]: row["look_alike"] for row in rows(listed(tmp_path).path(IMAGES))}
    assert found["a.jpg"] == found["b.jpg"] == found["copy.jpg"] != ""
    assert found["z.jpg"] == ""


def test_the_same_content_at_several_places_is_one_picture(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    (folder / "backup").mkdir(parents=True)
    circle(folder / "red.jpg", "red")
    shutil.copy(folder / "red.jpg", folder / "backup" / "one.jpg")
    shutil.copy(folder / "red.jpg", folder / "two.jpg")
    circle(folder / "z.jpg", "blue", left=180)
    project = listed(tmp_path)
    assert {row["image_id"]: row["look_alike"] for row in rows(project.path(IMAGES))} == {
        "backup/one.jpg": "", "z.jpg": "",
    }  # fmt: skip
    assert "2 pictures, 0 look alike, 2 copies left out" in str(PicturesStage(folder).run(project))
    write_rows(project.path(IMAGES), [{"image_id": "two.jpg"}, {"image_id": "backup/one.jpg"}, {"image_id": "z.jpg"}])
    PicturesStage(folder).run(project)
    begun_before = [row["image_id"] for row in rows(project.path(IMAGES))]
    assert begun_before == ["backup/one.jpg", "two.jpg", "z.jpg"], "what labels were paid for stays"
