"""Pure functions on tensors: no parameters, any device, any floating dtype."""

from capsedu.ops.coordinates import coordinate_addition
from capsedu.ops.em import EMResult, EMTrace, Gaussians, em_routing, votes_on_grid
from capsedu.ops.em_fast import vote_and_route
from capsedu.ops.neighbourhood import Neighbourhood
from capsedu.ops.routing import RoutingResult, RoutingTrace, dynamic_routing
from capsedu.ops.routing_fast import predict_and_route
from capsedu.ops.squash import squash

__all__ = [
    "EMResult",
    "EMTrace",
    "Gaussians",
    "Neighbourhood",
    "RoutingResult",
    "RoutingTrace",
    "coordinate_addition",
    "dynamic_routing",
    "em_routing",
    "predict_and_route",
    "squash",
    "vote_and_route",
    "votes_on_grid",
]
