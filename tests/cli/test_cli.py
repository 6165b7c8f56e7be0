"""The command line as a user meets it: a real process, its words and its exit code."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from safetensors import safe_open


def capsedu(*arguments, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-m", "capsedu", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        timeout=300,
    )


def assert_one_sentence(result, *words):
    """Exit code 2, one line on stderr, no traceback."""
    assert result.returncode == 2, result.stdout + result.stderr
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("capsedu: ")
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in last


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a quick run."""
    folder = tmp_path_factory.mktemp("cli")
    result = capsedu("train", "capsnet-mnist-small", "--profile", "quick", "--out", "run", cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder


def test_help_lists_the_commands(tmp_path):
    result = capsedu("--help", cwd=tmp_path)
    assert result.returncode == 0
    for command in ("doctor", "data", "train", "evaluate"):
        assert command in result.stdout


def test_doctor_finds_this_machine_ready(tmp_path):
    result = capsedu("doctor", cwd=tmp_path)
    assert result.returncode == 0, result.stdout
    assert "BAD" not in result.stdout
    assert "torchvision" in result.stdout


def test_doctor_tells_what_is_wrong(tmp_path):
    result = capsedu("doctor", cwd=tmp_path, CAPSEDU_DATA=str(tmp_path / "nowhere"))
    assert_one_sentence(result, "not ready: MNIST")


def test_train_leaves_weights_and_a_card(trained):
    card = json.loads((trained / "run" / "weights.json").read_text())
    assert card["command"] == "capsedu train capsnet-mnist-small --profile quick --seed 0"
    assert card["data"]["items"] == 256
    assert len(card["data"]["sha256"]) == 64
    assert set(card["errors"]) == {"validation"}
    with safe_open(trained / "run" / "weights.safetensors", "pt") as weights:
        assert weights.get_tensor("classes.weight").shape == (288, 8, 10, 16)


def test_a_finished_run_is_not_overwritten(trained):
    before = (trained / "run" / "weights.safetensors").read_bytes()
    result = capsedu("train", "capsnet-mnist-small", "--profile", "quick", "--out", "run", cwd=trained)
    assert_one_sentence(result, "this run has ended")
    assert (trained / "run" / "weights.safetensors").read_bytes() == before


def test_evaluate_writes_the_error_on_the_card(trained):
    result = capsedu("evaluate", "run/weights.safetensors", "--split", "test", cwd=trained)
    assert result.returncode == 0, result.stderr
    found = json.loads((trained / "run" / "weights.json").read_text())["errors"]["test"]
    assert f"{found['error_percent']:.2f} % wrong on test" in result.stdout
    assert found["items"] == 1000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "capsnet-mnst"], ["no recipe named 'capsnet-mnst'", "capsnet-mnist"]),
        (["train", "capsnet-mnist", "--profile", "huge"], ["no profile named 'huge'"]),
        (["data", "mnits"], ["mnist"]),
        (["evaluate", "nothing.safetensors"], ["no file nothing.safetensors"]),
        (["evaluate", "capsnet"], ["no shipped network named 'capsnet'"]),
    ],
)
def test_wrong_names_get_one_sentence(tmp_path, arguments, words):
    assert_one_sentence(capsedu(*arguments, cwd=tmp_path), *words)
    assert list(tmp_path.iterdir()) == []


def test_damaged_weights_get_one_sentence(trained, tmp_path):
    whole = (trained / "run" / "weights.safetensors").read_bytes()
    (tmp_path / "weights.safetensors").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "weights.json").write_text((trained / "run" / "weights.json").read_text())
    assert_one_sentence(capsedu("evaluate", "weights.safetensors", cwd=tmp_path), "weights.safetensors")


def test_a_folder_that_cannot_be_made_gets_one_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    out = str(tmp_path / "file" / "run")
    assert_one_sentence(
        capsedu("train", "capsnet-mnist-small", "--profile", "quick", "--out", out, cwd=tmp_path), "file"
    )


def test_an_interrupted_run_says_how_to_go_on(tmp_path):
    train = ["train", "capsnet-mnist-small", "--profile", "laptop", "--out", "run"]
    command = [sys.executable, "-m", "capsedu", *train]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        seen = ""
        while "1/" not in seen:  # the progress bar shows the first step
            seen += process.stderr.read(1)
            assert process.poll() is None, seen
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "interrupted; the same command goes on" in stderr
    assert not (tmp_path / "run" / "weights.safetensors").exists()
