"""EM routing against plain loops, its invariants, and the four faults that public code has."""

import math
import shutil

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from capsedu.ops import Neighbourhood, em, em_routing, vote_and_route, votes_on_grid
from capsedu.ops.em import LEAST_MASS

FLOOR = 5e-4
SIZES = [(4, 3, 1), (6, 3, 2), (4, 4, 1)]  # height, kernel, stride


def m_step_by_hand(shares, activations, votes, beta_u, beta_a, temperature, average_mass):
    """Shares {(child, parent): R}, votes {(child, parent): list}; parents are any hashable names."""
    parents = {}
    for parent in {parent for _, parent in shares}:
        weights = {i: r * activations[i] for (i, j), r in shares.items() if j == parent}
        mass = sum(weights.values())
        size = len(next(v for (_, j), v in votes.items() if j == parent))
        mean, variance, cost = [], [], 0.0
        for h in range(size):
            mu = sum(w * votes[i, parent][h] for i, w in weights.items()) / (mass + LEAST_MASS)
            spread = sum(w * (votes[i, parent][h] - mu) ** 2 for i, w in weights.items())
            sigma2 = spread / (mass + LEAST_MASS) + FLOOR
            mean.append(mu)
            variance.append(sigma2)
            cost += (beta_u[parent[-1]] + math.log(math.sqrt(sigma2))) * mass / average_mass
        active = 1 / (1 + math.exp(-temperature * (beta_a[parent[-1]] - cost)))
        parents[parent] = mean, variance, active
    return parents


def e_step_by_hand(votes, parents):
    """R_ij over every parent that child i can reach."""
    scores = {}
    for (i, parent), vote in votes.items():
        mean, variance, active = parents[parent]
        density = math.prod(
            math.exp(-((v - m) ** 2) / (2 * s2)) / math.sqrt(2 * math.pi * s2)
            for v, m, s2 in zip(vote, mean, variance, strict=True)
        )
        scores[i, parent] = active * density
    return {
        (i, j): score / sum(s for (k, _), s in scores.items() if k == i) for (i, j), score in scores.items()
    }


def route_by_hand(votes, activations, beta_u, beta_a, average_mass, iterations=3):
    shares = {(i, j): 1 / sum(k == i for k, _ in votes) for i, j in votes}
    for t in range(iterations):
        temperature = 1 - 0.95 ** (t + 1)
        parents = m_step_by_hand(shares, activations, votes, beta_u, beta_a, temperature, average_mass)
        if t + 1 < iterations:
            shares = e_step_by_hand(votes, parents)
    return parents, shares


def example(*shape, scale=1.0, dtype=torch.float64, seed=0):
    return scale * torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def betas(parents, dtype=torch.float64):
    return example(parents, seed=8, dtype=dtype), example(parents, seed=9, dtype=dtype)


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_dense_routing_agrees_with_loops(iterations):
    votes, activations = example(1, 5, 3, 4), torch.rand(1, 5, dtype=torch.float64)
    beta_u, beta_a = betas(3)
    result = em_routing(votes, activations, beta_u, beta_a, iterations=iterations)
    parents, shares = route_by_hand(
        {(i, (j,)): votes[0, i, j].tolist() for i in range(5) for j in range(3)},
        activations[0].tolist(),
        beta_u.tolist(),
        beta_a.tolist(),
        average_mass=5 / 3,
        iterations=iterations,
    )
    for j in range(3):
        mean, _, active = parents[(j,)]
        assert result.poses[0, j].tolist() == pytest.approx(mean, abs=1e-5)
        assert result.activations[0, j].item() == pytest.approx(active, abs=1e-5)
        for i in range(5):
            assert result.responsibilities[0, i, j].item() == pytest.approx(shares[i, (j,)], abs=1e-5)


def grid_example(height, kernel, stride, types=2, parents=2, dtype=torch.float64):
    grid = Neighbourhood(height, height, kernel, stride)
    poses = example(2, height**2, types, 2, 2, dtype=dtype)
    activations = torch.rand(2, height**2, types, dtype=dtype, generator=torch.Generator().manual_seed(3))
    weight = example(kernel**2 * types, parents, 2, 2, scale=0.7, seed=5, dtype=dtype)
    return grid, poses, activations, weight


