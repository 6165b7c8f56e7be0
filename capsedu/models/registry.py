"""Models by name: a decorator puts a builder in the table, ``create`` calls it."""

from collections.abc import Callable

from torch import nn

from capsedu.errors import unknown_name

Builder = Callable[..., nn.Module]
_builders: dict[str, Builder] = {}


def register(name: str) -> Callable[[Builder], Builder]:
    """Decorate a function ``(**overrides) -> model`` to make it known as ``name``."""

    def add(builder: Builder) -> Builder:
        _builders[name] = builder
        return builder

    return add


def names() -> list[str]:
    """The names that :func:`create` knows."""
    return sorted(_builders)


def create(name: str, **overrides: object) -> nn.Module:
    """Build a model with fresh weights.

    Args:
        name: one of :func:`names`.
        **overrides: fields of the model's config to change.

    Example:
        >>> create("capsnet-mnist", iterations=1).config.iterations
        1
    """
    if name not in _builders:
        raise unknown_name("model", name, _builders)
    model = _builders[name](**overrides)
    return model
