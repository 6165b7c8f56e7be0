"""``python -m capsedu`` is the ``capsedu`` command."""

from capsedu.cli import app

app(prog_name="capsedu")
