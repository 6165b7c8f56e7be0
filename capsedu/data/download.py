"""Where files come from: a folder that the user names, the user's cache, a download."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from capsedu.errors import CapseduError
from capsedu.files import sha256


@dataclass(frozen=True)
class RemoteFile:
    """A file that several servers hold."""

    name: str
    sha256: str
    mirrors: tuple[str, ...]  # addresses of folders, each ending in /


def user_folder() -> Path | None:
    """The folder named by ``CAPSEDU_DATA``."""
    name = os.environ.get("CAPSEDU_DATA")
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise CapseduError(f"CAPSEDU_DATA names {folder}, which is not a folder")
    return folder


def cache_folder() -> Path:
    """Where downloads are kept: ``CAPSEDU_CACHE``, or the system's place for caches."""
    import pooch

    return Path(os.environ.get("CAPSEDU_CACHE") or pooch.os_cache("capsedu"))


def has_all(folder: Path, files: Sequence[RemoteFile]) -> bool:
    """Whether ``folder`` holds every file."""
    return all((folder / file.name).is_file() for file in files)


def check(folder: Path, files: Sequence[RemoteFile]) -> None:
    """Refuse files whose content is not what it should be."""
    for file in files:
        found = sha256(folder / file.name)
        if found != file.sha256:
            raise CapseduError(
                f"{folder / file.name} is damaged: its SHA-256 is {found[:12]}…, not {file.sha256[:12]}…"
            )


def download(files: Sequence[RemoteFile], folder: Path) -> None:
    """Fetch every file into ``folder`` from the first mirror that has it right, with a progress bar."""
    for file in files:
        _download_one(file, folder)


def _download_one(file: RemoteFile, folder: Path) -> None:
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    fetch = pooch.HTTPDownloader(progressbar=True, timeout=10)
    reasons = []
    for mirror in file.mirrors:
        try:
            pooch.retrieve(mirror + file.name, f"sha256:{file.sha256}", file.name, folder, downloader=fetch)
            return
        except (requests.RequestException, ValueError) as error:  # ValueError: wrong checksum
            wrong = isinstance(error, ValueError) and not isinstance(error, requests.RequestException)
            reasons.append(f"{mirror} " + ("sent a damaged file" if wrong else "did not answer"))
    raise CapseduError(f"{file.name} could not be downloaded: {'; '.join(reasons)}")
