"""What a build was made of, and what it made, by SHA-256: `provenance.json`, an in-toto statement in SLSA's form.

The statement (https://in-toto.io/Statement/v1) names each file of the output folder as a subject; its predicate
(https://slsa.dev/provenance/v1) has the blueprint, and what the build read. It holds neither a time nor the name of the
output folder, so that two builds that made the same of the same say the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from brainsmith import __version__
from brainsmith.build.messages import LOG
from brainsmith.errors import BuildError
from brainsmith.plugin.distributions import (
    InfoFolder,
    distribution_key,
    installed,
    metadata,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

FILE = "provenance.json"
"""Where the statement lies in the output folder."""

STATEMENT, PREDICATE = "https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"
BUILD_TYPE, BUILDER = "urn:brainsmith:build:v1", "urn:brainsmith:builder"

_NOT_MADE = frozenset((FILE, LOG, ".build.json"))
"""Files of the output folder that are no result: the statement itself, what was printed, which entries are a build's."""

_PART = 1 << 15
"""The bytes of a file that are read at once: most are smaller, and to get more memory takes longer than to read them."""

_RECORDED = ("METADATA", "WHEEL")
"""What of a distribution's own folder is the same wherever it is installed."""


@dataclass(frozen=True)
class BuildInputs:
    """What a build was made of.

    Attributes:
        parameters: What the blueprint states, and how far the build went, as plain values.
        model: What was built, with all weights, as ONNX.
        files: Those that it read: what each is, and its path.
        packages: The names of distributions.
        tools: The names of programs.
        plugins: Of each plugin that it used, `reference`, `version` and the file (`origin`, up to a colon).
    """

    parameters: Mapping[str, Any]
    model: bytes
    files: Iterable[tuple[str, str]]
    packages: Iterable[str]
    tools: Iterable[str]
    plugins: Iterable[Mapping[str, str]]


