"""`brainsmith verify`: whether a build's folder is as the build made it."""

from __future__ import annotations

from pathlib import Path

from brainsmith import TYPE_CHECKING
from brainsmith.build.provenance import check_provenance
from brainsmith.figures import plural

if TYPE_CHECKING:
    from brainsmith.build.provenance import CheckedFolder
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal

_MOST = 20


def run(options: Options, terminal: Terminal) -> int:
    """Print which files are not as they were made; return 1 if one is changed or missing."""
    file = options.text("--provenance")
    found = check_provenance(Path(options.required("DIR")), None if file is None else Path(file))
    document = {
        "same": found.same,
        "changed": list(found.changed),
        "missing": list(found.missing),
        "new": list(found.new),
    }
    terminal.give(lambda: {**document, "error": None}, lambda: _show(found, terminal))
    return 0 if found.is_whole else 1


def _show(found: CheckedFolder, terminal: Terminal) -> None:
    for what, names in (("changed", found.changed), ("missing", found.missing), ("new", found.new)):
        for name in names[:_MOST]:
            terminal.write(f"{what:<8} {name}")
        if len(names) > _MOST:
            terminal.write(f"{what:<8} ... and {len(names) - _MOST} more, which --json prints")
    are = "1 file is" if found.same == 1 else f"{plural(found.same, 'file')} are"
    terminal.write(f"{are} as the build made {'it' if found.same == 1 else 'them'}")
