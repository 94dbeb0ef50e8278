"""What the build of a package proved, in its README: known once the build is over, after the package was written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from brainsmith.rtl.package.contents import MANIFEST, README
from brainsmith.rtl.package.pack import file_digest

if TYPE_CHECKING:
    from collections.abc import Sequence
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
    page.write_text(text.replace(_NEXT, f"{section}{_NEXT}", 1), encoding="utf-8")
    content = json.loads(manifest.read_text(encoding="utf-8"))
    content["files"][README] = file_digest(page)
    manifest.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
