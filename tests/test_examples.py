"""The examples in the docstrings do what they say."""

import doctest
import importlib
import pkgutil

import pytest
import torch

import capsedu

MODULES = [
    found.name
    for found in pkgutil.walk_packages(capsedu.__path__, "capsedu.")
    if not found.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_module_run(name):
    results = doctest.testmod(importlib.import_module(name), extraglobs={"torch": torch})
    assert results.failed == 0


def test_there_are_examples():
    found = doctest.DocTestFinder().find(capsedu.ops.squash)
    assert any(test.examples for test in found)
