"""ImageDataset and the table of data sets."""

from dataclasses import replace

import pytest
import torch
from torch.utils.data import DataLoader

from capsedu.data import ImageDataset, load, names
from capsedu.errors import CapseduError


def dataset(size: int = 10) -> ImageDataset:
    images = torch.arange(size * 2 * 4, dtype=torch.uint8).view(size, 1, 2, 4) * 3
    return ImageDataset("toy", "train", images, torch.arange(size) % 3, "a test")


def test_an_item_is_a_float_image_and_its_label():
    image, label = dataset()[4]
    assert image.dtype == torch.float32
    assert torch.equal(image, dataset().images[4] / 255)
    assert label == 1
    assert label.dtype == torch.int64


def test_pixels_lie_between_zero_and_one():
    images, _ = dataset().batch(slice(None))
    assert images.min() == 0
    assert images.max() <= 1
    white = ImageDataset(
        "toy", "train", torch.full((1, 1, 1, 1), 255, dtype=torch.uint8), torch.zeros(1), "a test"
    )
    assert white[0][0].item() == 1


@pytest.mark.parametrize("chosen", [slice(2, 5), torch.tensor([2, 3, 4])], ids=["slice", "indices"])
def test_a_batch_is_its_items(chosen):
    images, labels = dataset().batch(chosen)
    assert torch.equal(images, torch.stack([dataset()[i][0] for i in (2, 3, 4)]))
    assert labels.tolist() == [2, 0, 1]


def test_serves_a_data_loader():
    images, labels = next(iter(DataLoader(dataset(), batch_size=4)))
    assert images.shape == (4, 1, 2, 4)
    assert labels.tolist() == [0, 1, 2, 0]


def test_length_is_the_number_of_items():
    assert len(dataset(7)) == 7


def test_iteration_ends():
    assert [label.item() for _, label in dataset(5)] == [0, 1, 2, 0, 1]


def test_take_keeps_images_with_their_labels():
    taken, whole = dataset().take(6), dataset()
    places = [(whole.images == image).flatten(1).all(dim=1).nonzero().item() for image in taken.images]
    assert len(set(places)) == 6
    assert torch.equal(taken.labels, whole.labels[places])
    assert (taken.name, taken.split, taken.source) == (whole.name, whole.split, whole.source)


def test_take_depends_on_the_seed_alone():
    torch.manual_seed(0)
    first = dataset(30).take(5, seed=3)
    torch.manual_seed(1)
    assert torch.equal(first.images, dataset(30).take(5, seed=3).images)
    assert not torch.equal(first.images, dataset(30).take(5, seed=4).images)


def test_take_of_more_than_there_is_is_refused():
    assert len(dataset().take(10)) == 10
    with pytest.raises(ValueError, match="cannot take 11 of the 10 items of toy train"):
        dataset().take(11)


def test_to_moves_images_and_labels():
    moved = dataset().to("meta")
    assert moved.images.is_meta
    assert moved.labels.is_meta


def with_factors() -> ImageDataset:
    return replace(dataset(), factors={"instance": torch.arange(10), "lighting": torch.arange(10) % 6})


def test_factors_stay_with_their_images():
    taken, whole = with_factors().take(6, seed=2), with_factors()
    assert torch.equal(taken.images, whole.images[taken.factors["instance"]])
    assert torch.equal(taken.factors["lighting"], taken.factors["instance"] % 6)
    assert all(values.is_meta for values in whole.to("meta").factors.values())


def test_a_data_set_without_factors_has_none():
    assert dataset().factors is dataset().take(3).factors is dataset().to("meta").factors is None


@pytest.mark.parametrize("chosen", [torch.arange(10) > 7, torch.tensor([8, 9])], ids=["mask", "indices"])
def test_select_keeps_what_is_chosen(chosen):
    part = with_factors().select(chosen)
    assert torch.equal(part.images, dataset().images[8:])
    assert part.labels.tolist() == [2, 0]
    assert part.factors["lighting"].tolist() == [2, 3]


def test_is_frozen():
    with pytest.raises(AttributeError):
        dataset().labels = torch.zeros(10)


def test_checksum_tells_images_labels_and_order():
    first = dataset()
    assert first.checksum == dataset().checksum
    assert len({first.checksum, first.take(10, seed=1).checksum, first.take(9).checksum}) == 3
    relabelled = ImageDataset("toy", "train", first.images, first.labels + 1, "a test")
    assert relabelled.checksum != first.checksum


def test_mnist_is_known():
    assert "mnist" in names()


def test_unknown_data_set_offers_the_nearest():
    with pytest.raises(CapseduError, match="no data set named 'minst'; did you mean mnist"):
        load("minst")


def test_unknown_split_offers_the_nearest():
    with pytest.raises(CapseduError, match="no split named 'valid'; did you mean validation"):
        load("mnist", "valid")


def test_size_and_seed_choose_a_part():
    parts = [load("mnist", "test", size=20, seed=seed, source="embedded") for seed in (0, 0, 1)]
    assert [len(part) for part in parts] == [20, 20, 20]
    assert torch.equal(parts[0].images, parts[1].images)
    assert not torch.equal(parts[0].images, parts[2].images)
