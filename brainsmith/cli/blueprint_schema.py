"""`brainsmith blueprint schema`: the form of a blueprint as a JSON Schema."""

from __future__ import annotations

import json

from brainsmith import TYPE_CHECKING
from brainsmith.blueprint.json_schema import json_schema

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Print the schema."""
    terminal.write(json.dumps(json_schema(), indent=1))
    return 0
