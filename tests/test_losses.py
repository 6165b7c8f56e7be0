"""Margin and reconstruction loss, in the paper's and the released code's scaling; spread loss."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from capsedu.losses import margin_loss, multi_hot, reconstruction_loss, spread_loss, spread_margin
from tests import references

scalings = pytest.mark.parametrize("scaling", ["paper", "released"])
TARGETS = torch.tensor([1, 0, 4, 4, 2, 3])


def lengths() -> torch.Tensor:
    return torch.rand(6, 5, generator=torch.Generator().manual_seed(0))


def one_hot() -> torch.Tensor:
    return torch.nn.functional.one_hot(TARGETS, 5)


@scalings
def test_margin_agrees_with_the_loops_in_value_and_gradient(scaling):
    inputs = lengths().requires_grad_()
    ours = margin_loss(inputs, TARGETS, scaling=scaling)
    expected = references.margin_loss(inputs, one_hot(), scaling)
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=0)
    gradients = (torch.autograd.grad(loss, inputs)[0] for loss in (ours, expected))
    torch.testing.assert_close(*gradients, atol=1e-5, rtol=0)


def test_margin_of_a_known_case():
    # class 0 is there: (0.9 - 0.5)^2; class 1 is not: 0.5 (0.4 - 0.1)^2; class 2 is not, and short enough: 0
    loss = margin_loss(torch.tensor([[0.5, 0.4, 0.05]]), torch.tensor([0]))
    torch.testing.assert_close(loss, torch.tensor(0.16 + 0.045))


def test_margin_is_zero_between_the_margins():
    assert margin_loss(torch.tensor([[0.95, 0.1], [0.0, 0.9]]), torch.tensor([0, 1])) == 0


def test_margins_and_weight_can_be_chosen():
    loss = margin_loss(
        torch.tensor([[0.5, 0.4]]), torch.tensor([0]), present=0.7, absent=0.3, absent_weight=2.0
    )
    torch.testing.assert_close(loss, torch.tensor(0.2**2 + 2.0 * 0.1**2))


def test_released_scaling_halves_and_averages_over_the_classes():
    paper, released = (margin_loss(lengths(), TARGETS, scaling=s) for s in ("paper", "released"))
    torch.testing.assert_close(released, paper / (2 * 5))


def test_released_scaling_makes_reconstruction_20_times_heavier_with_10_classes():
    scores, picture = torch.full((1, 10), 0.5), torch.ones(1, 1, 28, 28)
    share = {
        scaling: reconstruction_loss(picture, 0 * picture, scaling=scaling)
        / margin_loss(scores, torch.tensor([3]), scaling=scaling)
        for scaling in ("paper", "released")
    }
    torch.testing.assert_close(share["released"], 20 * share["paper"])


@scalings
def test_margin_takes_class_numbers_or_a_matrix(scaling):
    matrices = [one_hot(), one_hot().float(), one_hot().bool()]
    expected = margin_loss(lengths(), TARGETS, scaling=scaling)
    assert all(margin_loss(lengths(), matrix, scaling=scaling) == expected for matrix in matrices)


def test_margin_with_two_classes_present_agrees_with_the_loops():
    both = one_hot().roll(1, dims=1) + one_hot()
    expected = references.margin_loss(lengths(), both)
    torch.testing.assert_close(margin_loss(lengths(), both), expected, atol=1e-5, rtol=0)


@given(st.integers(0, 2**32), st.permutations(range(6)))
def test_margin_is_the_mean_over_examples(seed, order):
    scores = torch.rand(6, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    alone = [margin_loss(scores[[b]], TARGETS[[b]]) for b in range(6)]
    loss = margin_loss(scores[order], TARGETS[order])
    torch.testing.assert_close(loss, torch.stack(alone).mean())


@scalings
def test_reconstruction_agrees_with_the_loops(scaling):
    pictures = torch.rand(2, 3, 2, 4, 5, generator=torch.Generator().manual_seed(0))
    ours = reconstruction_loss(*pictures, scaling=scaling)
    torch.testing.assert_close(ours, references.reconstruction_loss(*pictures), atol=1e-5, rtol=0)


def test_reconstruction_is_0_392_times_the_mean_squared_error_on_28_by_28():
    pictures = torch.rand(2, 4, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    expected = 0.392 * torch.nn.functional.mse_loss(*pictures)
    torch.testing.assert_close(reconstruction_loss(*pictures), expected)


def test_reconstruction_weight_can_be_chosen():
    pictures = torch.zeros(1, 1, 2, 2), torch.ones(1, 1, 2, 2)
    torch.testing.assert_close(reconstruction_loss(*pictures, weight=0.25), torch.tensor(1.0))


def test_losses_pass_gradcheck():
    scores = lengths().double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: margin_loss(x, TARGETS), scores)
    picture = torch.rand(2, 1, 3, 3, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: reconstruction_loss(x, torch.ones_like(x)), picture)


def test_multi_hot_marks_the_classes():
    assert torch.equal(multi_hot(TARGETS, lengths()), one_hot().float())


@pytest.mark.parametrize(
    "targets", [torch.zeros(5).long(), torch.zeros(6, 4).long(), torch.zeros(6, 1).long()]
)
def test_wrong_shape_of_targets_is_told(targets):
    with pytest.raises(ValueError, match=r"beside scores \(6, 5\)") as caught:
        margin_loss(lengths(), targets)
    assert f"got {tuple(targets.shape)}" in str(caught.value)


def test_wrong_shape_of_lengths_is_told():
    with pytest.raises(ValueError, match=r"got \(6,\)"):
        margin_loss(torch.zeros(6), TARGETS)


def test_reconstruction_of_another_shape_is_told():
    with pytest.raises(ValueError, match=r"shape of images, \(2, 1, 4, 4\), got \(2, 16\)"):
        reconstruction_loss(torch.zeros(2, 16), torch.zeros(2, 1, 4, 4))


def test_unknown_scaling_is_refused():
    with pytest.raises(ValueError, match='"paper" or "released", got \'mean\''):
        margin_loss(lengths(), TARGETS, scaling="mean")
    with pytest.raises(ValueError, match='"paper" or "released", got \'mean\''):
        reconstruction_loss(torch.zeros(1, 1), torch.zeros(1, 1), scaling="mean")


def loop_spread_loss(activations: torch.Tensor, targets: torch.Tensor, margin: float) -> torch.Tensor:
    """L_i = max(0, m - (a_t - a_i))^2, summed over i != t, averaged over the batch."""
    total = torch.zeros((), dtype=activations.dtype)
    for b in range(len(activations)):
        t = int(targets[b])
        for i in range(activations.shape[1]):
            if i != t and margin - (activations[b, t] - activations[b, i]) > 0:
                total = total + (margin - (activations[b, t] - activations[b, i])) ** 2
    return total / len(activations)


@pytest.mark.parametrize("margin", [0.2, 0.55, 0.9])
def test_spread_agrees_with_the_loops_in_value_and_gradient(margin):
    inputs = lengths().requires_grad_()
    ours = spread_loss(inputs, TARGETS, margin=margin)
    expected = loop_spread_loss(inputs, TARGETS, margin)
    assert expected > 0
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=0)
    gradients = (torch.autograd.grad(loss, inputs)[0] for loss in (ours, expected))
    torch.testing.assert_close(*gradients, atol=1e-5, rtol=0)


def test_spread_of_a_known_case():
    # a_t = 0.6: class 0 is 0.5 below, 0.4 too near the margin; class 2 is above: 0.9 + 0.2
    loss = spread_loss(torch.tensor([[0.1, 0.6, 0.8]]), torch.tensor([1]), margin=0.9)
    torch.testing.assert_close(loss, torch.tensor(0.4**2 + 1.1**2))


def test_spread_is_zero_once_every_other_class_is_a_margin_below():
    activations = torch.tensor([[0.95, 0.05, 0.0]]).requires_grad_()
    loss = spread_loss(activations, torch.tensor([0]), margin=0.9 - 1e-6)
    loss.backward()
    assert loss == 0
    assert (activations.grad == 0).all()


def test_spread_sees_only_differences_and_not_the_target_itself():
    torch.testing.assert_close(spread_loss(lengths() - 0.3, TARGETS), spread_loss(lengths(), TARGETS))
    assert spread_loss(torch.ones(4, 1), torch.zeros(4).long()) == 0  # one class: nothing to compare it with


@given(st.integers(0, 2**32), st.permutations(range(6)))
def test_spread_is_the_mean_over_examples(seed, order):
    scores = torch.rand(6, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    alone = [spread_loss(scores[[b]], TARGETS[[b]]) for b in range(6)]
    torch.testing.assert_close(spread_loss(scores[order], TARGETS[order]), torch.stack(alone).mean())


def test_spread_passes_gradcheck_and_keeps_dtype_and_device():
    scores = lengths().double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: spread_loss(x, TARGETS, margin=0.5), scores)
    assert spread_loss(lengths().bfloat16(), TARGETS).dtype == torch.bfloat16
    assert spread_loss(lengths().to("meta"), TARGETS.to("meta")).is_meta


@pytest.mark.parametrize("targets", [torch.zeros(5).long(), torch.zeros(6, 5).long()])
def test_wrong_shapes_for_spread_are_told(targets):
    with pytest.raises(ValueError, match=r"targets must be \(B,\).* beside \(6, 5\)") as caught:
        spread_loss(lengths(), targets)
    assert f"got {tuple(targets.shape)}" in str(caught.value)


def test_the_margin_rises_straight_over_the_first_half_and_stays():
    found = [spread_margin(step, 1000) for step in range(1001)]
    assert found[0] == 0.2
    assert found[250] == pytest.approx(0.55)
    assert found[500:] == pytest.approx([0.9] * 501)
    rises = [later - earlier for earlier, later in pairwise(found[:501])]
    assert rises == pytest.approx([0.7 / 500] * 500)


def test_the_margins_ends_can_be_chosen():
    assert [spread_margin(step, 4, start=0.0, end=1.0) for step in range(5)] == [0, 0.5, 1, 1, 1]
