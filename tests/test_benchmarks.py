"""The benchmarks compare like with like, and their harness fills every field. No timing is asserted here."""

import json
from dataclasses import replace

import pytest
import torch
from typer.testing import CliRunner

from benchmarks import __main__ as command
from benchmarks import matrix, suite
from benchmarks.matrix import MatrixSizes
from benchmarks.measure import peak_megabytes, seconds
from benchmarks.reference import ReferenceCapsNet, ReferenceMatrixCapsNet, broadcast_votes, route
from benchmarks.suite import BARS, Sizes
from benchmarks.workload import Routing, Step
from capsedu import losses, models, ops, results

SMALL = Sizes(
    batch=16,
    repeats=1,
    iterations=(1, 2),
    children=288,
    model_options={"channels": 32, "primary_types": 8, "decoder": (16,)},
)


def loss_of(model, images, labels):
    output = model(images, labels)
    margin = losses.margin_loss(output.lengths, labels)
    return output, margin + losses.reconstruction_loss(output.reconstruction, images)


@pytest.mark.parametrize("iterations", [1, 3])
def test_reference_gives_the_outputs_and_gradients_of_capsedu(iterations):
    torch.manual_seed(0)
    ours = models.create("capsnet-mnist-small", iterations=iterations)
    reference = ReferenceCapsNet(ours)
    images, labels = torch.rand(3, 1, 28, 28), torch.tensor([1, 4, 9])
    (a, loss_a), (b, loss_b) = (loss_of(model, images, labels) for model in (ours, reference))
    torch.testing.assert_close(a.capsules, b.capsules)
    torch.testing.assert_close(a.reconstruction, b.reconstruction)
    torch.testing.assert_close(a.routing.couplings, b.routing.couplings)
    loss_a.backward()
    loss_b.backward()
    pairs = [
        (ours.conv[0].weight, reference.conv.weight.grad),
        (ours.primary.conv.weight, reference.primary.weight.grad),
        (ours.classes.weight, reference.weight.grad.permute(0, 3, 1, 2)),
        (ours.decoder.layers[0].weight, reference.decoder[0].weight.grad),
    ]
    for parameter, grad in pairs:
        assert grad.abs().max() > 0
        torch.testing.assert_close(parameter.grad, grad, rtol=1e-4, atol=1e-6)


def test_reference_has_the_papers_number_of_parameters():
    reference = ReferenceCapsNet(models.create("capsnet-mnist"))
    assert sum(parameter.numel() for parameter in reference.parameters()) == 8_215_568


def test_both_routings_of_the_benchmark_agree_with_the_reference():
    torch.manual_seed(0)
    children, weight = torch.randn(2, 6, 4), torch.randn(6, 4, 3, 5)
    votes = broadcast_votes(children, weight.permute(0, 2, 3, 1))
    expected = route(votes, 3).outputs
    torch.testing.assert_close(ops.dynamic_routing(votes, 3).outputs, expected)
    torch.testing.assert_close(ops.predict_and_route(children, weight, 3).outputs, expected)


def test_matrix_reference_gives_the_outputs_and_gradients_of_capsedu():
    torch.manual_seed(0)
    ours = models.create("matrixcaps-small", B=2, C=3, D=3)
    images, labels = torch.randn(2, 2, 32, 32), torch.tensor([1, 4])
    outputs, gradients = [], []
    for model in (ours, ReferenceMatrixCapsNet(ours)):
        outputs.append(model(images))
        loss = losses.spread_loss(outputs[-1].activations, labels)
        gradients.append(torch.autograd.grad(loss, list(ours.parameters())))
    torch.testing.assert_close(outputs[0].poses, outputs[1].poses, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(outputs[0].activations, outputs[1].activations, atol=1e-4, rtol=1e-4)
    for found, expected in zip(*gradients, strict=True):
        scale = expected.abs().max()
        torch.testing.assert_close(found / scale, expected / scale, atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", Sizes().steps())
def test_a_step_trains_its_model(name, monkeypatch):
    step = SMALL.steps()[name]
    model = step.model()
    before = [parameter.detach().clone() for parameter in model.parameters()]
    monkeypatch.setattr(Step, "model", lambda self: model)
    step.build()()
    assert not any(map(torch.equal, before, model.parameters()))


def test_workloads_take_turns_and_the_first_turn_is_not_counted():
    order = []

    class Recorded:
        def __init__(self, name):
            self.name = name

        def build(self):
            return lambda: order.append(self.name)

    found = seconds({"a": Recorded("a"), "b": Recorded("b")}, 2, lambda name: None)
    assert order == ["a", "b"] * 3
    assert all(0 <= times["seconds"] <= times["median_seconds"] for times in found.values())


def test_peak_memory_sees_votes_that_are_kept_even_from_a_large_process():
    ballast = torch.ones(2**28 // 4)  # a process must not take its parent's peak for its own
    votes_megabytes = 64 * 1152 * 10 * 16 * 4 / 1e6
    plain, sliced = (peak_megabytes(Routing(64, kind, 1)) for kind in ("plain", "sliced"))
    assert plain > votes_megabytes
    assert sliced < plain
    assert len(ballast)


def test_every_bar_has_a_ratio_and_a_verdict():
    step = {name: {"seconds": 1.0, "megabytes": 100.0} for name in Sizes().steps()}
    step["reference fp32"] = {"seconds": 2.5, "megabytes": 300.0}
    bars = suite.judged(suite.ratios(step, {"torch": 1.0, "capsedu": 1.3}), BARS)
    assert bars.keys() == BARS.keys()
    missed = {name for name, row in bars.items() if not row["met"]}
    assert missed == {"bf16 step: times faster than the reference", "import capsedu / import torch"}


@pytest.mark.slow
def test_command_writes_a_complete_result_file(monkeypatch, tmp_path):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(command, "Sizes", lambda batch, repeats: SMALL)
    done = CliRunner().invoke(command.app, ["--batch", "16", "--repeats", "1"])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "benchmarks.json").read_text())
    assert found["bars"].keys() == BARS.keys()
    assert found["step"].keys() == SMALL.steps().keys()
    for numbers in found["step"].values():
        assert min(numbers["seconds"], numbers["median_seconds"]) > 0
        assert numbers["megabytes"] > 0
    for implementation in ("plain", "sliced"):
        assert [len(numbers) for numbers in found["routing"][implementation].values()] == [2, 2, 2]
    assert found["machine"]["batch"] == 16
    assert "/" not in json.dumps(found["machine"])


@pytest.mark.slow
def test_matrix_command_writes_a_complete_result_file(monkeypatch, tmp_path):
    small = MatrixSizes(batch=1, repeats=1, iterations=(1,), types=(2,), sides=(24,))
    without_compiler = {how: replace(step, implementation="sliced") for how, step in small.compared().items()}
    monkeypatch.setattr(MatrixSizes, "compared", lambda self: without_compiler)
    monkeypatch.setattr(MatrixSizes, "grown", lambda self: {"side": {24: without_compiler["sliced"]}})
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    done = CliRunner().invoke(command.app, ["matrix", "--batch", "1", "--repeats", "1"])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "benchmarks_matrix.json").read_text())
    assert found["bars"].keys() == matrix.BARS.keys()
    assert all(numbers["seconds"] > 0 and numbers["megabytes"] > 0 for numbers in found["step"].values())
    assert found["growth"]["side"]["24"] > 0
