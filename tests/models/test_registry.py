"""What holds for every registered model."""

import pytest
import torch

from capsedu import models
from capsedu.errors import CapseduError

COUNTS = {
    "capsnet-mnist": 8_215_568,
    "capsnet-mnist-small": 1_280_720,
    "capsnet-multimnist": 11_361_808,
    "cnn-mnist": 35_445_522,
    "cnn-multimnist": 24_563_978,
    "cnn-smallnorb": 4_253_349,
    "matrixcaps": 316_650,
    "matrixcaps-small": 68_618,
}
NARROW = {
    "capsnet": {"channels": 16, "primary_types": 2, "decoder": (8, 8)},
    "cnn": {"convolutions": ((8, 5), (8, 5)), "hidden": (16,)},
    "matrixcaps": {"A": 8, "B": 2, "C": 2, "D": 2},
}
each_model = pytest.mark.parametrize("name", models.names())


def on_meta(name: str, **overrides: object) -> torch.nn.Module:
    """A model without memory for its weights."""
    with torch.device("meta"):
        return models.create(name, **overrides)


def count(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def images_for(model: torch.nn.Module, batch: int = 2, **options: object) -> torch.Tensor:
    return torch.zeros(batch, *model.config.image_shape, **options)


def test_counts_are_known_for_every_model():
    assert models.names() == sorted(COUNTS)


@each_model
def test_parameter_count(name):
    assert count(on_meta(name)) == COUNTS[name]


def test_capsnet_count_as_arithmetic():
    model = on_meta("capsnet-mnist")
    conv = 9 * 9 * 1 * 256 + 256
    primary = 9 * 9 * 256 * (32 * 8) + 32 * 8
    classes = (6 * 6 * 32) * 10 * (8 * 16)
    decoder = (160 * 512 + 512) + (512 * 1024 + 1024) + (1024 * 784 + 784)
    assert conv + primary + classes == 6_804_224
    assert decoder == count(model.decoder) == 1_411_344
    assert conv + primary + classes + decoder == COUNTS["capsnet-mnist"]


def test_multimnist_capsnet_count_as_arithmetic():
    # 36 × 36 loses 8 to the first convolution, then (28 - 9) // 2 + 1 = 10 positions a side are left.
    assert on_meta("capsnet-multimnist").config.primary_grid == (10, 10)
    conv = 9 * 9 * 1 * 256 + 256
    primary = 9 * 9 * 256 * (32 * 8) + 32 * 8
    classes = (10 * 10 * 32) * 10 * (8 * 16)
    decoder = (160 * 512 + 512) + (512 * 1024 + 1024) + (1024 * 36 * 36 + 36 * 36)
    assert conv + primary + classes + decoder == COUNTS["capsnet-multimnist"]


def test_mnist_baseline_count_as_arithmetic():
    convolutions = (25 * 1 * 256 + 256) + (25 * 256 * 256 + 256) + (25 * 256 * 128 + 128)
    linear = (28 * 28 * 128 * 328 + 328) + (328 * 192 + 192) + (192 * 10 + 10)
    assert convolutions + linear == COUNTS["cnn-mnist"]


def test_multimnist_baseline_count_as_arithmetic():
    # Two SAME convolutions, each pooled 2 × 2: 36 -> 18 -> 9 a side.
    convolutions = (81 * 1 * 512 + 512) + (25 * 512 * 256 + 256)
    linear = (9 * 9 * 256 * 1024 + 1024) + (1024 * 10 + 10)
    assert convolutions + linear == COUNTS["cnn-multimnist"]


def test_smallnorb_baseline_count_as_arithmetic():
    # Two SAME convolutions, each pooled 2 × 2: 32 -> 16 -> 8 a side.
    convolutions = (25 * 2 * 32 + 32) + (25 * 32 * 64 + 64)
    linear = (8 * 8 * 64 * 1024 + 1024) + (1024 * 5 + 5)
    assert convolutions + linear == COUNTS["cnn-smallnorb"]


@pytest.mark.parametrize(
    ("name", "A", "B", "C", "D"), [("matrixcaps", 32, 32, 32, 32), ("matrixcaps-small", 64, 8, 16, 16)]
)
def test_matrix_capsule_count_as_arithmetic(name, A, B, C, D):
    conv = 5 * 5 * 2 * A + A
    primary = A * B * (16 + 1)  # poses and activations, no bias
    betas = 2 * (C + D + 5)
    matrices = (9 * B * C + 9 * C * D + D * 5) * 16  # the class matrices are shared by all positions
    assert conv + primary + matrices + betas == COUNTS[name]


@each_model
def test_runs_on_the_meta_device(name):
    model = on_meta(name)
    output = model(images_for(model, device="meta"), torch.zeros(2, dtype=torch.long, device="meta"))
    assert output.scores.device.type == "meta"
    assert output.scores.shape == (2, model.config.classes)
    output.scores.sum().backward()
    assert all(parameter.grad is None or parameter.grad.is_meta for parameter in model.parameters())


@each_model
def test_every_classifier_gives_scores_with_or_without_labels(name):
    model = on_meta(name)
    images = images_for(model, device="meta")
    labels = torch.zeros(2, dtype=torch.long, device="meta")
    assert model(images).scores.shape == model(images, labels).scores.shape == (2, model.config.classes)


@each_model
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_keeps_the_dtype_of_its_weights(name, dtype):
    model = on_meta(name).to(dtype)
    output = model(images_for(model, dtype=dtype, device="meta"))
    tensors = [value for value in vars(output).values() if isinstance(value, torch.Tensor)]
    assert tensors
    assert {tensor.dtype for tensor in tensors} == {dtype}


@each_model
def test_learns_under_bf16_autocast(name):
    torch.manual_seed(0)
    model = models.create(name, **NARROW[name.split("-")[0]])
    images = torch.rand_like(images_for(model))
    with torch.autocast("cpu", torch.bfloat16):
        output = model(images, torch.tensor([3, 4]))
        loss = output.scores.float().square().sum()
        if name.startswith("capsnet"):
            loss = loss + output.reconstruction.float().square().sum()
    loss.backward()
    for parameter in model.parameters():
        assert parameter.grad.dtype == torch.float32
        assert parameter.grad.isfinite().all()
        assert parameter.grad.abs().max() > 0


@each_model
@pytest.mark.parametrize("wrong", [(2, 3, 28, 28), (2, 1, 20, 20), (28, 28), (1, 28, 28)])
def test_wrong_shape_of_images_is_told(name, wrong):
    model = on_meta(name)
    with pytest.raises(ValueError, match=r"images must be \(B, \d, ") as caught:
        model(torch.zeros(wrong, device="meta"))
    assert f"got {wrong}" in str(caught.value)


@each_model
def test_overrides_reach_the_config(name):
    assert on_meta(name, classes=7).config.classes == 7


def test_create_makes_fresh_weights_from_the_global_seed():
    weights = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        weights.append(models.create("capsnet-mnist-small", decoder=None).classes.weight)
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_unknown_name_offers_the_nearest():
    with pytest.raises(CapseduError, match="no model named 'capsnet-minst'; did you mean capsnet-mnist"):
        models.create("capsnet-minst")


def test_a_name_near_to_nothing_gets_all_names():
    with pytest.raises(CapseduError) as caught:
        models.create("zzz")
    assert all(name in str(caught.value) for name in models.names())


def test_unknown_override_is_named():
    with pytest.raises(TypeError, match="colour"):
        models.create("capsnet-mnist", colour="red")
