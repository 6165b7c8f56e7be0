"""A model in, numbers out."""

__all__: list[str] = []