@dataclass(frozen=True)
class CheckedFolder:
    """A folder beside the statement of the build that made it.

    Attributes:
        same: How many files are as they were made.
        changed: Files that are not.
        missing: Files that are gone.
        new: Files that the build did not make.
    """

    same: int
    changed: tuple[str, ...]
    missing: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all that the build made is there, and as it was made."""
        return not self.changed and not self.missing


def write_provenance(folder: Path, inputs: BuildInputs) -> None:
    """State what is in an output folder, and what it was made of.

    Args:
        folder: With all that the build made, as it stays.
        inputs: Of the build.
    """
    subjects = [{"name": name, "digest": _sha256(f"{folder}{os.sep}{name}")} for name in _made(folder)]
    statement = {
        "_type": STATEMENT,
        "subject": subjects,
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": dict(inputs.parameters),
                "internalParameters": {},
                "resolvedDependencies": list(_dependencies(inputs)),
            },
            "runDetails": {"builder": {"id": BUILDER, "version": {"brainsmith": __version__}}},
        },
    }
    (folder / FILE).write_text(json.dumps(statement, indent=1, default=str) + "\n", "utf-8")


def check_provenance(folder: Path, file: Path | None = None) -> CheckedFolder:
    """Compare a folder with the statement of the build that made it.

    Args:
        folder: An output folder, or one of the folders in it, such as `accelerator`, which may have been moved.
        file: The statement; the folder's own, or else that of the folder above, if it is None.

    Raises:
        BuildError: There is no such folder or statement, or it is damaged, or says nothing of such a folder.
    """
    file, beside = statement_of(folder, file), folder / FILE
    stated = _subjects(file)
    there = frozenset(_made(folder))
    inside = "" if file.absolute() == beside.absolute() else _which(there, stated)
    if inside is None:
        raise BuildError(f"{file} says nothing of {folder}: none of the files that it names is there")
    stated = {name.removeprefix(inside): digest for name, digest in stated.items() if name.startswith(inside)}
    try:
        changed = [
            name for name in stated if name in there and _sha256(folder / name)["sha256"] != stated[name]
        ]
    except OSError as error:
        raise BuildError(f"{error.filename} cannot be read: {error.strerror}") from error
    missing = [name for name in stated if name not in there]
    new = sorted(there.difference(stated))
    same = len(stated) - len(changed) - len(missing)
    return CheckedFolder(same, tuple(changed), tuple(missing), tuple(new))


def statement_of(folder: Path, file: Path | None = None) -> Path:
    """Return where the statement of a build lies: the file that is named, or else in its folder, or in the folder above.

    Raises:
        BuildError: There is no such folder.
    """
    if not folder.is_dir():
        raise BuildError(f"{folder} is no folder")
    beside = folder / FILE
    return (beside if beside.is_file() else folder.absolute().parent / FILE) if file is None else file


def _which(there: Collection[str], stated: Iterable[str]) -> str | None:
    """Return below which folder of a build's, which may have another name now, most files are named as they are here.

    Args:
        there: Names of files.
        stated: Those of the build.
    """
    found = Counter[str]()
    for name in stated:
        parts = name.split("/")
        for depth in range(len(parts)):
            if "/".join(parts[depth:]) in there:
                found["".join(f"{part}/" for part in parts[:depth])] += 1
    return max(found, key=lambda inside: (found[inside], -len(inside)), default=None)


def _made(folder: Path) -> Iterator[str]:
    """Yield the files of an output folder, in order: links to files count with what they lead to."""
    top = os.path.join(folder, "")  # noqa: PTH118  (a Path takes as long as reading a file)
    found = [os.path.join(here, name)[len(top) :] for here, _, names in os.walk(top) for name in names]  # noqa: PTH118
    for name in sorted(found, key=lambda name: name.split("/")):
        if name not in _NOT_MADE and os.path.isfile(top + name):  # noqa: PTH113
            yield name


def _sha256(path: str | Path) -> dict[str, str]:
    whole = hashlib.sha256()
    with open(path, "rb", 0) as stream:  # noqa: PTH123  (that of a Path takes longer)
        while part := stream.read(_PART):
            whole.update(part)
    return {"sha256": whole.hexdigest()}


def _subjects(file: Path) -> dict[str, str]:
    """Return what a statement says of files: their digests, by name.

    Raises:
        BuildError: It cannot be read, or is no statement of a build.
    """
    return {str(one["name"]): str(one["digest"]["sha256"]) for one in read_statement(file)["subject"]}


def read_statement(file: Path) -> dict[str, Any]:
    """Read the statement of a build.

    Raises:
        BuildError: It cannot be read, or is no statement of a build.
    """
    try:
        statement = json.loads(file.read_text("utf-8"))
    except FileNotFoundError as error:
        raise BuildError(
            f"there is no {file}\n  builds write it into their output folder; --provenance FILE names one elsewhere"
        ) from error
    except OSError as error:
        raise BuildError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BuildError(f"{file} is damaged: {error}") from error
    try:
        if (statement["_type"], statement["predicateType"]) != (STATEMENT, PREDICATE):
            raise KeyError
        found = [one["name"] for one in statement["subject"]]
        described = statement["predicate"]
        texts = [*found, *(one["digest"]["sha256"] for one in statement["subject"])]
        for one in described["buildDefinition"]["resolvedDependencies"]:
            about = one.get("annotations", {})
            texts += [one["name"] or None, one.get("digest", {}).get("sha256", "")]
            texts += [about.get("used as", ""), about.get("version", "")]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError
        described["runDetails"]["builder"].get("version", {}).get("brainsmith")
    except (KeyError, TypeError, AttributeError) as error:
        raise BuildError(
            f"{file} is no statement of a build: it must be {STATEMENT} with {PREDICATE}"
        ) from error
    outside = [name for name in found if PurePosixPath(name).is_absolute() or ".." in name.split("/")]
    if outside:
        raise BuildError(f"{file} names {outside[0]!r}, which is outside of a build's folder")
    return dict(statement)


def _dependencies(inputs: BuildInputs) -> Iterator[dict[str, Any]]:
    """Yield the descriptors of what was read, of plugins and of packages."""
    model = {"sha256": hashlib.sha256(inputs.model).hexdigest()}
    yield {"name": "model", "digest": model, "annotations": {"used as": "model with its weights"}}
    for what, path in inputs.files:
        if Path(path).is_file():
            yield {"name": Path(path).name, "digest": _sha256(Path(path)), "annotations": {"used as": what}}
    for plugin in sorted(inputs.plugins, key=lambda one: one["reference"]):
        file = Path(plugin["origin"].rpartition(":")[0])
        digest = {"digest": _sha256(file)} if file.is_file() else {}
        about = {"used as": "plugin", "version": plugin["version"]}
        yield {"name": plugin["reference"], **digest, "annotations": about}
    found = installed()
    for name in sorted(inputs.packages):
        if distribution_key(name) in found:
            yield _package(found[distribution_key(name)])
    for name in sorted(inputs.tools):
        if place := shutil.which(name):
            yield {"name": name, "digest": _sha256(Path(place)), "annotations": {"used as": "tool"}}
    about = {"used as": "interpreter", "version": platform.python_version()}
    yield {"name": "python", "digest": _sha256(Path(sys.executable)), "annotations": about}


def _package(distribution: InfoFolder) -> dict[str, Any]:
    """Describe a distribution by the digest of the lines of its RECORD, which has that of each of its files.

    Lines that differ from one place of installation to another do not count. One that is installed as a link to its
    sources (`pip install --editable`) has no such lines, and no digest.
    """
    fields = dict(metadata(distribution))
    name = fields.get("Name", distribution.name)
    about: dict[str, Any] = {"used as": "package", "version": fields.get("Version", distribution.version)}
    if '"editable": true' in _text(distribution, "direct_url.json"):
        return {"name": name, "annotations": about | {"editable": True}}
    record = _text(distribution, "RECORD").splitlines()
    lines = sorted(filter(_is_of_the_wheel, record))
    digest = {"digest": {"sha256": hashlib.sha256("\n".join(lines).encode()).hexdigest()}} if lines else {}
    return {"name": name, **digest, "annotations": about}


def _text(distribution: InfoFolder, name: str) -> str:
    """Return a file of a distribution's metadata; empty where there is none."""
    try:
        return Path(distribution.path, name).read_text("utf-8")
    except OSError:
        return ""


def _is_of_the_wheel(line: str) -> bool:
    name = line.partition(",")[0]
    if ".dist-info/" in name:
        own, _, last = name.rpartition("/")
        if own.endswith(".dist-info"):
            return last in _RECORDED
    return not name.startswith("../") and not name.endswith(".pyc")
