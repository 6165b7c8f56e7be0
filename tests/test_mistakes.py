"""The mistakes that the field makes: for each, one assertion that our code passes and mistaken code fails.

None of them keeps accuracy on MNIST below 99 %, so a test of accuracy would find none.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsedu import models
from capsedu.data import ImageDataset, load
from capsedu.data import registry as data_registry
from capsedu.layers import PrimaryCaps
from capsedu.losses import margin_loss, reconstruction_loss
from capsedu.models import CapsNet, CapsNetConfig, CapsNetOutput
from capsedu.models import registry as model_registry
from capsedu.ops import RoutingResult, dynamic_routing, predict_and_route, squash
from capsedu.training import Evaluation, Recipe, evaluate, train
from capsedu.training.loop import total_loss
from capsedu.training.prepare import shift
from capsedu.training.run import run_recipe

Route = Callable[..., RoutingResult]

SMALL = CapsNetConfig((1, 9, 9), 4, kernel_size=3, primary_types=2, primary_dim=3, classes=4, class_dim=5)


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def fast_routing(votes: Tensor, iterations: int = 3) -> RoutingResult:
    """`predict_and_route` on given votes: a child that holds its votes, times the identity."""
    _, children, parents, size = votes.shape
    identity = torch.eye(parents * size).view(-1, parents, size).expand(children, -1, -1, -1)
    return predict_and_route(votes.flatten(2), identity, iterations)


def textbook_routing(
    votes: Tensor,
    iterations: int = 3,
    *,
    softmax_dim: int = 2,
    average_over_batch: bool = False,
    extra: int = 0,
) -> RoutingResult:
    """Routing as many write it, with room for their mistakes. As it stands it is right."""
    logits = torch.zeros(votes.shape[:3])
    for _ in range(iterations + extra):
        couplings = logits.softmax(softmax_dim)
        outputs = squash((couplings[..., None] * votes).sum(dim=1))
        agreement = (votes * outputs[:, None]).sum(dim=-1)
        logits = logits + (agreement.mean(dim=0, keepdim=True) if average_over_batch else agreement)
    return RoutingResult(outputs, couplings)


right_routings = pytest.mark.parametrize("route", [dynamic_routing, textbook_routing, fast_routing])


# 1. softmax over children instead of parents


def assert_every_child_hands_out_one_unit(route: Route) -> None:
    couplings = route(random(2, 5, 3, 4)).couplings
    assert torch.allclose(couplings.sum(dim=2), torch.ones(2, 5), atol=1e-6)


@right_routings
def test_1_softmax_runs_over_parents(route):
    assert_every_child_hands_out_one_unit(route)


def test_1_softmax_over_children_is_caught():
    with pytest.raises(AssertionError):
        assert_every_child_hands_out_one_unit(lambda votes: textbook_routing(votes, softmax_dim=1))


# 2. capsules scrambled by a bare view


class ScrambledPrimaryCaps(PrimaryCaps):
    def forward(self, features: Tensor) -> Tensor:
        return squash(self.conv(features).reshape(len(features), -1, self.dim))


def assert_a_capsule_looks_at_one_position(layer_class: type[PrimaryCaps]) -> None:
    layer = layer_class(2, types=3, dim=4, kernel_size=1, stride=1)
    plain = random(1, 2, 5, 5)
    changed = plain.clone()
    changed[:, :, 1, 2] += 1  # one position: the 3 capsules there change, one of each type, and no other
    touched = (layer(plain) != layer(changed)).any(dim=-1)
    assert touched.sum() == 3


def test_2_a_capsule_is_one_position_of_one_type():
    assert_a_capsule_looks_at_one_position(PrimaryCaps)


def test_2_a_bare_view_is_caught():
    with pytest.raises(AssertionError):
        assert_a_capsule_looks_at_one_position(ScrambledPrimaryCaps)


# 3. routing logits averaged over the batch


def assert_an_example_is_routed_alone(route: Route) -> None:
    votes = random(4, 5, 3, 6)
    together = route(votes).couplings
    alone = torch.cat([route(votes[b : b + 1]).couplings for b in range(4)])
    assert torch.allclose(together, alone, atol=1e-6)


@right_routings
def test_3_logits_belong_to_one_example(route):
    assert_an_example_is_routed_alone(route)


def test_3_logits_averaged_over_the_batch_are_caught():
    with pytest.raises(AssertionError):
        assert_an_example_is_routed_alone(lambda votes: textbook_routing(votes, average_over_batch=True))


# 4. margin not squared


def assert_margin_is_squared(loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    too_short, too_long = torch.tensor([[0.5, 0.0]]), torch.tensor([[1.0, 0.4]])
    assert loss(too_short, torch.tensor([0])).item() == pytest.approx((0.9 - 0.5) ** 2)
    assert loss(too_long, torch.tensor([0])).item() == pytest.approx(0.5 * (0.4 - 0.1) ** 2)


def margin_without_square(lengths: Tensor, targets: Tensor) -> Tensor:
    present = F.one_hot(targets, lengths.shape[1])
    losses = present * (0.9 - lengths).relu() + 0.5 * (1 - present) * (lengths - 0.1).relu()
    return losses.sum(dim=1).mean()


def test_4_margin_is_squared():
    assert_margin_is_squared(margin_loss)


def test_4_a_margin_without_square_is_caught():
    with pytest.raises(AssertionError):
        assert_margin_is_squared(margin_without_square)


# 5. 0.0005 × mean instead of sum


def assert_reconstruction_is_a_sum_over_pixels(loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    for batch, side in ((1, 28), (5, 28), (2, 36)):
        black, white = torch.zeros(batch, 1, side, side), torch.ones(batch, 1, side, side)
        assert loss(black, white).item() == pytest.approx(0.0005 * side * side)


def test_5_reconstruction_is_a_sum():
    assert_reconstruction_is_a_sum_over_pixels(reconstruction_loss)


@pytest.mark.parametrize(
    "mistaken",
    [
        lambda picture, images: 0.0005 * F.mse_loss(picture, images),
        lambda picture, images: 0.0005 * F.mse_loss(picture, images, reduction="sum"),  # over the batch, too
    ],
    ids=["mean over pixels", "sum over the batch"],
)
def test_5_another_reduction_is_caught(mistaken):
    with pytest.raises(AssertionError):
        assert_reconstruction_is_a_sum_over_pixels(mistaken)


# 6. squash over the wrong axis or NaN at 0


def assert_every_capsule_is_squashed_alone(squash: Callable[[Tensor], Tensor]) -> None:
    s = random(2, 3, 4)
    lengths = s.norm(dim=-1)
    assert torch.allclose(squash(s).norm(dim=-1), lengths**2 / (1 + lengths**2), atol=1e-6)


def assert_squash_is_finite_at_zero(squash: Callable[[Tensor], Tensor]) -> None:
    s = torch.zeros(2, 3, requires_grad=True)
    v = squash(s)
    (gradient,) = torch.autograd.grad(v.sum(), s)
    assert v.isfinite().all()
    assert gradient.isfinite().all()


def textbook_squash(s: Tensor, dim: int = -1, epsilon: float = 0.0) -> Tensor:
    squared = (s * s).sum(dim=dim, keepdim=True)
    return squared / (1 + squared) * s / (squared.sqrt() + epsilon)


@pytest.mark.parametrize("right", [squash, textbook_squash])
def test_6_squash_runs_over_the_entries_of_a_capsule(right):
    assert_every_capsule_is_squashed_alone(right)


def test_6_squash_over_the_wrong_axis_is_caught():
    with pytest.raises(AssertionError):
        assert_every_capsule_is_squashed_alone(lambda s: textbook_squash(s, dim=1))


def test_6_squash_is_finite_at_zero():
    assert_squash_is_finite_at_zero(squash)


@pytest.mark.parametrize("epsilon", [0.0, 1e-8])  # the second is finite at 0, but its gradient is not
def test_6_nan_at_zero_is_caught(epsilon):
    with pytest.raises(AssertionError):
        assert_squash_is_finite_at_zero(lambda s: textbook_squash(s, epsilon=epsilon))


# 7. masking by the prediction in training


class MaskedByPrediction(CapsNet):
    def forward(self, images: Tensor, labels: Tensor | None = None, **options: bool) -> CapsNetOutput:
        return super().forward(images, None, **options)


def labelled_images(size: int = 16) -> ImageDataset:
    """Images that tell their label: every pixel is the label."""
    labels = torch.arange(size) % SMALL.classes
    images = labels.to(torch.uint8)[:, None, None, None].expand(size, *SMALL.image_shape).clone()
    return ImageDataset("mnist", "train", images, labels, "a test")


TINY = Recipe("tiny", "probe", "mnist", augmentation="none", batch_size=8, epochs=1)


def train_without_labels(recipe: Recipe, dataset: ImageDataset) -> None:
    images, labels = dataset.batch(slice(0, recipe.batch_size))
    output = models.create(recipe.model)(images)
    total_loss(recipe, output, images, labels).backward()


def train_all(recipe: Recipe, dataset: ImageDataset) -> None:
    for _ in train(recipe, dataset=dataset):
        pass


def assert_training_tells_the_model_the_labels(
    train: Callable[[Recipe, ImageDataset], None], patch: pytest.MonkeyPatch
) -> None:
    seen = []

    class Probe(CapsNet):
        def forward(self, images: Tensor, labels: Tensor | None = None) -> CapsNetOutput:
            seen.append((images, labels))
            return super().forward(images, labels)

    patch.setitem(model_registry._builders, "probe", lambda: Probe(SMALL))
    train(TINY, labelled_images())
    assert seen
    for images, labels in seen:
        assert labels is not None
        assert torch.equal((255 * images[:, 0, 0, 0]).round().long(), labels)


def assert_the_label_is_redrawn(model: CapsNet) -> None:
    images, labels = labelled_images().batch(slice(0, 4))  # four images, four different labels
    output = model(images, labels)
    (gradient,) = torch.autograd.grad(output.reconstruction.sum(), output.capsules)
    assert gradient.abs().sum(dim=-1).argmax(dim=-1).equal(labels)


def test_7_the_training_loop_tells_the_model_the_labels(monkeypatch):
    assert_training_tells_the_model_the_labels(train_all, monkeypatch)


def test_7_a_loop_that_does_not_is_caught(monkeypatch):
    with pytest.raises(AssertionError):
        assert_training_tells_the_model_the_labels(train_without_labels, monkeypatch)


def test_7_the_model_redraws_the_label():
    assert_the_label_is_redrawn(CapsNet(SMALL))


def test_7_a_model_that_redraws_its_prediction_is_caught():
    with pytest.raises(AssertionError):
        assert_the_label_is_redrawn(MaskedByPrediction(SMALL))


# 10. model chosen on the test set


def assert_parts_share_no_image(load_part: Callable[[str], ImageDataset]) -> None:
    train, validation, test = (
        {image.numpy().tobytes() for image in load_part(split).images}
        for split in ("train", "validation", "test")
    )
    assert not validation & test
    assert not train & test
    assert not train & validation


def assert_training_reads_no_test_data(train: Callable[[Recipe], None], patch: pytest.MonkeyPatch) -> None:
    read = []
    plain = data_registry._loaders["mnist"]
    patch.setitem(
        data_registry._loaders,
        "mnist",
        lambda split, **options: read.append(split) or plain(split, **options),
    )
    options = {"image_shape": (1, 28, 28), "channels": 2, "primary_types": 1, "decoder": (4,)}
    train(replace(TINY, model="capsnet-mnist", train_size=16, model_options=options))
    assert "train" in read
    assert "test" not in read


def embedded(split: str) -> ImageDataset:
    return load("mnist", split, source="embedded")


def choose_on_test(recipe: Recipe) -> None:
    for metrics in train(recipe):
        evaluate(metrics.model, load(recipe.data, "test", size=10))


def test_10_validation_and_training_parts_are_not_test_data():
    assert_parts_share_no_image(embedded)


@pytest.mark.parametrize("leaking", ["validation", "train"])
def test_10_a_part_that_is_test_data_is_caught(leaking):
    with pytest.raises(AssertionError):
        assert_parts_share_no_image(lambda split: embedded("test" if split == leaking else split))


def test_10_training_reads_no_test_data(monkeypatch):
    assert_training_reads_no_test_data(lambda recipe: list(train(recipe)), monkeypatch)


def test_10_a_whole_run_reads_no_test_data(monkeypatch, tmp_path: Path):
    assert_training_reads_no_test_data(lambda recipe: run_recipe(recipe, tmp_path), monkeypatch)


def test_10_a_model_chosen_on_test_data_is_caught(monkeypatch):
    with pytest.raises(AssertionError):
        assert_training_reads_no_test_data(choose_on_test, monkeypatch)


# 11. one routing iteration too many


def assert_one_iteration_does_not_route(route: Route) -> None:
    votes = random(2, 5, 4, 3)
    result = route(votes, 1)
    assert torch.allclose(result.couplings, torch.full((2, 5, 4), 1 / 4))
    assert torch.allclose(result.outputs, squash(votes.sum(dim=1) / 4), atol=1e-6)


def assert_two_iterations_update_the_logits_once(route: Route) -> None:
    votes = random(2, 5, 4, 3)
    first = squash(votes.sum(dim=1) / 4)
    expected = (votes * first[:, None]).sum(dim=-1).softmax(dim=2)
    assert torch.allclose(route(votes, 2).couplings, expected, atol=1e-6)


@right_routings
def test_11_r_iterations_update_the_logits_r_minus_1_times(route):
    assert_one_iteration_does_not_route(route)
    assert_two_iterations_update_the_logits_once(route)


@pytest.mark.parametrize(
    "assertion", [assert_one_iteration_does_not_route, assert_two_iterations_update_the_logits_once]
)
def test_11_one_iteration_too_many_is_caught(assertion):
    with pytest.raises(AssertionError):
        assertion(lambda votes, iterations: textbook_routing(votes, iterations, extra=1))


def test_11_a_capsnet_of_one_iteration_does_not_route():
    couplings = CapsNet(replace(SMALL, iterations=1))(torch.rand(2, *SMALL.image_shape)).routing.couplings
    assert torch.allclose(couplings, torch.full_like(couplings, 1 / SMALL.classes))


# 12. test-time augmentation left on


class Watcher(nn.Module):
    """Remembers what it is shown, and whether it was training then."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(()))
        self.shown: list[Tensor] = []
        self.was_training: list[bool] = []

    def forward(self, images: Tensor) -> models.CNNOutput:
        self.shown.append(images)
        self.was_training.append(self.training)
        return models.CNNOutput(images.flatten(1)[:, :10])


