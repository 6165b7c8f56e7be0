"""ToyNORB: the same every time, split by toy, complete, cached, and fit to be looked at."""

import numpy as np
import pytest
import torch

from capsedu.data import ImageDataset, load, smallnorb, toynorb, viewpoint_split
from capsedu.errors import CapseduError
from capsedu.render import toys

INSTANCES = {"train": {4, 6, 7, 8}, "validation": {9}, "test": {0, 1, 2, 3, 5}}


def factor(dataset: ImageDataset, name: str) -> torch.Tensor:
    assert dataset.factors is not None
    return dataset.factors[name]


@pytest.fixture(scope="module")
def quick() -> dict[str, ImageDataset]:
    return {split: load("toynorb", split, views=6) for split in INSTANCES}


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A complete set of two views a toy, and a cache of its own."""
    monkeypatch.setattr(toynorb, "VIEWS", torch.tensor([[0, 4, 1], [8, 34, 5]]))
    monkeypatch.setenv("CAPSEDU_CACHE", str(tmp_path))
    return tmp_path / "toynorb"


def test_pictures_are_stereo_pairs_with_smallnorbs_factors(quick):
    for split, dataset in quick.items():
        assert dataset.images.shape == (5 * len(INSTANCES[split]) * 6, 2, 48, 48)
        assert dataset.images.dtype == torch.uint8
        assert tuple(dataset.factors) == smallnorb.FACTORS
        assert set(factor(dataset, "elevation").tolist()) <= set(range(9))
        assert set(factor(dataset, "azimuth").tolist()) <= set(range(0, 36, 2))
        assert set(factor(dataset, "lighting").tolist()) <= set(range(6))


def test_categories_are_smallnorbs():
    assert tuple(toys.CATEGORIES) == smallnorb.CATEGORIES


def test_splits_are_disjoint_by_instance(quick):
    for split, dataset in quick.items():
        assert set(factor(dataset, "instance").tolist()) == INSTANCES[split]
        assert dataset.labels.bincount().tolist() == [6 * len(INSTANCES[split])] * 5
    contents = [{image.numpy().tobytes() for image in dataset.images} for dataset in quick.values()]
    assert not contents[0] & contents[2]
    assert not contents[1] & contents[2]


def test_all_five_instances_train_without_validation():
    dataset = load("toynorb", "train", views=1, validation=False)
    assert set(factor(dataset, "instance").tolist()) == {4, 6, 7, 8, 9}
    with pytest.raises(CapseduError, match="validation=False leaves toynorb without a validation part"):
        load("toynorb", "validation", views=1, validation=False)


@pytest.mark.parametrize("part", ["train", "test"])
def test_the_whole_has_every_view_of_every_toy_once(part):
    labels, info = toynorb.table(smallnorb.INSTANCES[part])
    assert len(labels) == smallnorb.PAIRS
    everything = torch.cat([labels[:, None], info], dim=1)
    assert len(everything.unique(dim=0)) == smallnorb.PAIRS
    counts = [5, 5, 9, 18, 6]
    for column, count in enumerate(counts):
        found = everything[:, column].unique(return_counts=True)[1]
        assert found.tolist() == [smallnorb.PAIRS // count] * count
    assert info[:, 2].unique().tolist() == list(range(0, 36, 2))


def test_pictures_depend_on_the_toy_seed_alone(quick):
    torch.manual_seed(1)
    again = load("toynorb", "validation", views=6)
    assert again.checksum == quick["validation"].checksum
    assert torch.equal(factor(again, "azimuth"), factor(quick["validation"], "azimuth"))
    other = load("toynorb", "validation", views=6, toy_seed=1)
    assert other.checksum != again.checksum
    assert other.source != again.source


def test_views_of_a_toy_are_distinct(quick):
    assert quick["train"].factors is not None
    rows = torch.stack([quick["train"].labels, *quick["train"].factors.values()], dim=1)
    assert len(rows.unique(dim=0)) == len(rows)


def test_background_is_plain_and_its_brightness_tells_the_lighting(quick):
    for dataset in quick.values():
        frame = dataset.images.clone()
        frame[:, :, 2:-2, 2:-2] = frame[:, :, :1, :1]
        assert (frame.amax(dim=(1, 2, 3)) - frame.amin(dim=(1, 2, 3))).max() <= 1
        backgrounds = torch.tensor([light.background for light in toynorb.LIGHTINGS]) * 255
        expected = backgrounds[factor(dataset, "lighting")]
        assert (frame[:, 0, 0, 0] - expected).abs().max() <= 1.5


def test_toys_stand_out_fill_the_picture_and_are_not_burnt_out(quick):
    for dataset in quick.values():
        background = dataset.images[:, :, :1, :1].float()
        toy = (dataset.images - background).abs() > 12
        shares = toy.float().mean(dim=(1, 2, 3))
        assert shares.min() > 0.04
        assert shares.max() < 0.5
        assert (dataset.images == 255).float().mean() < 0.001
        assert 100 < dataset.images.float().mean() < 220
    # Most of it is in the middle 32 x 32, which a network sees.
    assert toy[..., 8:40, 8:40].sum() > 0.95 * toy.sum()


def test_eyes_see_different_pictures_and_the_top_of_a_standing_toy_is_farther_right_for_the_left_eye():
    """Seen from 70°, a head is nearer than the feet, which are nearer to the origin's depth."""
    toy = toynorb.make_toy("human", 0)
    pair = toynorb.look(toy, torch.tensor([70.0]), torch.tensor([0.0]))[0, 3].float()
    away = (pair - pair[:, :1, :1]).abs()
    columns = torch.arange(48.0)
    rows = away.sum(dim=(0, 2)).nonzero()[:, 0]
    top = away[:, rows[0] : rows[0] + 6].sum(dim=1)  # the head is at the top of the picture
    left, right = (top @ columns / top.sum(dim=1)).tolist()
    assert left - right > 1


