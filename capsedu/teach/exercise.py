"""Checked exercises: an answer in, a line for each property that holds or fails."""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

from capsedu.errors import unknown_name

Property = Callable[[Any], str | None]  # None when it holds, else a small counter-example in words
_exercises: dict[str, dict[str, Property]] = {}


def exercise_property(exercise: str, statement: str) -> Callable[[Property], Property]:
    """Decorate a function that tests one property of an answer.

    It returns None when the property holds, else a counter-example in words. It never shows the answer.
    """

    def add(test: Property) -> Property:
        _exercises.setdefault(exercise, {})[statement] = test
        return test

    return add


def exercises() -> list[str]:
    """The names of all exercises."""
    _load_all()
    return sorted(_exercises)


def check(exercise: str, answer: Any) -> bool:
    """Test an answer and print what holds and what does not. Returns whether all of it holds.

    Example:
        >>> check("squash", lambda s: s)  # doctest: +SKIP
        squash: not yet
          fails  the length stays below 1: ...
    """
    _load_all()
    if exercise not in _exercises:
        raise unknown_name("exercise", exercise, _exercises)
    if answer is None or answer is ...:
        print(f"{exercise}: no answer yet")
        return False
    problems = {statement: _problem(test, answer) for statement, test in _exercises[exercise].items()}
    right = not any(problems.values())
    print(f"{exercise}: {'right' if right else 'not yet'}")
    for statement, problem in problems.items():
        print(f"  fails  {statement}: {problem}" if problem else f"  holds  {statement}")
    return right


def _problem(test: Property, answer: Any) -> str | None:
    """What is wrong with the answer. An answer that raises is wrong, not a reason to stop the notebook."""
    try:
        return test(answer)
    except NotImplementedError:
        return "nothing written yet"
    except Exception as error:  # the learner's code may raise anything
        return f"your code raised {type(error).__name__}: {error}"


def _load_all() -> None:
    from capsedu.teach import checks

    for module in pkgutil.iter_modules(checks.__path__):
        importlib.import_module(f"{checks.__name__}.{module.name}")
