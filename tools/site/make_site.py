"""Build the site of the documentation: `make docs`, or `python tools/site/make_site.py --output out/site`.

The output is a folder that any server of files can serve: a folder for each version, a copy of the newest one as
`latest`, the list for the selector of versions, and a first page that leads to `latest`. Other versions in it stay, so a
site goes on from version to version. Any warning is an error: a broken link, a page that is not in the navigation.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parent.parent.parent
LATEST = "latest"
NEEDS_ADDRESS = ("404.html", "sitemap.xml", "sitemap.xml.gz")
"""What MkDocs writes that is of use only if it knows the address under which the site will be served."""

_FIRST = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>BrainSmith</title>
<meta http-equiv="refresh" content="0; url={LATEST}/">
<p><a href="{LATEST}/">The documentation of BrainSmith</a></p>
</html>
"""


class SiteError(Exception):
    """The pages of this checkout make no site."""


def folder_of(version: str) -> str:
    """Return the folder of a version: patches share the one of their minor version, `0.1` for 0.1.2."""
    parsed = Version(version)
    return f"{parsed.major}.{parsed.minor}"


def versions(site: Path) -> list[str]:
    """Return the folders of versions in a site, newest first."""
    return sorted((entry.name for entry in site.iterdir() if _is_version(entry)), key=Version, reverse=True)


def publish(made: Path, version: str, site: Path) -> None:
    """Put what was made of a version in its place in a site, and let `latest` be the newest version.

    Args:
        made: The folder of the version's pages; it is moved.
        version: The version, in full.
        site: The site, which may have other versions.
    """
    site.mkdir(parents=True, exist_ok=True)
    _replace(site / folder_of(version), made)
    found = versions(site)
    with TemporaryDirectory(dir=site, prefix=".copy-") as scratch:
        _replace(site / LATEST, Path(shutil.copytree(site / found[0], Path(scratch, LATEST))))
    listed = [
        {"version": name, "title": name, "aliases": [LATEST] if name == found[0] else []} for name in found
    ]
    (site / "versions.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    (site / "index.html").write_text(_FIRST, encoding="utf-8")
    # Some hosts leave out what begins with an underscore, unless this file is there.
    (site / ".nojekyll").touch()


def build(made: Path, url: str) -> None:
    """Build the pages of this checkout in a folder.

    Args:
        made: The folder, which is made.
        url: Where the site will be served, or nothing. With it pages state their canonical addresses, there is a page for
            addresses that do not exist, and the selector of versions leads to the same page of another version.

    Raises:
        SiteError: MkDocs has any warning; the message has what it printed.
    """
    if importlib.util.find_spec("mkdocs") is None:
        raise SiteError("MkDocs is not installed. Run `make docs`, which installs requirements/docs.txt")
    address = f"{url.rstrip('/')}/{made.name}/" if url else ""
    # Without the second variable the theme prints an advertisement at each start.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(made)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "SITE_URL": address, "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SiteError(f"MkDocs ended with exit code {done.returncode}\n{done.stdout.strip()}")
    if not url:
        for name in NEEDS_ADDRESS:
            (made / name).unlink()


def main(arguments: list[str] | None = None) -> int:
    """Build the site of this checkout's version; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--output", type=Path, default=ROOT / "out" / "site", help="the site; other versions in it stay"
    )
    parser.add_argument(
        "--url", default="", help="where the site will be served, such as https://docs.example.org/"
    )
    chosen = parser.parse_args(arguments)
    site = chosen.output.resolve()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    try:
        site.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=site, prefix=".new-") as scratch:
            made = Path(scratch, folder_of(version))
            build(made, chosen.url)
            publish(made, version, site)
    except (SiteError, OSError) as error:
        print(f"error: the site was not made: {error}", file=sys.stderr)
        return 1
    print(f"{site}: {', '.join(versions(site))}; to look at it: python -m http.server --directory {site}")
    return 0


def _is_version(entry: Path) -> bool:
    try:
        return folder_of(entry.name) == entry.name and (entry / "index.html").is_file()
    except InvalidVersion:
        return False


def _replace(place: Path, new: Path) -> None:
    """Move a folder to a place; what was there is removed when the new one is complete."""
    old = new.with_name(f"{new.name}.old")
    if place.exists():
        place.rename(old)
    new.rename(place)
    shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
