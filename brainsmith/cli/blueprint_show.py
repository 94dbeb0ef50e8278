"""`brainsmith blueprint show FILE`: a blueprint as one file, each value with the place where it is written."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.blueprint.loader import parse_blueprint
from brainsmith.errors import BlueprintError

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Print a blueprint as one file; one with errors is not printed."""
    parsed = parse_blueprint(options.required("FILE"), options.texts("--set"))
    body = parsed.body
    if parsed.problems or body is None:
        raise BlueprintError(parsed.problems)
    from brainsmith.blueprint.composition.written import plain_of, written

    terminal.give(
        lambda: {**plain_of(parsed.doc, body), "error": None},
        lambda: terminal.write(written(parsed.doc, body)),
    )
    return 0