def route_on_grid(poses, activations, weight, beta_u, beta_a, grid, offsets=None, **options):
    """The plain form, from poses."""
    seen = activations[:, grid.children_of(poses.device)].flatten(2)
    votes = votes_on_grid(poses, weight, grid, offsets)
    return em_routing(votes, seen, beta_u, beta_a, grid=grid, **options)


@pytest.mark.parametrize(("height", "kernel", "stride"), [(4, 3, 1), (5, 3, 2), (6, 3, 2), (3, 3, 1)])
def test_routing_on_a_grid_agrees_with_loops(height, kernel, stride):
    grid, poses, activations, weight = grid_example(height, kernel, stride)
    beta_u, beta_a = betas(2)
    result = route_on_grid(poses, activations, weight, beta_u, beta_a, grid)
    side = (height - kernel) // stride + 1
    votes, slot_of = {}, {}
    for row in range(side):
        for column in range(side):
            for down in range(kernel):
                for right in range(kernel):
                    place = (row * stride + down) * height + column * stride + right
                    for c in range(2):
                        slot = (down * kernel + right) * 2 + c
                        for j in range(2):
                            vote = (poses[0, place, c] @ weight[slot, j]).flatten().tolist()
                            votes[(place, c), (row * side + column, j)] = vote
                            slot_of[(place, c), (row * side + column, j)] = slot
    children = {child for child, _ in votes}
    active = {(p, c): activations[0, p, c].item() for p, c in children}
    parents, shares = route_by_hand(
        votes, active, beta_u.tolist(), beta_a.tolist(), average_mass=len(children) / (side**2 * 2)
    )
    for (position, j), (mean, _, a) in parents.items():
        assert result.poses[0, position, j].tolist() == pytest.approx(mean, abs=1e-5)
        assert result.activations[0, position, j].item() == pytest.approx(a, abs=1e-5)
    for (child, parent), share in shares.items():
        position, j = parent
        slot = slot_of[child, parent]
        assert result.responsibilities[0, position, slot, j].item() == pytest.approx(share, abs=1e-5)


def assert_gradients_agree(ours, expected):
    for found, wanted in zip(ours, expected, strict=True):
        torch.testing.assert_close(found / wanted.abs().max(), wanted / wanted.abs().max(), atol=1e-4, rtol=0)


