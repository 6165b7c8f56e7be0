"""Figures on convergence show the numbers they are given, and say so in words."""

import numpy as np
import pytest
import torch

from capsedu import plots
from capsedu.plots.convergence import true_and_other
from capsedu.plots.figure import figure_bytes


def curves(axes):
    return [np.asarray(line.get_ydata()) for line in axes.lines]


def drawn(figure, name):
    assert figure.get_label() == name
    assert figure_bytes(figure, "png").startswith(b"\x89PNG")
    assert len(figure.alt_text) > 80
    return figure


def test_coupling_maps_put_children_of_one_parent_together():
    hard = torch.eye(3)[[2, 0, 1, 0]]
    couplings = {1: torch.full((4, 3), 1 / 3), 9: hard}
    outputs = {1: torch.full((3, 2), 0.1), 9: torch.tensor([[0.9, 0.0], [0.0, 0.6], [0.0, 0.1]])}
    figure = drawn(plots.coupling_maps(torch.zeros(1, 28, 28), couplings, outputs), "coupling-maps")
    shown = np.asarray(figure.axes[2].images[0].get_array())
    assert shown.argmax(axis=1).tolist() == [0, 0, 1, 2]
    assert "r = 9: the largest coupling is 1.00, and 2 of 3 outputs are longer than 0.5" in figure.alt_text


def test_changes_are_drawn_on_a_log_scale_from_iteration_two():
    changes = {"logits": torch.tensor([0.1, 0.2, 0.4]), "outputs": torch.tensor([0.3, 0.03, 0.003])}
    figure = drawn(plots.routing_changes(changes), "routing-changes")
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    assert axes.lines[0].get_xdata().tolist() == [2, 3, 4]
    assert np.allclose(curves(axes)[1], changes["outputs"])
    assert "outputs: from 0.3 to 0.003" in figure.alt_text


def test_changes_in_training_have_a_line_an_iteration_and_a_line_a_network():
    changes = {1: torch.tensor([0.1, 0.2]), 10: torch.tensor([0.3, 0.5])}
    figure = drawn(plots.changes_in_training(changes, {"trained": changes[10]}), "changes-in-training")
    left, right = figure.axes
    assert [curve.tolist() for curve in curves(left)] == [
        pytest.approx([0.1, 0.3]),
        pytest.approx([0.2, 0.5]),
    ]
    assert right.get_yscale() == "log"
    assert "goes from 0.2 to 0.5" in figure.alt_text


def test_entropy_figure_shows_mean_and_spread():
    entropies = [torch.ones(2, 5), torch.linspace(0, 1, 10).view(2, 5)]
    figure = drawn(plots.entropy_by_iteration(entropies), "entropy-by-iteration")
    assert np.allclose(curves(figure.axes[0])[0], [1.0, 0.5])
    assert "below 0.100, another tenth above 0.900" in figure.alt_text


def test_true_class_and_longest_other():
    lengths = torch.tensor([[0.9, 0.2, 0.3], [0.8, 0.1, 0.0]])
    true, other = true_and_other(lengths, torch.tensor([0, 1]))
    assert true.tolist() == pytest.approx([0.9, 0.1])
    assert other.tolist() == pytest.approx([0.3, 0.8])


def test_lengths_figure_shows_both_means():
    lengths = {1: torch.tensor([[0.4, 0.1], [0.2, 0.6]]), 3: torch.tensor([[0.9, 0.2], [0.4, 0.8]])}
    figure = drawn(plots.lengths_by_iterations(lengths, torch.tensor([0, 1])), "lengths-by-iterations")
    true, other = curves(figure.axes[0])[:2]
    assert np.allclose(true, [0.5, 0.85])
    assert np.allclose(other, [0.15, 0.3])
    assert "3: 0.85 and 0.30" in figure.alt_text


def test_cost_figure_reads_the_benchmark_file():
    routing = {
        "iterations": [1, 3],
        "plain": {"seconds": [0.2, 0.6], "megabytes": [300.0, 900.0]},
        "sliced": {"seconds": [0.1, 0.2], "megabytes": [50.0, 60.0]},
    }
    figure = drawn(plots.routing_cost(routing, batch=128), "routing-cost")
    seconds, megabytes = figure.axes
    assert curves(seconds)[0].tolist() == [0.2, 0.6]
    assert curves(megabytes)[1].tolist() == [50.0, 60.0]
    assert "128 images" in seconds.get_ylabel()
    assert "votes remade: 0.10 to 0.20 seconds, 50 to 60 megabytes" in figure.alt_text


def test_long_run_has_a_panel_a_quantity():
    quantities = {name: torch.arange(1.0, 6.0) * scale for name, scale in (("a", 1), ("b", 10))}
    quantities["c"] = torch.arange(2.0, 6.0)
    figure = drawn(plots.long_run(quantities), "long-run")
    panels = [axes for axes in figure.axes if axes.lines]
    assert [axes.get_title() for axes in panels] == ["a", "b", "c"]
    assert curves(panels[1])[0].tolist() == [10, 20, 30, 40, 50]
    assert panels[2].lines[0].get_xdata().tolist() == [2, 3, 4, 5]
    assert "b: from 10 to 50" in figure.alt_text
