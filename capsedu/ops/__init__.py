"""Pure functions on tensors: no parameters, any device, any floating dtype."""

from capsedu.ops.routing import RoutingResult, RoutingTrace, dynamic_routing
from capsedu.ops.routing_fast import predict_and_route
from capsedu.ops.squash import squash

__all__ = ["RoutingResult", "RoutingTrace", "dynamic_routing", "predict_and_route", "squash"]
