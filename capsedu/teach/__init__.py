"""What a learner needs beside the package: profiles and checked exercises."""

from capsedu.teach.exercise import check
from capsedu.teach.profile import pick

__all__ = ["check", "pick"]