def evaluate_shifted(model: nn.Module, dataset: ImageDataset) -> Evaluation:
    images, labels = dataset.batch(slice(None))
    moved = shift(images, torch.Generator().manual_seed(0))
    return Evaluation(model.eval()(moved).scores.argmax(dim=-1), labels)


def evaluate_in_training_mode(model: nn.Module, dataset: ImageDataset) -> Evaluation:
    images, labels = dataset.batch(slice(None))
    return Evaluation(model(images).scores.argmax(dim=-1), labels)


def assert_evaluation_shows_images_as_they_are(
    evaluate: Callable[[nn.Module, ImageDataset], Evaluation],
) -> None:
    model, dataset = Watcher().train(), embedded("test").take(20)
    evaluate(model, dataset)
    assert torch.equal(torch.cat(model.shown), dataset.batch(slice(None))[0])
    assert not any(model.was_training)


def test_12_evaluation_shows_images_as_they_are():
    assert_evaluation_shows_images_as_they_are(evaluate)
    assert_evaluation_shows_images_as_they_are(lambda *parts: evaluate(*parts, batch_size=7))


@pytest.mark.parametrize("mistaken", [evaluate_shifted, evaluate_in_training_mode])
def test_12_augmentation_in_evaluation_is_caught(mistaken):
    with pytest.raises(AssertionError):
        assert_evaluation_shows_images_as_they_are(mistaken)


