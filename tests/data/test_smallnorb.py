"""smallNORB: both forms, where they come from, that no part leaks into another, and what is refused."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from capsedu.data import ImageDataset, load, names, smallnorb, viewpoint_split
from capsedu.data.registry import SPLITS
from capsedu.errors import CapseduError
from tests.data.fake_mnist import serving
from tests.data.fake_smallnorb import INSTANCES, NAMES, FakePart, fake_part

Fake = dict[str, FakePart]
FORMS = ["gz", "mat", "npz"]
FACTORS = ["instance", "elevation", "azimuth", "lighting"]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Fake:
    """50 pairs a part: every toy twice. No download, nothing in the cache."""
    parts = {part: fake_part(part) for part in ("train", "test")}
    monkeypatch.setattr(smallnorb, "PAIRS", 50)
    monkeypatch.setattr(smallnorb, "FILES", {name: part.remote_files() for name, part in parts.items()})
    return parts


@pytest.fixture
def folder(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that CAPSEDU_DATA names."""
    named = tmp_path / "my toys"
    named.mkdir()
    monkeypatch.setenv("CAPSEDU_DATA", str(named))
    return named


def write(fake: Fake, folder: Path, form: str) -> None:
    for part in fake.values():
        if form == "npz":
            part.write_npz(folder)
        else:
            part.write(folder, packed=form == "gz")


def toys(dataset: ImageDataset) -> set[tuple[int, int]]:
    return set(zip(dataset.labels.tolist(), dataset.factors["instance"].tolist(), strict=True))


def assert_refused(words: str, split: str = "test", **options: object) -> None:
    with pytest.raises(CapseduError, match=words) as caught:
        load("smallnorb", split, **options)
    assert "\n" not in str(caught.value)


# What is in it


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_images_and_labels(fake, folder, form):
    write(fake, folder, form)
    for split, part in fake.items():
        found = load("smallnorb", split, validation=False)
        assert (found.name, found.split) == ("smallnorb", split)
        assert found.images.dtype == torch.uint8
        assert torch.equal(found.images, torch.from_numpy(part.halved()))
        assert found.labels.dtype == torch.int64
        assert torch.equal(found.labels, part.category.long())


@pytest.mark.parametrize("form", FORMS)
def test_test_part_has_all_factors(fake, folder, form):
    write(fake, folder, form)
    factors = load("smallnorb", "test").factors
    assert list(factors) == FACTORS
    assert torch.equal(torch.stack(list(factors.values()), dim=1), fake["test"].info.long())


@pytest.mark.parametrize("form", ["gz", "mat"])
def test_original_training_files_have_all_factors(fake, folder, form):
    write(fake, folder, form)
    factors = load("smallnorb", "train", validation=False).factors
    assert torch.equal(torch.stack(list(factors.values()), dim=1), fake["train"].info.long())


def test_npz_training_file_has_relative_azimuths(fake, folder):
    write(fake, folder, "npz")
    train = load("smallnorb", "train", validation=False)
    assert list(train.factors) == [*FACTORS, "azimuth_relative"]
    assert train.factors["azimuth"].eq(-1).all()
    assert torch.equal(train.factors["azimuth_relative"], fake["train"].info[:, 2].long())
    with pytest.raises(CapseduError, match="azimuth of the images of smallnorb train is not known"):
        viewpoint_split(train, "azimuth")
    assert sum(map(len, viewpoint_split(train, "elevation"))) == 50


@pytest.mark.parametrize("form", FORMS)
def test_parts_share_no_toy(fake, folder, form):
    write(fake, folder, form)
    train, validation, test = (toys(load("smallnorb", split)) for split in SPLITS)
    assert train == {(category, instance) for category in range(5) for instance in (4, 6, 7, 8)}
    assert validation == {(category, 9) for category in range(5)}
    assert test == {(category, instance) for category in range(5) for instance in INSTANCES["test"]}


def test_validation_comes_out_of_the_training_file(fake, folder):
    fake["train"].write(folder)
    whole = load("smallnorb", "train", validation=False)
    parts = [load("smallnorb", split) for split in ("train", "validation")]
    assert toys(whole) == toys(parts[0]) | toys(parts[1])
    assert len(whole) == len(parts[0]) + len(parts[1]) == 50
    for part in parts:
        places = [(whole.images == image).flatten(1).all(dim=1).nonzero().item() for image in part.images]
        assert torch.equal(part.labels, whole.labels[places])
        assert torch.equal(part.factors["lighting"], whole.factors["lighting"][places])


