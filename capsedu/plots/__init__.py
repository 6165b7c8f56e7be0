"""Numbers in, a matplotlib figure with alt text out."""

from capsedu.plots.digits import class_answers, digit_grid
from capsedu.plots.figure import describe, new_figure, show
from capsedu.plots.routing import (
    boat_house_votes,
    draw_votes,
    routing_steps,
    softmax_directions,
    vote_clusters,
)
from capsedu.plots.squash import (
    capsule_as_arrow,
    squash_comparison,
    squash_curve,
    squash_field,
    squash_gradient,
    squash_inputs,
    squash_vectors,
)

__all__ = [
    "boat_house_votes",
    "capsule_as_arrow",
    "class_answers",
    "describe",
    "digit_grid",
    "draw_votes",
    "new_figure",
    "routing_steps",
    "show",
    "softmax_directions",
    "squash_comparison",
    "squash_curve",
    "squash_field",
    "squash_gradient",
    "squash_inputs",
    "squash_vectors",
    "vote_clusters",
]
