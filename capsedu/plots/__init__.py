"""Numbers in, a matplotlib figure with alt text out."""

from capsedu.plots.capsnet import capsnet_diagram, capsule_grouping
from capsedu.plots.convergence import (
    changes_in_training,
    coupling_maps,
    entropy_by_iteration,
    lengths_by_iterations,
    long_run,
    routing_changes,
    routing_cost,
)
from capsedu.plots.digits import class_answers, digit_grid, overlap_answers
from capsedu.plots.em import (
    activation_by_children,
    description_cost,
    em_steps,
    mean_by_activation,
    mixture_frames,
    vote_planes,
)
from capsedu.plots.figure import describe, new_figure, show
from capsedu.plots.losses import loss_curves, loss_shares, margin_loss_curves
from capsedu.plots.matrixcaps import (
    child_reach,
    coordinate_addition_drawing,
    handed_out_maps,
    matrixcaps_diagram,
    parent_reach,
    spread_loss_curves,
    vote_costs,
)
from capsedu.plots.perturbation import (
    blend_lengths,
    capsule_sliders,
    heat_maps,
    perturbation_grid,
    perturbation_grids,
)
from capsedu.plots.pooling import detector_maps, moved_curves, number_lists
from capsedu.plots.routing import (
    boat_house_votes,
    draw_votes,
    lengths_in_company,
    outlier_couplings,
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
    "activation_by_children",
    "blend_lengths",
    "boat_house_votes",
    "capsnet_diagram",
    "capsule_as_arrow",
    "capsule_grouping",
    "capsule_sliders",
    "changes_in_training",
    "child_reach",
    "class_answers",
    "coordinate_addition_drawing",
    "coupling_maps",
    "describe",
    "description_cost",
    "detector_maps",
    "digit_grid",
    "draw_votes",
    "em_steps",
    "entropy_by_iteration",
    "handed_out_maps",
    "heat_maps",
    "lengths_by_iterations",
    "lengths_in_company",
    "long_run",
    "loss_curves",
    "loss_shares",
    "margin_loss_curves",
    "matrixcaps_diagram",
    "mean_by_activation",
    "mixture_frames",
    "moved_curves",
    "new_figure",
    "number_lists",
    "outlier_couplings",
    "overlap_answers",
    "parent_reach",
    "perturbation_grid",
    "perturbation_grids",
    "routing_changes",
    "routing_cost",
    "routing_steps",
    "show",
    "softmax_directions",
    "spread_loss_curves",
    "squash_comparison",
    "squash_curve",
    "squash_field",
    "squash_gradient",
    "squash_inputs",
    "squash_vectors",
    "vote_clusters",
    "vote_costs",
    "vote_planes",
]
