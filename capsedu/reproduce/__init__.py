"""The papers' tables, run again: each row trains, is measured, and is kept, so that a stop costs one row."""

from capsedu.reproduce.smallnorb import reproduce_smallnorb
from capsedu.reproduce.viewpoint import reproduce_viewpoint

__all__ = ["reproduce_smallnorb", "reproduce_viewpoint"]
