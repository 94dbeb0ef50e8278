"""What is known once the build of a package is over: what it proved, and what the network calls its inputs and outputs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from brainsmith.rtl.package.contents import HOST, MANIFEST, README, file_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_NEXT = "\n## Ports\n"
"""The section before which it stands."""


def state_proof(package: Path, title: str, sentence: str, shortfalls: Sequence[str]) -> None:
    """Write into a package's README whether its result can be trusted, and note the README's new digest.

    Args:
        package: Its folder, as `write_package` made it; one without README or manifest is left as it is.
        title: In a few words, such as `Verified`.
        sentence: What was compared with what.
        shortfalls: What the build did not prove, or did not reach: a sentence each.
    """
    page, manifest = package / README, package / MANIFEST
    if not (page.is_file() and manifest.is_file()):
        return
    listed = "".join(f"\n- {shortfall}" for shortfall in shortfalls)
    section = f"\n## Proof\n\n**{title}.** {sentence}\n" + (f"{listed}\n" if listed else "")
    text = page.read_text(encoding="utf-8")
    _write(package, README, text.replace(_NEXT, f"{section}{_NEXT}", 1))


def name_ends(
    package: Path, inputs: Mapping[str, Sequence[int]], outputs: Mapping[str, Sequence[int]]
) -> None:
    """Write the network's own names of its inputs and outputs into a package's `host.json`.

    Args:
        package: Its folder, as `write_package` made it; one without `host.json` or manifest is left as it is.
        inputs: The shapes of the network's inputs, by name. Where they are not those of the package, it stays as it is.
        outputs: Those of its outputs.
    """
    if not ((package / HOST).is_file() and (package / MANIFEST).is_file()):
        return
    content = json.loads((package / HOST).read_text(encoding="utf-8"))
    for key, ends in (("inputs", inputs), ("outputs", outputs)):
        if [one["shape"] for one in content[key]] == [list(shape) for shape in ends.values()]:
            for one, name in zip(content[key], ends, strict=True):
                one["name"] = name
    _write(package, HOST, json.dumps(content, indent=1) + "\n")


def _write(package: Path, name: str, text: str) -> None:
    """Write a file of a package, and note its new digest."""
    manifest = package / MANIFEST
    (package / name).write_text(text, encoding="utf-8")
    content = json.loads(manifest.read_text(encoding="utf-8"))
    content["files"][name] = file_digest(package / name)
    manifest.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