# 13. a softmax on top of capsule lengths


class SoftmaxOnLengths(CapsNet):
    def forward(self, images: Tensor, labels: Tensor | None = None, **options: bool) -> CapsNetOutput:
        output = super().forward(images, labels, **options)
        return replace(output, lengths=output.lengths.softmax(dim=-1))


def assert_scores_are_lengths(model: CapsNet) -> None:
    output = model(torch.rand(3, *SMALL.image_shape))
    assert torch.allclose(output.scores, output.capsules.norm(dim=-1))


def assert_a_perfect_answer_costs_nothing(loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    assert loss(torch.tensor([[0.95, 0.05, 0.05, 0.05]]), torch.tensor([0])).item() == 0


def loss_of_the_loop(lengths: Tensor, labels: Tensor) -> Tensor:
    routing = RoutingResult(torch.zeros(1, 4, 5), torch.zeros(1, 6, 4))
    return total_loss(TINY, CapsNetOutput(routing.outputs, lengths, None, routing), torch.zeros(1), labels)


def test_13_scores_are_lengths():
    assert_scores_are_lengths(CapsNet(SMALL))


def test_13_scores_after_a_softmax_are_caught():
    with pytest.raises(AssertionError):
        assert_scores_are_lengths(SoftmaxOnLengths(SMALL))


@pytest.mark.parametrize("loss", [margin_loss, loss_of_the_loop])
def test_13_the_loss_takes_lengths_as_they_are(loss):
    assert_a_perfect_answer_costs_nothing(loss)


def test_13_a_softmax_before_the_loss_is_caught():
    with pytest.raises(AssertionError):
        assert_a_perfect_answer_costs_nothing(
            lambda lengths, labels: margin_loss(lengths.softmax(dim=-1), labels)
        )
