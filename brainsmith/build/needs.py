"""What the steps of a pipeline need of the target: said before the first of them runs, not when its turn comes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.build.pipeline import BuildStep

_ASKS_FOR_PART = "._resolve_fpga_part("


def require_part(steps: Iterable[BuildStep], part: str | None, blueprint: str) -> None:
    """Raise if a step needs the device and the blueprint names none.

    Which steps do is read from their source: they ask for it with `cfg._resolve_fpga_part()`, which raises.

    Raises:
        BuildError: The message names all such steps.
    """
    if part is not None:
        return
    found = [f"'{step.name}'" for step in steps if step.kind == "step" and _ASKS_FOR_PART in _source(step)]
    names = list(dict.fromkeys(found))
    if names:
        raise BuildError(
            f"{blueprint} names no device, which {', '.join(names)} {'need' if len(names) > 1 else 'needs'}: "
            "add `part:` under `hw_compiler: target:`"
        )


def _source(step: BuildStep) -> str:
    """Return the source of a step's function; nothing for one whose file is not known."""
    if step.record is None or not step.record.file:
        return ""
    try:
        lines = Path(step.record.file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    own = lines[step.record.line - 1 :]
    # The definition begins at the record's line, perhaps with decorators; the next one at module level ends it.
    begin = next((at for at, line in enumerate(own) if line.startswith("def ")), 0)
    end = next(
        (at for at, line in enumerate(own) if at > begin and line.startswith(("def ", "class ", "@"))), None
    )
    return "\n".join(own[:end])
