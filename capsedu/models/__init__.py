"""Whole networks by name: ``create``, ``names`` and ``pretrained``."""

from capsedu.models.capsnet import CapsNet, CapsNetConfig, CapsNetOutput
from capsedu.models.cnn import CNN, CNNConfig, CNNOutput
from capsedu.models.matrixcaps import MatrixCapsNet, MatrixCapsNetConfig, MatrixCapsNetOutput
from capsedu.models.pretrained import load_weights, pretrained, save_weights
from capsedu.models.registry import create, names

__all__ = [
    "CNN",
    "CNNConfig",
    "CNNOutput",
    "CapsNet",
    "CapsNetConfig",
    "CapsNetOutput",
    "MatrixCapsNet",
    "MatrixCapsNetConfig",
    "MatrixCapsNetOutput",
    "create",
    "load_weights",
    "names",
    "pretrained",
    "save_weights",
]
