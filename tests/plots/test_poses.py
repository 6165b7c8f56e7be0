"""Figures on poses show the numbers they are given, and say so in words."""

import numpy as np
import torch

from capsedu import analysis, plots
from capsedu.plots.figure import figure_bytes
from capsedu.render import Camera, make_toy, translate

CAMERA = Camera(elevation=30.0, azimuth=torch.tensor([0.0, 90.0]))


def drawn(figure, name):
    assert figure.get_label() == name
    assert figure_bytes(figure, "png").startswith(b"\x89PNG")
    assert len(figure.alt_text) > 80
    return figure


def toy_parts():
    parts = make_toy("airplane", 1).poses[0].double()
    return parts, analysis.view_matrix(CAMERA)[:, None]


def test_axes_start_at_the_centre_of_their_part():
    parts, views = toy_parts()
    poses = views @ parts[:2]
    figure = plots.pose_axes(torch.zeros(2, 1, 48, 48), poses, CAMERA, ["body", "wing"], ["front", "side"])
    drawn(figure, "pose-axes")
    lines = figure.axes[0].lines  # a dot and three axes for each part
    for part in range(2):
        dot, *axes = lines[4 * part : 4 * part + 4]
        assert all(axis.get_xydata()[0].tolist() == dot.get_xydata()[0].tolist() for axis in axes)
    assert "the three axes of body and wing" in figure.alt_text


def test_stray_votes_are_dashed_and_counted():
    parts, views = toy_parts()
    weight = torch.linalg.inv(parts)
    moved = parts.clone()
    moved[2] = translate([0.5, 0.0, 0.3]).double() @ parts[2]
    votes = torch.stack([views @ parts @ weight, views @ moved @ weight])
    figure = plots.toy_votes(torch.zeros(2, 2, 1, 48, 48), votes, CAMERA, ["intact", "jumbled"], ["a", "b"])
    drawn(figure, "toy-votes")
    dashed = [sum(line.get_linestyle() == "--" for line in axes.lines) for axes in figure.axes]
    assert dashed == [0, 0, 2, 2]  # two arrows a vote
    assert "intact: 9 votes, of which 0 lie apart" in figure.alt_text
    assert "jumbled: 9 votes, of which 1 lies apart" in figure.alt_text


def test_drift_by_angle_has_a_line_for_each_number_of_iterations():
    angles = torch.tensor([0.0, 45.0, 90.0])
    poses = {1: torch.zeros(3), 3: torch.tensor([0.0, 0.4, 0.0])}
    activations = {1: torch.tensor([0.0, 0.01, 0.0]), 3: torch.tensor([0.0, 0.02, 0.0])}
    figure = drawn(plots.drift_by_angle(angles, poses, activations), "drift-by-angle")
    left, right = figure.axes
    assert np.allclose(left.lines[1].get_ydata(), poses[3])
    assert np.allclose(right.lines[0].get_ydata(), activations[1])
    assert "3 iterations: at most 0.4 for poses, 0.02 for activations" in figure.alt_text


def test_drift_by_spread_shows_median_and_share():
    drifts = {2: torch.tensor([[0.0, 0.002, 0.1, 0.3], [0.2, 0.2, 0.2, 0.2]])}
    figure = drawn(plots.drift_by_spread([0.1, 1.0], drifts, 30.0), "drift-by-spread")
    left, right = figure.axes
    assert np.allclose(left.lines[0].get_ydata(), drifts[2].median(dim=1).values)
    assert np.allclose(right.lines[0].get_ydata(), [0.5, 1.0])
    assert left.get_xscale() == "log"
    assert "a share of 0.5 at spread 0.1" in figure.alt_text


def test_vote_matrices_count_what_is_not_zero():
    block = torch.kron(torch.eye(4), torch.ones(4, 4))
    figure = drawn(plots.vote_matrices(block, torch.ones(16, 16)), "vote-matrices")
    assert np.allclose(figure.axes[0].images[0].get_array(), block)
    assert "64 entries are not zero" in figure.alt_text
    assert "256 entries are not zero" in figure.alt_text


def test_votes_by_azimuth_draws_each_way_to_vote():
    spreads = {"W M": torch.tensor([0.0, 3.0]), "M W": torch.zeros(2)}
    figure = drawn(plots.votes_by_azimuth(torch.tensor([0, 90]), spreads), "votes-by-azimuth")
    assert [line.get_ydata().tolist() for line in figure.axes[0].lines] == [[0, 3], [0, 0]]
    assert "W M: 0 at 0 degrees, at most 3" in figure.alt_text
