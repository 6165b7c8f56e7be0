"""Training is a function of the recipe: stopping, resuming or sharing it out changes nothing."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save

from capsedu import models
from capsedu.data import ImageDataset, load
from capsedu.errors import CapseduError
from capsedu.losses import margin_loss, reconstruction_loss, spread_loss
from capsedu.training import PREPARATIONS, Recipe, evaluate, loop, recipe, train
from capsedu.training.checkpoint import FILE_NAME
from capsedu.training.loop import batch_at, learning_rate, total_loss, total_steps

TINY = replace(
    recipe("capsnet-mnist-small", "quick"),
    model_options={"channels": 8, "primary_types": 2, "decoder": (16,)},
    train_size=128,
    batch_size=32,
    epochs=3,
    precision="no",
)


def final_weights(tiny, run=None, stop_after=None):
    """The weights after the run, or after the first ``stop_after`` steps."""
    for metrics in itertools.islice(train(tiny, run, checkpoint_every=2), stop_after):
        last = metrics
    return {name: tensor.clone() for name, tensor in last.model.state_dict().items()}


def assert_same_bits(first, second):
    assert first.keys() == second.keys()
    for name in first:
        assert torch.equal(first[name], second[name]), name


def test_training_lowers_the_loss():
    seen = [metrics.loss for metrics in train(replace(TINY, epochs=10))]
    assert seen[-1] < 0.8 * seen[0]


@pytest.mark.parametrize("stop_after", [1, 2, 5, 11])
def test_resuming_gives_the_same_bits(tmp_path, stop_after):
    straight = final_weights(TINY)
    final_weights(TINY, tmp_path, stop_after)
    assert_same_bits(straight, final_weights(TINY, tmp_path))


def test_resuming_gives_the_same_bits_with_dropout(tmp_path):
    """Dropout draws from torch's global generator: its state is in the checkpoint."""
    small_cnn = {"convolutions": ((4, 3),), "pool": True, "hidden": (16,), "dropout": 0.5}
    tiny = replace(TINY, model="cnn-mnist", model_options=small_cnn, loss="cross_entropy")
    straight = final_weights(tiny)
    final_weights(tiny, tmp_path, 5)
    assert_same_bits(straight, final_weights(tiny, tmp_path))


KILLED = """
import sys
sys.path[:0] = [{tests!r}]
from pathlib import Path
import torch
torch.set_num_threads(1)
from test_loop import TINY, train
for metrics in train(TINY, Path({run!r}), checkpoint_every=1):
    print(metrics.step, flush=True)
"""


def test_a_killed_run_resumes_to_the_same_bits(tmp_path):
    code = KILLED.format(tests=str(Path(__file__).parent), run=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().strip() == "1"
        time.sleep(0.05)  # somewhere inside a later step, or inside the writing of a checkpoint
        process.send_signal(signal.SIGKILL)
    assert_same_bits(final_weights(TINY), final_weights(TINY, tmp_path))


def test_a_finished_run_tells_its_end_again(tmp_path):
    first = list(train(TINY, tmp_path))[-1]
    (again,) = train(TINY, tmp_path)
    assert (again.step, again.loss) == (first.step, first.loss)


def test_another_recipe_does_not_take_over_a_run(tmp_path):
    final_weights(TINY, tmp_path, 2)
    with pytest.raises(CapseduError, match="learning_rate"):
        next(train(replace(TINY, learning_rate=1.0), tmp_path))


def test_a_checkpoint_older_than_a_field_of_the_recipe_goes_on(tmp_path):
    straight = final_weights(TINY)
    final_weights(TINY, tmp_path, 5)
    path = tmp_path / FILE_NAME
    with safe_open(path, "pt") as file:
        header = file.metadata()
    saved = json.loads(header["recipe"])
    assert saved.pop("weight_decay") == 0.0
    path.write_bytes(save(load_file(path), {**header, "recipe": json.dumps(saved)}))
    with pytest.raises(CapseduError, match="different: weight_decay"):
        next(train(replace(TINY, weight_decay=0.1), tmp_path))
    assert_same_bits(straight, final_weights(TINY, tmp_path))


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"not a checkpoint at all"])
def test_a_damaged_checkpoint_is_told_and_kept(tmp_path, content):
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(CapseduError, match="is not a checkpoint"):
        next(train(TINY, tmp_path))
    assert (tmp_path / FILE_NAME).read_bytes() == content


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path, monkeypatch):
    run = train(TINY, tmp_path, checkpoint_every=1)
    next(run)
    before = (tmp_path / FILE_NAME).read_bytes()

    def full(self, content):
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(CapseduError, match="no space left"):
        next(run)
    assert (tmp_path / FILE_NAME).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_bf16_trains_like_fp32():
    single = [metrics.loss for metrics in train(TINY)]
    half = [metrics.loss for metrics in train(replace(TINY, precision="bf16"))]
    assert half == pytest.approx(single, rel=0.05)


