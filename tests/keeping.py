"""What costs much and depends on known content is kept in the checkout, from one run of the tests to the next."""

import contextlib
import hashlib
import os
import shutil
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".kept"
MAKERS = {"rtl": "rtl/simulation", "hls": "hls", "synthesis": "rtl/synthesis", "ops": "autodiff/compiling"}
"""The parts of a cache that are kept, and the package that makes what is in each."""

RECORDERS = {"imports": "plugin/adapters"}
"""What tests themselves write down and keep, and the package that it depends on."""

UNUSED = 3600.0
"""Seconds after which the folder of sources that were edited since is removed."""


def kept_folders(folder: Path = FOLDER, package: Path = ROOT / "brainsmith") -> dict[str, Path]:
    """Return the folder of each part, made if need be.

    The folder that it lies in is named after the sources of the package that fills it: a test of edited sources never
    sees what the former ones made. Its own name is the part's, because the store goes by it for how much it keeps:
    under another name it keeps less than the tests make in one run.
    """
    makers = MAKERS | RECORDERS
    made_of = {part: folder / f"{part}-{digest(package / maker)}" for part, maker in makers.items()}
    for part, path in made_of.items():
        for place in (folder, path, path / part):
            place.mkdir(mode=0o700, exist_ok=True)
        os.utime(path)
    for path in set(folder.iterdir()) - set(made_of.values()):
        with contextlib.suppress(FileNotFoundError):  # another worker removes it
            if time.time() - path.stat().st_mtime > UNUSED:
                shutil.rmtree(path, ignore_errors=True)
    return {part: path / part for part, path in made_of.items()}


def digest(package: Path, pattern: str = "*") -> str:
    """Return what stands for the sources of a package, or for those whose names match."""
    content = hashlib.blake2b(digest_size=8)
    for path in sorted(package.rglob(pattern)):
        if path.is_file() and path.suffix != ".pyc":
            data = path.read_bytes()
            content.update(f"{path.relative_to(package)}\0{len(data)}\0".encode() + data)
    return content.hexdigest()
