"""`predict_and_route` gives the numbers of the plain form, value and gradient, however the batch is cut."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from capsedu.ops import RoutingResult, dynamic_routing, predict_and_route, routing_fast
from tests import references

CHILDREN, CHILD_SIZE, PARENTS, SIZE = 6, 3, 4, 5

iteration_counts = pytest.mark.parametrize("iterations", [1, 2, 3, 5])
leaky_or_not = pytest.mark.parametrize("leaky", [False, True], ids=["plain", "leaky"])
gradients = pytest.mark.parametrize("gradient", ["all", "last"])


def inputs(batch: int = 7, seed: int = 0, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    children = torch.randn(batch, CHILDREN, CHILD_SIZE, dtype=dtype, generator=generator)
    weight = torch.randn(CHILDREN, CHILD_SIZE, PARENTS, SIZE, dtype=dtype, generator=generator)
    return children.requires_grad_(), weight.requires_grad_()


def plain(children: Tensor, weight: Tensor, *args: object, **options: object) -> RoutingResult:
    return dynamic_routing(torch.einsum("bic,icjd->bijd", children, weight), *args, **options)


def gradients_of(result: RoutingResult, children: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
    direction = torch.linspace(-1, 1, result.outputs.numel()).to(result.outputs).view_as(result.outputs)
    return torch.autograd.grad(result.outputs, (children, weight), direction)


def cut_into(monkeypatch: pytest.MonkeyPatch, images: int, dtype: torch.dtype = torch.float64) -> None:
    bytes_per_image = CHILDREN * PARENTS * SIZE * dtype.itemsize
    monkeypatch.setitem(routing_fast.SLICE_BYTES, "cpu", images * bytes_per_image)


@iteration_counts
@leaky_or_not
@gradients
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)], ids=str)
def test_equals_the_plain_form(iterations, leaky, gradient, dtype, tolerance):
    children, weight = inputs(dtype=dtype)
    options = {"iterations": iterations, "leaky": leaky, "gradient": gradient}
    fast, slow = (route(children, weight, **options) for route in (predict_and_route, plain))
    torch.testing.assert_close(fast.outputs, slow.outputs, atol=tolerance, rtol=tolerance)
    torch.testing.assert_close(
        fast.couplings, slow.couplings, atol=tolerance, rtol=tolerance, check_stride=False
    )
    for ours, theirs in zip(
        gradients_of(fast, children, weight), gradients_of(slow, children, weight), strict=True
    ):
        torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=tolerance)


@leaky_or_not
@pytest.mark.parametrize("images", [1, 2, 3, 7, 100])
def test_does_not_depend_on_how_the_batch_is_cut(monkeypatch, images, leaky):
    children, weight = inputs(batch=7)
    slow = plain(children, weight, leaky=leaky)
    cut_into(monkeypatch, images)
    fast = predict_and_route(children, weight, leaky=leaky)
    torch.testing.assert_close(fast.outputs, slow.outputs)
    torch.testing.assert_close(fast.couplings, slow.couplings, check_stride=False)
    torch.testing.assert_close(gradients_of(fast, children, weight), gradients_of(slow, children, weight))


@pytest.mark.parametrize(
    ("images", "slices"), [(0, [1] * 7), (1, [1] * 7), (3, [3, 3, 1]), (7, [7]), (100, [7])]
)
def test_batch_is_cut_into_slices_that_fit_the_budget(monkeypatch, images, slices):
    seen = []
    predict = routing_fast.predict
    monkeypatch.setattr(routing_fast, "predict", lambda u, w: seen.append(len(u)) or predict(u, w))
    cut_into(monkeypatch, images)
    children, weight = inputs(batch=7)
    result = predict_and_route(children, weight)
    assert seen == slices
    gradients_of(result, children, weight)
    assert seen == slices * 2  # once more in the backward pass, instead of keeping votes


@pytest.mark.parametrize("batch", [0, 1])
def test_small_batches(batch):
    children, weight = inputs(batch)
    fast, slow = predict_and_route(children, weight), plain(children, weight)
    assert fast.outputs.shape == (batch, PARENTS, SIZE)
    torch.testing.assert_close(fast.outputs, slow.outputs)
    torch.testing.assert_close(gradients_of(fast, children, weight), gradients_of(slow, children, weight))


def test_agrees_with_the_loops():
    children, weight = (tensor.detach() for tensor in inputs(batch=2, dtype=torch.float32))
    outputs, couplings = references.dynamic_routing(references.predictions(children, weight), 3)
    result = predict_and_route(children, weight)
    torch.testing.assert_close(result.outputs, outputs, atol=1e-5, rtol=0)
    torch.testing.assert_close(result.couplings, couplings, atol=1e-5, rtol=0, check_stride=False)


@leaky_or_not
@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_gradient_is_that_of_finite_differences(monkeypatch, iterations, leaky):
    cut_into(monkeypatch, 2)
    children, weight = inputs(batch=3)
    assert torch.autograd.gradcheck(
        lambda u, w: predict_and_route(u, w, iterations, leaky=leaky).outputs, (children, weight)
    )


@pytest.mark.parametrize("wanted", [0, 1], ids=["children", "weight"])
def test_gradient_of_one_input_alone(wanted):
    both = inputs()
    result = predict_and_route(*(x if n == wanted else x.detach() for n, x in enumerate(both)))
    (alone,) = torch.autograd.grad(result.outputs.sum(), both[wanted])
    (expected,) = torch.autograd.grad(plain(*both).outputs.sum(), both[wanted])
    torch.testing.assert_close(alone, expected)


def test_couplings_are_constants():
    result = predict_and_route(*inputs())
    assert result.outputs.requires_grad
    assert not result.couplings.requires_grad


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_outputs_and_gradients_have_the_dtype_of_the_inputs(dtype):
    children, weight = inputs(dtype=dtype)
    result = predict_and_route(children, weight)
    assert result.outputs.dtype == result.couplings.dtype == dtype
    assert [gradient.dtype for gradient in gradients_of(result, children, weight)] == [dtype, dtype]


def test_bf16_is_close_to_fp32():
    exact = inputs(batch=64, dtype=torch.float32)
    rounded = tuple(tensor.detach().bfloat16().requires_grad_() for tensor in exact)
    low, high = predict_and_route(*rounded), predict_and_route(*exact)
    pairs = zip(
        (low.outputs, *gradients_of(low, *rounded)), (high.outputs, *gradients_of(high, *exact)), strict=True
    )
    for ours, expected in pairs:
        assert (ours.float() - expected).norm() < 0.02 * expected.norm()


def test_autocast_predicts_in_bf16_and_answers_in_fp32():
    children, weight = inputs(dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        result = predict_and_route(children, weight)
    low = predict_and_route(children.bfloat16(), weight.bfloat16())
    assert result.outputs.dtype == torch.float32
    torch.testing.assert_close(result.outputs.bfloat16(), low.outputs)
    assert [g.dtype for g in gradients_of(result, children, weight)] == [torch.float32, torch.float32]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@given(
    seed=st.integers(0, 2**32),
    exponents=st.tuples(st.integers(-15, 15), st.integers(-15, 15)),
    iterations=st.integers(1, 5),
    leaky=st.booleans(),
)
def test_values_and_gradients_are_finite_for_votes_of_any_size(dtype, seed, exponents, iterations, leaky):
    children, weight = inputs(batch=3, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    low, high = min(exponents), max(exponents) + 1
    sizes = [10.0 ** torch.randint(low, high, (n, 1, 1), generator=generator) for n in (3, CHILDREN)]
    children = (children * sizes[0]).detach().to(dtype).requires_grad_()
    weight = (weight * sizes[1].unsqueeze(-1)).detach().to(dtype).requires_grad_()
    result = predict_and_route(children, weight, iterations, leaky=leaky)
    assert result.outputs.isfinite().all()
    assert result.couplings.isfinite().all()
    assert all(g.isfinite().all() for g in torch.autograd.grad(result.outputs.sum(), (children, weight)))


@pytest.mark.parametrize(
    ("children", "weight"),
    [((2, 6), (6, 3, 4, 5)), ((2, 5, 3), (6, 3, 4, 5)), ((2, 6, 2), (6, 3, 4, 5)), ((2, 6, 3), (6, 3, 20))],
)
def test_wrong_shapes_are_told(children, weight):
    with pytest.raises(ValueError, match=r"children must be .* and weight ") as caught:
        predict_and_route(torch.zeros(children), torch.zeros(weight))
    assert f"got {children} and {weight}" in str(caught.value)


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="iterations must be at least 1, got 0"):
        predict_and_route(*inputs(), iterations=0)
    with pytest.raises(ValueError, match="gradient must be"):
        predict_and_route(*inputs(), gradient="first")