def test_no_validation_part_where_none_is_held_out(fake, folder):
    write(fake, folder, "npz")
    assert_refused("without a validation part", "validation", validation=False)


def test_halving_rounds_the_mean_of_four():
    images = torch.randint(0, 256, (1001, 2, 4, 6), dtype=torch.uint8)
    found = smallnorb.halve(images)
    means = images.double().view(1001, 2, 2, 2, 3, 2).mean(dim=(3, 5))
    assert found.shape == (1001, 2, 2, 3)
    assert torch.equal(found, (means + 0.5).floor().to(torch.uint8))
    assert smallnorb.halve(torch.full((1, 1, 2, 2), 255, dtype=torch.uint8)) == 255


# Where it comes from


@pytest.mark.parametrize(
    ("form", "what"),
    [
        ("gz", "the three smallNORB files for testing"),
        ("mat", "the three smallNORB files for testing"),
        ("npz", "smallnorb48_test.npz"),
    ],
)
def test_folder_then_cache_and_the_source_says_so(fake, folder, cache, form, what):
    write(fake, cache / "smallnorb", form)
    assert load("smallnorb", "test").source == f"{what} in the cache"
    write(fake, folder, form)
    assert load("smallnorb", "test").source == f"{what} in my toys, the folder that CAPSEDU_DATA names"
    assert load("smallnorb", "test", source="cache").source == f"{what} in the cache"


def test_original_files_go_before_the_npz_form(fake, folder):
    write(fake, folder, "npz")
    write(fake, folder, "mat")
    assert load("smallnorb", "train").factors["azimuth"].min() == 0


def test_packed_and_unpacked_files_can_be_mixed(fake, folder):
    write(fake, folder, "mat")
    packed = NAMES["test"].format("dat") + ".gz"
    (folder / packed.removesuffix(".gz")).unlink()
    (folder / packed).write_bytes(fake["test"].contents[packed])
    assert torch.equal(load("smallnorb", "test").labels, fake["test"].category.long())


def test_one_part_alone_can_be_loaded(fake, folder):
    fake["test"].write(folder)
    assert len(load("smallnorb", "test")) == 50
    assert_refused("smallNORB is not on this machine", "train")


def test_without_it_the_error_says_how_to_get_it_and_what_needs_no_download(fake, cache):
    assert_refused("smallNORB is not on this machine: name the folder with its files from https://cs.nyu.edu")
    assert_refused('CAPSEDU_DATA, or take "toynorb", which needs no download')
    assert_refused("smallNORB is not in the folder", source="folder")
    assert_refused("smallNORB is not in the cache", source="cache")
    assert not cache.exists()


def test_is_known():
    assert "smallnorb" in names()


# Downloads


@pytest.fixture
def _online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAPSEDU_OFFLINE")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.mark.usefixtures("_online")
def test_download_takes_the_first_right_mirror_and_only_the_part_asked_for(fake, cache, monkeypatch):
    right = {**fake["train"].contents, **fake["test"].contents}
    with serving({"wrong": dict.fromkeys(right, b"<html>"), "right": right}) as (address, asked):
        files = {
            name: part.remote_files(f"{address}wrong/", f"{address}right/") for name, part in fake.items()
        }
        monkeypatch.setattr(smallnorb, "FILES", files)
        found = load("smallnorb", "test")
        assert found.source == "the three smallNORB files for testing, downloaded to the cache"
        assert torch.equal(found.labels, fake["test"].category.long())
        assert {path.rpartition("/")[2] for path in asked} == set(fake["test"].contents)
        asked.clear()
        assert load("smallnorb", "test").source == "the three smallNORB files for testing in the cache"
        assert asked == []
        assert smallnorb.fetch_smallnorb() == cache / "smallnorb"
        assert {path.name for path in (cache / "smallnorb").iterdir()} == set(right)


