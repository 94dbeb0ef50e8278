"""`brainsmith sbom DIR`: the bill of materials of a build."""

from __future__ import annotations

from pathlib import Path

from brainsmith import TYPE_CHECKING
from brainsmith.build.bill_of_materials import sbom
from brainsmith.errors import OutputError

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Print the bill, or write it to a file."""
    stated, output = options.text("--provenance"), options.text("--output")
    bill = sbom(Path(options.required("DIR")), None if stated is None else Path(stated))
    if output is None:
        terminal.write(bill.removesuffix("\n"))
        return 0
    try:
        Path(output).write_text(bill, "utf-8")
    except OSError as error:
        raise OutputError(f"{output} cannot be written: {error.strerror}") from error
    terminal.write(f"{output} is written")
    return 0
