"""A model in, numbers out."""

from capsedu.analysis.convergence import (
    coupling_entropy,
    lengths_by_iterations,
    mean_change,
    reroute,
    routing_objective,
)
from capsedu.analysis.dimensions import (
    STEPS,
    capsule_tracks,
    class_capsules,
    correlations,
    largest_share,
    mean_cosine,
    track_correlations,
    track_slopes,
)
from capsedu.analysis.em import log_likelihood, route_without_positions
from capsedu.analysis.faces import draw_face, part_patch, random_pictures
from capsedu.analysis.graphics import PoseFit, fit_poses, picture_distance, table_pose, turn_error
from capsedu.analysis.matrixcaps import (
    handed_out,
    kept_for_backward,
    parent_counts,
    parent_positions,
    vote_counts,
)
from capsedu.analysis.perturbation import OFFSETS, interpolate, masked, perturb
from capsedu.analysis.pooling import bag_of_parts, share_called_face, share_when_moved, train_on_faces
from capsedu.analysis.poses import (
    Drift,
    clustered_votes,
    layer_drift,
    network_votes,
    pose_drift,
    route_poses,
    route_with_round_gaussians,
    view_matrix,
    vote_distances,
)
from capsedu.analysis.squash import length_before_squash, squash_gains
from capsedu.analysis.strokes import FACTORS, LARGEST_CHANGE, change_strokes, measure_strokes

__all__ = [
    "FACTORS",
    "LARGEST_CHANGE",
    "OFFSETS",
    "STEPS",
    "Drift",
    "PoseFit",
    "bag_of_parts",
    "capsule_tracks",
    "change_strokes",
    "class_capsules",
    "clustered_votes",
    "correlations",
    "coupling_entropy",
    "draw_face",
    "fit_poses",
    "handed_out",
    "interpolate",
    "kept_for_backward",
    "largest_share",
    "layer_drift",
    "length_before_squash",
    "lengths_by_iterations",
    "log_likelihood",
    "masked",
    "mean_change",
    "mean_cosine",
    "measure_strokes",
    "network_votes",
    "parent_counts",
    "parent_positions",
    "part_patch",
    "perturb",
    "picture_distance",
    "pose_drift",
    "random_pictures",
    "reroute",
    "route_poses",
    "route_with_round_gaussians",
    "route_without_positions",
    "routing_objective",
    "share_called_face",
    "share_when_moved",
    "squash_gains",
    "table_pose",
    "track_correlations",
    "track_slopes",
    "train_on_faces",
    "turn_error",
    "view_matrix",
    "vote_counts",
    "vote_distances",
]