def test_azimuth_turns_the_toy_counter_clockwise_seen_from_above():
    toy = toynorb.make_toy("airplane", 0)  # its fin, at the back, makes the top of the picture at azimuth 0
    straight, quarter, half = (
        toynorb.trace(toy.moved(toynorb.rotate("z", angle)), toynorb.Camera(elevation=90.0)).shares[0, 0]
        for angle in (0.0, 90.0, 180.0)
    )  # the body
    assert straight.sum(dim=1).gt(0.5).sum() > 2 * straight.sum(dim=0).gt(0.5).sum()  # from top to bottom
    torch.testing.assert_close(quarter, straight.rot90(1), atol=0.02, rtol=0)
    torch.testing.assert_close(half, straight.rot90(2), atol=0.02, rtol=0)


def test_the_whole_is_cached_once_and_read_back(small, monkeypatch):
    first = load("toynorb", "test")
    assert [path.name for path in small.iterdir()] == ["test-version1-seed0.npz"]
    monkeypatch.setattr(toynorb, "make_images", None)  # not called again
    second = load("toynorb", "test")
    assert len(first) == 5 * 5 * 2
    assert first.checksum == second.checksum
    for name, values in first.factors.items():
        assert torch.equal(values, factor(second, name))


def test_train_and_validation_share_a_file(small):
    train, validation = load("toynorb", "train"), load("toynorb", "validation")
    assert (len(train), len(validation)) == (5 * 4 * 2, 5 * 2)
    assert len(list(small.iterdir())) == 1
    load("toynorb", "train", toy_seed=1)
    assert len(list(small.iterdir())) == 2


def test_a_quick_set_is_a_part_of_the_whole_and_writes_nothing(small):
    quick = load("toynorb", "test", views=1)
    assert not small.exists()
    whole = load("toynorb", "test")
    keys = [
        [tuple(row) for row in torch.stack([d.labels, *d.factors.values()], dim=1).tolist()]
        for d in (quick, whole)
    ]
    places = [keys[1].index(key) for key in keys[0]]
    assert (quick.images.int() - whole.images[places].int()).abs().max() <= 1


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other"])
def test_a_damaged_file_is_told_and_kept(small, damage):
    load("toynorb", "test")
    (path,) = small.iterdir()
    content = path.read_bytes()
    middle = len(content) // 2
    if damage == "cut":
        path.write_bytes(content[:middle])
    elif damage == "flipped":
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :])
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        with np.load(path) as arrays:
            np.savez_compressed(path, **{**arrays, "category": 1 - arrays["category"]})
    before = path.read_bytes()
    with pytest.raises(CapseduError, match="delete it, and it is made again") as caught:
        load("toynorb", "test")
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def test_nothing_is_left_when_rendering_is_stopped(small, monkeypatch):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(toynorb, "look", stop)
    with pytest.raises(KeyboardInterrupt):
        load("toynorb", "test")
    assert not small.exists() or not list(small.iterdir())


@pytest.mark.parametrize("views", [0, 973])
def test_views_that_are_not_there_are_refused(views):
    with pytest.raises(CapseduError, match=f"from 1 to 972 views, not {views}"):
        load("toynorb", "train", views=views)


def test_viewpoint_split_and_size_keep_the_factors(quick):
    familiar, novel = viewpoint_split(quick["train"], by="azimuth")
    assert len(familiar) + len(novel) == len(quick["train"])
    assert set(factor(familiar, "azimuth").tolist()) <= {30, 32, 34, 0, 2, 4}
    part = load("toynorb", "validation", views=2, size=3)
    assert len(factor(part, "lighting")) == 3
