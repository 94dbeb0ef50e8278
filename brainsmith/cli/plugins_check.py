"""`brainsmith plugins check PATH`: what is wrong with plugin files, and what they would register."""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.figures import plural
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.source_check import check_sources, load_problems

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.errors import Problem
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.source_check import Checked


def run(options: Options, terminal: Terminal) -> int:
    """Print problems, hints and what would be registered; return 1 if something is wrong."""
    manager = get_plugin_manager()
    manager.discover_plugins(modes=["full"])
    checked = check_sources(options.required("PATH"), manager.registry)
    problems = list(checked.problems)
    if options.flag("--load"):
        wrong = {problem.file for problem in problems}
        problems.extend(load_problems(info for info in checked.records if info.file not in wrong))
    for problem in problems:
        terminal.write(terminal.style(_shown(problem), "red"))
    for hint in checked.hints:
        terminal.write(f"hint: {_shown(hint)}")
    verb = "loads" if options.flag("--load") else "registers"
    places = {(problem.file, problem.line) for problem in problems}
    fine = [info for info in checked.records if (info.file, info.line) not in places]
    for info in fine:
        terminal.write(f"{verb} {_line(info)}")
    terminal.write(_summary(checked, len(fine), len(problems)))
    return 1 if problems else 0


def _shown(problem: Problem) -> str:
    """Return a problem with its path as the user would write it."""
    return str(problem).replace(problem.file, _relative(problem.file))


def _relative(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def _line(info: PluginInfo) -> str:
    facts = [info.stage and f"stage {info.stage}", info.kernel and f"kernel {info.kernel}", info.backend_type]
    shown = ", ".join(fact for fact in facts if fact)
    place = f"{_relative(info.file)}:{info.line}"
    return f"{info.type} {info.qualified}" + (f" ({shown})" if shown else "") + f"  {place}"


def _summary(checked: Checked, fine: int, problems: int) -> str:
    files = plural(len(checked.files), "file")
    if not checked.records and not problems:
        return f"no decorated plugin in {files}"
    return (
        f"{plural(fine, 'plugin')} in {files}, {plural(problems, 'problem') if problems else 'no problems'}"
    )
