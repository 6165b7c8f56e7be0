"""A model in, numbers out."""

from capsedu.analysis.squash import length_before_squash, squash_gains

__all__ = ["length_before_squash", "squash_gains"]
