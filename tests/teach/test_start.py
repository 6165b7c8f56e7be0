"""The exercises of chapter 0 accept the solution and tell each typical mistake."""

import pytest
import torch

from capsedu import teach


def read_answer(lengths):
    confidence, prediction = lengths.max(dim=1)
    return prediction, confidence


def softmax_on_lengths(lengths):
    confidence, prediction = lengths.softmax(dim=1).max(dim=1)
    return prediction, confidence


def shares_of_the_sum(lengths):
    confidence, prediction = (lengths / lengths.sum(dim=1, keepdim=True)).max(dim=1)
    return prediction, confidence


def longest_picture_of_each_class(lengths):
    confidence, prediction = lengths.max(dim=0)
    return prediction, confidence


def best_is_always_sure(lengths):
    return lengths.argmax(dim=1), torch.ones(len(lengths))


def present_digits(lengths):
    return (lengths > 0.5).nonzero().flatten().tolist()


def failing(capsys) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith("  fails")]


def test_solutions_are_right():
    assert teach.check("read-answer", read_answer)
    assert teach.check("present-digits", present_digits)


@pytest.mark.parametrize(
    ("answer", "statement"),
    [
        (softmax_on_lengths, "a sure network sounds sure"),
        (softmax_on_lengths, "a second digit does not change"),
        (shares_of_the_sum, "a second digit does not change"),
        (longest_picture_of_each_class, "the prediction is the class of the longest capsule"),
        (best_is_always_sure, "sees nothing it knows sounds unsure"),
    ],
)
def test_a_mistake_in_reading_fails_where_it_should(answer, statement, capsys):
    assert not teach.check("read-answer", answer)
    assert any(statement in line for line in failing(capsys))


@pytest.mark.parametrize(
    ("answer", "statement"),
    [
        (lambda lengths: [int(lengths.argmax())], "two long capsules"),
        (lambda lengths: lengths.topk(2).indices.tolist(), "one long capsule"),
        (lambda lengths: lengths.topk(2).indices.tolist(), "no long capsule"),
        (lambda lengths: (lengths.softmax(0) > 0.5).nonzero().flatten().tolist(), "one long capsule"),
    ],
)
def test_a_mistake_in_counting_digits_fails_where_it_should(answer, statement, capsys):
    assert not teach.check("present-digits", answer)
    assert any(statement in line for line in failing(capsys))
