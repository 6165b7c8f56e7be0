"""Exercises of chapter 0: reading the answer of a capsule network."""

from collections.abc import Callable

import torch
from torch import Tensor

from capsedu.teach.exercise import exercise_property

LENGTHS = torch.tensor(
    [
        [0.03, 0.05, 0.95, 0.04, 0.02, 0.01, 0.06, 0.08, 0.07, 0.02],  # one digit, and sure of it
        [0.04, 0.91, 0.03, 0.06, 0.02, 0.05, 0.03, 0.88, 0.01, 0.02],  # two digits
        [0.12, 0.21, 0.18, 0.09, 0.16, 0.11, 0.08, 0.19, 0.24, 0.22],  # nothing that it knows
    ]
)  # (B, J)

ReadAnswer = Callable[[Tensor], tuple[Tensor, Tensor]]
PresentDigits = Callable[[Tensor], list[int]]


@exercise_property("read-answer", "the prediction is the class of the longest capsule, one for each picture")
def predicts_the_longest(answer: ReadAnswer) -> str | None:
    predictions = torch.as_tensor(answer(LENGTHS)[0])
    if predictions.shape != (3,):
        return f"3 pictures with 10 lengths each gave predictions of shape {tuple(predictions.shape)}"
    wrong = [row for row in range(3) if LENGTHS[row, int(predictions[row])] < LENGTHS[row].max()]
    return (
        f"picture {wrong[0]} has a longer capsule than number {int(predictions[wrong[0]])}" if wrong else None
    )


@exercise_property("read-answer", "a sure network sounds sure: a clear digit has a confidence above 0.9")
def stays_sure(answer: ReadAnswer) -> str | None:
    confidence = float(torch.as_tensor(answer(LENGTHS[:1])[1]).max())
    return None if confidence > 0.9 else f"a capsule of length 0.95 beside short ones became {confidence:.2f}"


@exercise_property("read-answer", "a second digit does not change the confidence in the first")
def judges_each_class_alone(answer: ReadAnswer) -> str | None:
    alone = torch.tensor([[0.02, 0.90, 0.04]])
    together = torch.tensor([[0.02, 0.90, 0.88]])
    before, after = (float(torch.as_tensor(answer(lengths)[1]).max()) for lengths in (alone, together))
    if abs(before - after) < 1e-6:
        return None
    return f"class 1 keeps its length, but its confidence went from {before:.2f} to {after:.2f}"


@exercise_property("read-answer", "a network that sees nothing it knows sounds unsure")
def admits_doubt(answer: ReadAnswer) -> str | None:
    confidence = float(torch.as_tensor(answer(LENGTHS[2:])[1]).max())
    return None if confidence < 0.3 else f"ten short capsules, the longest 0.24, became {confidence:.2f}"


@exercise_property("present-digits", "one long capsule: one digit")
def finds_one(answer: PresentDigits) -> str | None:
    return _unlike(answer, LENGTHS[0], [2])


@exercise_property("present-digits", "two long capsules: two digits")
def finds_two(answer: PresentDigits) -> str | None:
    return _unlike(answer, LENGTHS[1], [1, 7])


@exercise_property("present-digits", "no long capsule: no digit")
def finds_none(answer: PresentDigits) -> str | None:
    return _unlike(answer, LENGTHS[2], [])


def _unlike(answer: PresentDigits, lengths: Tensor, wanted: list[int]) -> str | None:
    found = [int(digit) for digit in answer(lengths)]
    if sorted(found) == wanted:
        return None
    rounded = [round(length, 2) for length in lengths.tolist()]
    return f"from {rounded} came {found}"
