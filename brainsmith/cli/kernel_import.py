"""`brainsmith kernel import`: someone's SystemVerilog as a kernel and a backend."""

from __future__ import annotations

from pathlib import Path

from brainsmith import TYPE_CHECKING
from brainsmith.errors import UsageError
from brainsmith.figures import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.rtl.importing.description import CoreDescription
    from brainsmith.rtl.importing.import_plan import ImportPlan

PLUGINS = "plugins"
TESTS = "tests"


def run(options: Options, terminal: Terminal) -> int:
    """Write the files, and say what was found in the module."""
    from brainsmith.rtl.importing.core_writing import write_import
    from brainsmith.rtl.importing.import_plan import plan_import

    description = _description(options)
    main = Path(options.required("FILE"))
    files = (main, *(Path(name) for name in description.files))
    plan = plan_import(files, options.text("--top") or main.stem, description)
    folders = Path(options.text("--output") or PLUGINS), Path(options.text("--tests") or TESTS)
    update, force = options.flag("--update"), options.flag("--force")
    if force and not update:
        raise UsageError("--force needs --update: it overwrites what was edited since an earlier import")
    written = write_import(plan, *folders, update=update, force=force)
    terminal.pairs(_found(plan))
    terminal.write("")
    for path in written.paths:
        terminal.write(f"{'updated' if update else 'wrote'} {path}")
    for path in written.kept:
        terminal.write(f"kept {path}: it was edited, and the import would write the same as before")
    if not written.paths:
        terminal.write("nothing has changed")
    for line in _what_next(folders[0], folders[1] / f"test_{plan.stem}.py"):
        terminal.write(line)
    return 0


def _what_next(plugins: Path, test: Path) -> list[str]:
    """Say how the test is run, and what is missing for the plugins to be found."""
    from brainsmith.settings import load_settings

    settings = load_settings()
    scanned = [Path(folder).resolve() for folder in settings.plugin_folders]
    if settings.project:
        scanned.append(Path(settings.project, PLUGINS).resolve())
    lines = ["", f"simulate it: python -m pytest {test}"]
    if not any(plugins.resolve().is_relative_to(folder) for folder in scanned):
        lines += [
            f"{plugins} is not scanned for plugins yet: `mkdir .brainsmith` in the folder that holds plugins/ makes it a"
            " project, or name the folder in the setting plugin_folders"
        ]
    return lines


def _description(options: Options) -> CoreDescription:
    """Return what options and the description file say; options win."""
    from brainsmith.rtl.importing.description import (
        CoreDescription,
        number_or_text,
        parse_list,
        parse_streams,
        parse_table,
        read_description,
    )

    tied = parse_table("--tie", options.text("--tie"))
    if any(not isinstance(value, int) for value in tied.values()):
        raise UsageError(f"--tie takes numbers, such as PORT=0, not {options.text('--tie')!r}")
    given = CoreDescription(
        name=options.text("--name") or "",
        files=parse_list(options.text("--files")),
        parameters=parse_table("--set", options.text("--set")),
        held={name: int(value) for name, value in tied.items()},
        left_open=parse_list(options.text("--open")),
        streams=parse_streams(options.text("--streams")),
        parallel=parse_table("--parallel", options.text("--parallel")),
        cycles=number_or_text(options.text("--cycles") or ""),
        early=options.flag("--early"),
        golden=options.text("--golden") or "",
    )
    file = options.text("--description")
    return given.over(read_description(Path(file))) if file else given


def _found(plan: ImportPlan) -> list[tuple[str, str]]:
    roles, pins = plan.roles, plan.roles.pins
    streams = [
        (
            "input" if stream.fed else "output",
            f"{', '.join(stream.ports)}: {plural(stream.bits, 'bit')}{_several(stream.count)}, "
            f"{_shape(plan, stream.name)} {plan.said.streams[stream.name].datatype}",
        )
        for stream in roles.streams
    ]
    reset = f"{pins.reset}, active {'low' if pins.reset_low else 'high'}" if pins.reset else "none"
    parallel = ", ".join(f"{name} divides {limit}" for name, limit in plan.said.parallel.items())
    return [
        ("kernel", f"{plan.name}, backend {plan.name}RTL"),
        ("clock", ", ".join(pins.clocks)),
        ("reset", reset),
        *streams,
        *([("held", _listed(pins.held))] if pins.held else []),
        *([("open", ", ".join(roles.open))] if roles.open else []),
        ("attributes", _listed(plan.attributes) or "none"),
        *([("parallel", parallel)] if parallel else []),
        ("cycles", str(plan.said.cycles)),
    ]  # fmt: skip


def _listed(values: Mapping[str, int | str]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in values.items())


def _several(count: int) -> str:
    return f" each of {count}" if count > 1 else ""


def _shape(plan: ImportPlan, stream: str) -> str:
    return "(" + ", ".join(map(str, plan.said.streams[stream].shape)) + ")"