TWO_PROCESSES = """
import sys
sys.path[:0] = [{tests!r}]
from test_loop import TINY, train
for metrics in train(TINY):
    if metrics.main:
        print("loss", repr(metrics.loss), flush=True)
"""


@pytest.mark.slow
def test_two_processes_see_the_losses_of_one(tmp_path):
    script = tmp_path / "two.py"
    script.write_text(TWO_PROCESSES.format(tests=str(Path(__file__).parent)))
    launch = [sys.executable, "-m", "accelerate.commands.launch"]
    processes = ["--cpu", "--num_processes=2", "--num_machines=1", "--main_process_port=0"]
    options = ["--mixed_precision=no", "--dynamo_backend=no"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [*launch, *processes, *options, str(script)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    two = [float(line.split()[1]) for line in run.stdout.splitlines() if line.startswith("loss")]
    assert two == pytest.approx([metrics.loss for metrics in train(TINY)], abs=1e-4)


def test_shares_of_all_processes_make_the_whole_batch():
    data = load("mnist", size=128, source="embedded")
    whole, labels = batch_at(TINY, data, step=5)
    shares = [batch_at(TINY, data, 5, process, 2) for process in range(2)]
    assert torch.equal(whole, torch.cat([images for images, _ in shares]))
    assert torch.equal(labels, torch.cat([share for _, share in shares]))


def test_an_epoch_sees_every_image_once():
    data = load("mnist", size=128, source="embedded")
    plain = replace(TINY, augmentation="none")
    seen = torch.cat([batch_at(plain, data, step)[0] for step in range(4, 8)])  # the second epoch
    expected, _ = data.batch(slice(None))
    assert torch.equal(seen.flatten(1).sort(dim=0).values, expected.flatten(1).sort(dim=0).values)
    assert not torch.equal(seen, torch.cat([batch_at(plain, data, step)[0] for step in range(4)]))


def test_the_papers_schedule_multiplies_by_096_every_2000_steps():
    paper = recipe("capsnet-mnist-paper")
    assert learning_rate(paper, 0, 10_000) == 1e-3
    assert learning_rate(paper, 4000, 10_000) == pytest.approx(1e-3 * 0.96**2)


@pytest.mark.parametrize("cycles", [1, 2])
def test_each_cycle_of_the_cosine_schedule_falls_to_zero(cycles):
    cosine = recipe("capsnet-mnist", cycles=cycles)
    each = 10_000 // cycles
    for start in range(0, 10_000, each):
        assert learning_rate(cosine, start, 10_000) == cosine.learning_rate
        assert learning_rate(cosine, start + each // 2, 10_000) == pytest.approx(cosine.learning_rate / 2)
        assert learning_rate(cosine, start + each - 1, 10_000) < 1e-6 * cosine.learning_rate


def test_a_batch_larger_than_the_data_is_told():
    with pytest.raises(CapseduError, match="a batch of 32"):
        total_steps(TINY, 31)


def test_training_masks_by_the_true_label():
    """Mistake 7: the loop hands the labels to the model, so the decoder draws the true class."""
    asked = []

    class Spy(models.CapsNet):
        def forward(self, images, labels=None, **options):
            asked.append(labels)
            return super().forward(images, labels, **options)

    config = models.create(TINY.model, **TINY.model_options).config
    original = models.create
    try:
        models.create = lambda name, **options: Spy(config)
        next(train(TINY))
    finally:
        models.create = original
    data = load("mnist", size=128, source="embedded")
    assert torch.equal(asked[0], batch_at(TINY, data, 0)[1])


def test_reconstruction_weight_zero_leaves_the_margin_loss_alone():
    model = models.create(TINY.model, **TINY.model_options)
    images, labels = batch_at(TINY, load("mnist", size=128, source="embedded"), 0)
    output = model(images, labels)
    margin = margin_loss(output.lengths, labels).item()
    drawing = reconstruction_loss(output.reconstruction, images).item()
    without = replace(TINY, reconstruction_weight=0.0)
    assert total_loss(without, output, images, labels).item() == margin
    assert total_loss(TINY, output, images, labels).item() == pytest.approx(margin + drawing)


# Matrix capsules


TINY_MATRIX = Recipe(
    "tiny", "matrixcaps-small", "toys",
    model_options={"A": 4, "B": 2, "C": 2, "D": 2, "iterations": 2},
    augmentation="norb", loss="spread", reconstruction_weight=0.0, learning_rate=3e-3, weight_decay=2e-7,
    schedule="cosine", batch_size=8, epochs=3,
)  # fmt: skip


def toys(count: int = 16) -> ImageDataset:
    """Pairs of 48 × 48 with a bright square, whose place is the class."""
    images = torch.randint(0, 40, (count, 2, 48, 48), generator=torch.Generator().manual_seed(0))
    labels = torch.arange(count) % 5
    for b, k in enumerate(labels.tolist()):
        images[b, :, 12 + 5 * k :][:, :4, 20:28] += 200
    return ImageDataset("toys", "train", images.to(torch.uint8), labels, "made here")


def matrix_weights(run=None, stop_after=None):
    steps = train(TINY_MATRIX, run, dataset=toys(), checkpoint_every=1)
    *_, last = itertools.islice(steps, stop_after)
    return {name: tensor.clone() for name, tensor in last.model.state_dict().items()}


def test_a_matrix_network_resumes_to_the_same_bits(tmp_path):
    straight = matrix_weights()
    matrix_weights(tmp_path, 4)
    assert_same_bits(straight, matrix_weights(tmp_path))


def test_a_trained_matrix_network_is_evaluated_on_its_preparation():
    *_, last = train(replace(TINY_MATRIX, epochs=1), dataset=toys())
    prepare = PREPARATIONS["norb"].test
    images, _ = toys().batch(slice(None))
    found = evaluate(last.model, toys(), prepare=prepare)
    with torch.no_grad():
        assert torch.equal(found.predictions, last.model(prepare(images)).scores.argmax(dim=-1))


def test_a_batch_is_prepared_for_training():
    images, labels = batch_at(TINY_MATRIX, toys(), 1)
    assert images.shape == (8, 2, 32, 32)
    again, _ = batch_at(TINY_MATRIX, toys(), 1)
    assert torch.equal(images, again)
    shares = [batch_at(TINY_MATRIX, toys(), 1, process, 2) for process in range(2)]
    assert torch.equal(images, torch.cat([share for share, _ in shares]))
    assert torch.equal(labels, torch.cat([share for _, share in shares]))


def test_the_spread_losss_margin_rises_over_the_first_half(monkeypatch):
    seen = []

    def watch(recipe, output, images, labels, margin):
        seen.append(margin)
        return total_loss(recipe, output, images, labels, margin)

    monkeypatch.setattr(loop, "total_loss", watch)
    assert len(list(train(TINY_MATRIX, dataset=toys()))) == 6
    assert seen == pytest.approx([0.2, 0.2 + 0.7 / 3, 0.2 + 1.4 / 3, 0.9, 0.9, 0.9])


def test_spread_is_the_loss_of_the_matrix_recipes():
    output = models.CNNOutput(torch.rand(6, 5, generator=torch.Generator().manual_seed(0)))
    labels, images = torch.tensor([1, 0, 4, 4, 2, 3]), torch.zeros(6, 2, 32, 32)
    found = total_loss(TINY_MATRIX, output, images, labels, 0.4)
    assert found == spread_loss(output.scores, labels, margin=0.4)
    assert total_loss(TINY_MATRIX, output, images, labels) == spread_loss(output.scores, labels)


def test_weight_decay_reaches_the_optimiser():
    without = final_weights(TINY, stop_after=2)
    with_much = final_weights(replace(TINY, weight_decay=10.0), stop_after=2)
    assert any(not torch.equal(without[name], with_much[name]) for name in without)
    assert_same_bits(without, final_weights(replace(TINY, weight_decay=0.0), stop_after=2))