@pytest.mark.usefixtures("_online")
@pytest.mark.parametrize("source", [None, "download"])
def test_failed_download_is_told_and_leaves_nothing(fake, cache, monkeypatch, source):
    with serving({"wrong": dict.fromkeys(fake["test"].contents, b"<html>")}) as (address, _):
        monkeypatch.setattr(smallnorb, "FILES", {"test": fake["test"].remote_files(f"{address}wrong/")})
        assert_refused(r"sent a damaged file.*or take \"toynorb\"", source=source)
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_the_real_table_has_six_files_several_mirrors_and_checksums():
    for part, files in smallnorb.FILES.items():
        assert [file.name for file in files] == [
            NAMES[part].format(kind) + ".gz" for kind in ("dat", "cat", "info")
        ]
        for file in files:
            assert len(set(file.mirrors)) >= 2
            assert all(mirror.endswith("/") for mirror in file.mirrors)
            assert len(bytes.fromhex(file.sha256)) == 32
    assert len({file.sha256 for files in smallnorb.FILES.values() for file in files}) == 6


# What is refused


def test_wrong_checksum_of_a_packed_file_is_told(fake, folder):
    write(fake, folder, "gz")
    path = folder / (NAMES["test"].format("dat") + ".gz")
    path.write_bytes(path.read_bytes() + b"!")
    assert_refused("dat.mat.gz is damaged")


def test_an_unpacked_file_of_another_shape_is_told(fake, folder, monkeypatch):
    write(fake, folder, "mat")
    monkeypatch.setattr(smallnorb, "PAIRS", 51)
    assert_refused(r"cat\.mat is not the binary matrix that it should be: its sizes are \(50,\), not \(51,\)")


def test_an_npz_file_of_another_shape_is_told(fake, folder, monkeypatch):
    write(fake, folder, "npz")
    monkeypatch.setattr(smallnorb, "PAIRS", 51)
    assert_refused(r"smallnorb48_test\.npz .* category is \(50,\) int8, not \(51,\) integer")


@pytest.mark.parametrize("kind", ["dat", "cat", "info"])
def test_lying_dimensions_are_told(fake, folder, kind):
    write(fake, folder, "mat")
    path = folder / NAMES["test"].format(kind)
    content = bytearray(path.read_bytes())
    content[8:12] = struct.pack("<I", 2**31)
    path.write_bytes(content)
    assert_refused(f"{kind}.mat is not the binary matrix")


def test_the_training_file_under_the_test_files_name_is_told(fake, folder):
    path = fake["train"].write_npz(folder)
    path.rename(folder / "smallnorb48_test.npz")
    assert_refused("smallnorb48_test.npz has instance 4, which smallNORB's test part has not")


@pytest.mark.parametrize(
    ("column", "name", "value"),
    [(1, "elevation", 9), (2, "azimuth", 5), (2, "azimuth", 36), (3, "lighting", -1)],
)
def test_a_factor_out_of_range_is_told(fake, folder, column, name, value):
    arrays = fake["test"].arrays()
    arrays["info"][7, column] = value
    np.savez(folder / "smallnorb48_test.npz", **arrays)
    assert_refused(f"has {name} {value}, which smallNORB's test part has not")


def test_a_category_out_of_range_is_told(fake, folder):
    arrays = fake["test"].arrays()
    arrays["category"][0] = 5
    np.savez(folder / "smallnorb48_test.npz", **arrays)
    assert_refused("has category 5")


def test_unknown_azimuths_without_relative_ones_are_told(fake, folder):
    arrays = fake["train"].arrays()
    del arrays["azimuth_rel"]
    np.savez(folder / "smallnorb48_train.npz", **arrays)
    assert_refused("azimuth_rel.npy", "train")


def test_pickled_objects_are_never_unpacked(fake, folder):
    arrays = fake["test"].arrays()
    np.savez(folder / "smallnorb48_test.npz", **{**arrays, "category": arrays["category"].astype(object)})
    assert_refused("category is .* object")


def test_gzip_is_never_taken_for_the_unpacked_file(fake, folder):
    write(fake, folder, "mat")
    path = folder / NAMES["test"].format("cat")
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert_refused("it begins with 0x")


# The real thing


@pytest.mark.slow
def test_real_smallnorb_has_every_view_of_every_toy_once(real_smallnorb):
    test = load("smallnorb", "test")
    assert test.images.shape == (24_300, 2, 48, 48)
    keys = torch.stack([test.labels, *test.factors.values()], dim=1)
    assert len(keys.unique(dim=0)) == 24_300
    sizes = {split: len(load("smallnorb", split)) for split in SPLITS}
    assert sizes == {"train": 19_440, "validation": 4_860, "test": 24_300}
