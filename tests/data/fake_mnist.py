"""Files in MNIST's format with few images, and a server of our own to download them from."""

import gzip
import hashlib
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import torch
from torch import Tensor

from capsedu.data.download import RemoteFile


def idx_bytes(numbers: Tensor) -> bytes:
    """A gzipped IDX file: two zero bytes, 8 for unsigned bytes, dimensions, sizes, then the numbers."""
    header = struct.pack(f">HBB{numbers.ndim}I", 0, 8, numbers.ndim, *numbers.shape)
    return gzip.compress(header + numbers.to(torch.uint8).numpy().tobytes(), mtime=0)


@dataclass(frozen=True)
class FakeMNIST:
    """The four files as bytes, by name, and what they hold."""

    train_images: Tensor
    train_labels: Tensor
    test_images: Tensor
    test_labels: Tensor

    @property
    def contents(self) -> dict[str, bytes]:
        return {
            "train-images-idx3-ubyte.gz": idx_bytes(self.train_images),
            "train-labels-idx1-ubyte.gz": idx_bytes(self.train_labels),
            "t10k-images-idx3-ubyte.gz": idx_bytes(self.test_images),
            "t10k-labels-idx1-ubyte.gz": idx_bytes(self.test_labels),
        }

    def remote_files(self, *mirrors: str) -> tuple[RemoteFile, ...]:
        return tuple(
            RemoteFile(name, hashlib.sha256(content).hexdigest(), mirrors)
            for name, content in self.contents.items()
        )

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.contents.items():
            (folder / name).write_bytes(content)
        return folder


@contextmanager
def serving(folders: dict[str, dict[str, bytes]]) -> Iterator[tuple[str, list[str]]]:
    """Serve ``folders[folder][name]`` on this machine; yields the address and the list of paths asked for.

    A folder named ``cut`` breaks off in the middle of a file.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            folder, _, name = self.path.removeprefix("/").partition("/")
            content = folders.get(folder, {}).get(name)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if folder == "cut" else content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", asked
        finally:
            server.shutdown()
            thread.join()