needs_compiler = pytest.mark.skipif(
    not (shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")),
    reason="torch.compile needs a C++ compiler",
)


@pytest.mark.parametrize(
    ("height", "kernel", "stride", "dtype", "compiled"),
    [
        *((*sizes, dtype, False) for sizes in SIZES for dtype in (torch.float64, torch.float32)),
        pytest.param(6, 3, 2, torch.float32, True, marks=needs_compiler),
    ],
)
def test_fast_form_equals_the_plain_form_in_value_and_gradient(height, kernel, stride, dtype, compiled):
    grid, *tensors = grid_example(height, kernel, stride, dtype=dtype)
    inputs = [tensor.requires_grad_() for tensor in (*tensors, *betas(2, dtype))]
    offsets = example(len(inputs[2]), 4, dtype=dtype, seed=6)
    fast = vote_and_route(*inputs, grid, offsets=offsets, compiled=compiled)
    result = route_on_grid(*inputs, grid, offsets)
    plain = result.poses, result.activations
    directions = [torch.randn_like(tensor) for tensor in plain]
    torch.testing.assert_close(fast, plain, atol=1e-4, rtol=1e-4)
    assert_gradients_agree(*(torch.autograd.grad(form, inputs, directions) for form in (fast, plain)))


def total_by_child(responsibilities, grid, types):
    """Sum of R_ij over all parents, for every child that somebody sees."""
    by_place = responsibilities.unflatten(2, (grid.kernel**2, types)).sum(dim=-1)  # (B, P, K*K, C)
    children = grid.children_of(responsibilities.device).flatten()
    total = torch.zeros(len(by_place), grid.height * grid.width, types, dtype=by_place.dtype)
    return total.index_add(1, children, by_place.flatten(1, 2))[:, children.unique()]


@pytest.mark.parametrize(("height", "stride"), [(5, 1), (7, 2), (6, 2)])
def test_a_child_is_shared_out_over_all_types_and_positions(height, stride):
    """Fault 3: normalised over types only, a child at stride 1 counts up to nine times."""
    grid, poses, activations, weight = grid_example(height, 3, stride)
    result = route_on_grid(poses, activations, weight, *betas(2), grid)
    total = total_by_child(result.responsibilities, grid, 2)
    assert torch.allclose(total, torch.ones_like(total))
    over_types_only = result.responsibilities / result.responsibilities.sum(dim=-1, keepdim=True)
    assert total_by_child(over_types_only, grid, 2).max() > 1.5


def test_halving_a_childs_activation_halves_its_mass():
    """Fault 4: renormalising R_ij a_i over the parents cancels a_i."""
    votes, activations = example(1, 4, 2, 3), torch.ones(1, 4, dtype=torch.float64)
    halved = activations * torch.tensor([0.5, 1, 1, 1])
    means = [em_routing(votes, a, *betas(2), iterations=1).poses[0] for a in (activations, halved)]
    assert torch.allclose(means[0], votes[0].mean(dim=0))
    assert torch.allclose(means[1], (0.5 * votes[0, 0] + votes[0, 1:].sum(dim=0)) / 3.5)


def test_renormalising_would_cancel_the_activation(monkeypatch):
    """Fault 4, planted: the M-step no longer sees how active its children are."""
    right = em._m_step

    def faulty(responsibilities, activations, *rest):
        weights = responsibilities * activations[..., None]
        return right(weights / weights.sum(dim=-1, keepdim=True), torch.ones_like(activations), *rest)

    monkeypatch.setattr(em, "_m_step", faulty)
    votes, activations = example(1, 4, 2, 3), torch.ones(1, 4, dtype=torch.float64)
    halved = activations * torch.tensor([0.5, 1, 1, 1])
    means = [em_routing(votes, a, *betas(2)).poses for a in (activations, halved)]
    assert torch.allclose(*means)


def test_a_parent_with_one_child_has_a_variance():
    """Fault 1: without a floor the variance is 0 and the log-density infinite."""
    votes = example(1, 1, 2, 4).requires_grad_()
    result = em_routing(votes, torch.ones(1, 1, dtype=torch.float64), *betas(2), trace=True)
    assert torch.allclose(result.trace.parents[-1].variance, torch.tensor(FLOOR, dtype=torch.float64))
    assert result.poses.isfinite().all()
    (gradient,) = torch.autograd.grad(result.poses.sum() + result.activations.sum(), votes)
    assert gradient.isfinite().all()
    faulty = em_routing(
        votes, torch.ones(1, 1, dtype=torch.float64), *betas(2), variance_floor=0.0, trace=True
    )
    assert faulty.trace.parents[-1].variance.max() < 1e-12  # a density of 10^24 at a single vote


def test_more_children_do_not_saturate_the_activation():
    """Fault 2: with the raw mass, the cost grows with the number of children."""
    few = example(1, 8, 2, 4)
    many = few.repeat(1, 100, 1, 1)
    beta = torch.zeros(2, dtype=torch.float64)
    ours = [
        em_routing(votes, torch.ones(votes.shape[:2], dtype=votes.dtype), beta, beta).activations
        for votes in (few, many)
    ]
    assert torch.allclose(*ours)
    raw = torch.sigmoid(100 * torch.logit(ours[0]))  # the mass is a hundred times as large
    assert ((raw < 1e-3) | (raw > 1 - 1e-3)).any()


def test_equals_a_mixture_of_gaussians_where_the_two_coincide():
    """One position, all children active, λ = 0: EM for a diagonal mixture with equal proportions."""
    points = torch.cat([example(20, 3) + 2, example(20, 3, seed=1) - 2])
    votes = points[:, None] + 0.3 * example(40, 2, 3, seed=2)  # a parent sees them through its own matrices
    result = em_routing(
        votes[None],
        torch.ones(1, 40, dtype=torch.float64),
        torch.zeros(2, dtype=torch.float64),
        torch.zeros(2, dtype=torch.float64),
        iterations=8,
        inverse_temperature=0.0,
    )
    shares = torch.full((40, 2), 0.5, dtype=torch.float64)
    for step in range(8):
        mean = (shares[..., None] * votes).sum(0) / shares.sum(0)[:, None]
        variance = (shares[..., None] * (votes - mean).square()).sum(0) / shares.sum(0)[:, None] + FLOOR
        if step < 7:
            mixture = torch.distributions.Independent(torch.distributions.Normal(mean, variance.sqrt()), 1)
            shares = mixture.log_prob(votes).softmax(dim=-1)
    assert (shares - 0.5).abs().max() > 0.4  # the two have parted
    assert torch.allclose(result.poses[0], mean, atol=1e-6)
    assert torch.allclose(result.responsibilities[0], shares, atol=1e-6)


def test_one_iteration_is_equivariant_to_any_viewpoint():
    """Multiply every pose by one matrix, and every output pose is multiplied by it."""
    grid, poses, activations, weight = grid_example(5, 3, 2)
    viewpoint = example(2, 2, seed=11)
    turned, still = (
        vote_and_route(p, activations, weight, *betas(2), grid, iterations=1)[0].unflatten(-1, (2, 2))
        for p in (viewpoint @ poses, poses)
    )
    assert torch.allclose(turned, viewpoint @ still)


def test_signed_permutations_are_exact_and_rotations_drift():
    grid, poses, activations, weight = grid_example(5, 3, 2)
    flip = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    c, s = math.cos(0.6), math.sin(0.6)
    rotation = torch.tensor([[c, -s], [s, c]], dtype=torch.float64)

    def drift(viewpoint):
        turned, _ = vote_and_route(viewpoint @ poses, activations, weight, *betas(2), grid)
        still, _ = vote_and_route(poses, activations, weight, *betas(2), grid)
        difference = turned.unflatten(-1, (2, 2)) - viewpoint @ still.unflatten(-1, (2, 2))
        return difference.abs().max().item()

    assert drift(flip) < 1e-9
    assert drift(rotation) > 1e-3


@pytest.mark.parametrize("scale", [0.0, 1e-20, 1e-3, 1.0, 1e3, 1e8])
@pytest.mark.parametrize("active", [0.0, 1e-20, 1.0])
def test_never_nan(scale, active):
    grid, poses, activations, weight = grid_example(5, 3, 2, dtype=torch.float32)
    inputs = [scale * poses, torch.full_like(activations, active), weight, *betas(2, torch.float32)]
    inputs = [tensor.detach().requires_grad_() for tensor in inputs]
    result = route_on_grid(*inputs, grid)
    assert result.responsibilities.isfinite().all()
    for form in ((result.poses, result.activations), vote_and_route(*inputs, grid)):
        assert all(tensor.isfinite().all() for tensor in form)
        gradients = torch.autograd.grad(sum(tensor.sum() for tensor in form), inputs)
        assert all(gradient.isfinite().all() for gradient in gradients)


def test_gradients_of_the_plain_form():
    votes, activations = example(1, 4, 2, 3).requires_grad_(), torch.rand(1, 4, dtype=torch.float64)
    inputs = (votes, activations.requires_grad_(), *(beta.requires_grad_() for beta in betas(2)))

    def route(*inputs):
        result = em_routing(*inputs)
        return result.poses, result.activations

    assert torch.autograd.gradcheck(route, inputs)


@given(seed=st.integers(0, 10_000))
def test_an_example_does_not_depend_on_its_company(seed):
    votes, activations = example(4, 6, 3, 4, seed=seed), torch.rand(4, 6, dtype=torch.float64)
    together = em_routing(votes, activations, *betas(3)).poses
    alone = em_routing(votes[2:3], activations[2:3], *betas(3)).poses
    assert torch.allclose(together[2:3], alone)


def test_plain_form_compiles_whole_and_runs_on_meta():
    votes, activations = example(2, 6, 3, 4), torch.rand(2, 6, dtype=torch.float64)
    compiled = torch.compile(lambda *inputs: em_routing(*inputs).poses, fullgraph=True, backend="aot_eager")
    assert torch.allclose(
        compiled(votes, activations, *betas(3)), em_routing(votes, activations, *betas(3)).poses
    )
    on_meta = [tensor.to("meta") for tensor in (votes, activations, *betas(3))]
    assert em_routing(*on_meta).poses.shape == (2, 3, 4)


@pytest.mark.parametrize(
    ("votes", "activations", "words"),
    [((2, 3, 4), (2, 3), "votes must be"), ((2, 3, 4, 5), (2, 4), "activations must be")],
)
def test_wrong_shapes_are_told(votes, activations, words):
    with pytest.raises(ValueError, match=words):
        em_routing(torch.zeros(votes), torch.zeros(activations), torch.zeros(4), torch.zeros(4))
