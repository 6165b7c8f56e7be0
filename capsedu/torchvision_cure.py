"""Import torchvision on machines where its compiled operators do not fit the installed torch.

The pinned torchvision beside a CPU-only torch fails with "operator torchvision::nms does not exist". Nothing
here uses that operator: declaring it is enough. Where torchvision imports as it is, nothing is done.
"""

import importlib
import sys
from types import ModuleType

import torch

_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_declared: list[torch.library.Library] = []  # kept alive: a collected library takes its operators along


def import_torchvision() -> ModuleType:
    """``import torchvision``, with the missing operators declared if need be."""
    try:
        return importlib.import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]  # half imported
    library = torch.library.Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        library.define(operator + _SCHEMA)
    _declared.append(library)
    return importlib.import_module("torchvision")
