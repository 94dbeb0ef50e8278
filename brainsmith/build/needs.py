"""What the steps of a pipeline need, of the target and of tools: said before the first of them runs."""

from __future__ import annotations

import re
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import BuildError, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from brainsmith.blueprint.build_step import BuildStep
    from brainsmith.plugin.plugin_registry import Registry

_ASKS_FOR_PART = "._resolve_fpga_part("
_GENERATE = ("rtl_codegen",)
_SIMULATE = ("rtl_size_fifos", "rtl_simulate")
_SYNTHESISE = ("rtl_synthesise",)


def require_part(steps: Iterable[BuildStep], part: str | None, blueprint: str) -> None:
    """Raise if a step needs the device and the blueprint names none, or one that cannot be synthesised for.

    Which steps do is read from their source: they ask for it with `cfg._resolve_fpga_part()`, which raises.

    Raises:
        BuildError: The message names all such steps.
    """
    if part is not None:
        if any(step.name in _SYNTHESISE for step in _own(steps)):
            from brainsmith.rtl.synthesis.fpga_families import family_of

            family_of(part)
        return
    found = [f"'{step.name}'" for step in steps if step.kind == "step" and _ASKS_FOR_PART in _source(step)]
    names = list(dict.fromkeys(found))
    if names:
        raise BuildError(
            f"{blueprint} names no part (the device), which {', '.join(names)} {'need' if len(names) > 1 else 'needs'}: "
            "add `part:` under `hw_compiler: target:`, or name it for this build: --part PART, part="
        )


def require_tools(steps: Iterable[BuildStep]) -> None:
    """Raise if a tool that our own steps run is missing or too old; which tools others need is not known.

    Raises:
        BuildError: The design is to be placed on a device that there is not.
        ToolError: All that are, which steps need them, and what to do.
    """
    own = _own(steps)
    names = {step.name for step in own}
    places = [step.args.get("place") for step in own if step.name in _SYNTHESISE]
    finders: list[tuple[tuple[str, ...], Callable[[], None]]] = [(_SIMULATE, _find_simulator)]
    finders += [(_SYNTHESISE, _find_synthesiser)]
    finders += [(_SYNTHESISE, partial(_find_placer, device)) for device in places if device]
    problems = []
    for users, find in finders:
        needing = [f"'{name}'" for name in users if name in names]
        try:
            if needing:
                find()
        except ToolError as error:
            problems.append(f"{error}\n  {' and '.join(needing)} {_need(needing)}")
    if problems:
        advice = "  how far a build goes: `output` in the blueprint, --produce, produce="
        raise ToolError("\n".join([*problems, advice]))


def require_reader(
    steps: Iterable[BuildStep], preferences: Mapping[str, Sequence[str]], registry: Registry
) -> None:
    """Raise if a backend that is preferred for a kernel reads its core when a layer is generated, and cannot.

    Which backends do is what they state in `requires`. Of kernels for which nothing is listed it is not known whether
    the model has them; generating the layer says it then.

    Args:
        steps: Of the pipeline.
        preferences: Backends by kernels, the preferred one first.
        registry: Where they are.

    Raises:
        ToolError: Names all such backends.
    """
    generated = any(step.name in _GENERATE for step in _own(steps))
    if not generated or find_spec("pyslang") is not None:
        return
    first = {names[0] for names in preferences.values() if names}
    needing = [
        repr(info.qualified)
        for info in registry.records("backend")
        if info.qualified in first and any(need.startswith("pyslang") for need in info.requires)
    ]
    if needing:
        from brainsmith.rtl.importing.module_reader import READER_MISSING

        raise ToolError(f"{READER_MISSING}\n  {' and '.join(needing)} {_need(needing)}")


def _own(steps: Iterable[BuildStep]) -> list[BuildStep]:
    return [step for step in steps if step.framework == "brainsmith" and step.kind == "step"]


def _find_simulator() -> None:
    from brainsmith.rtl.simulation.toolchain import find_toolchain

    find_toolchain()


def _find_synthesiser() -> None:
    from brainsmith.rtl.synthesis.yosys import find_yosys

    find_yosys()


def _find_placer(device: str) -> None:
    from brainsmith.rtl.synthesis import placement

    placement.check(device)


def _need(names: list[str]) -> str:
    return "need it" if len(names) > 1 else "needs it"


def _source(step: BuildStep) -> str:
    """Return the source of a step's function; nothing for one whose file is not known."""
    if step.record is None or not step.record.file:
        return ""
    try:
        lines = Path(step.record.file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    # The definition begins at the record's line, perhaps with decorators; the next one at module level ends it.
    text = "\n".join(["", *lines[step.record.line - 1 :]])
    decorators, define, rest = text.partition("\ndef ")
    return decorators + define + re.split(r"\n(?=def |class |@)", rest)[0]
