"""Bring together what a module says and what its user says: all that the written files need, checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import RtlSourceError
from brainsmith.figures import plural
from brainsmith.rtl.cores.expressions import evaluate, fill
from brainsmith.rtl.importing.description import golden_function
from brainsmith.rtl.importing.import_checks import check_name
from brainsmith.rtl.importing.module_reader import read_module
from brainsmith.rtl.importing.port_roles import place_ports

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.importing.description import CoreDescription
    from brainsmith.rtl.importing.module_reader import ModuleInterface
    from brainsmith.rtl.importing.port_roles import PortRoles, PortStream


@dataclass(frozen=True)
class ImportPlan:
    """A core that can be written as a kernel and a backend.

    Attributes:
        said: Its description, in which name, description and cycles are stated.
        module: Its interface.
        roles: Of its ports.
        files: Of the core and of what it instantiates.
        golden: The file and the function.
    """

    said: CoreDescription
    module: ModuleInterface
    roles: PortRoles
    files: tuple[Path, ...]
    golden: tuple[Path, str] = (Path(), "")

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.said.name

    @property
    def attributes(self) -> dict[str, int | str]:
        """The attributes of the node: the core's parameters and their values."""
        return {one.name: one.value for one in self.module.parameters if one.plain}

    @property
    def stem(self) -> str:
        """How its files are called."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.name).lower()


def plan_import(files: tuple[Path, ...], top: str, said: CoreDescription) -> ImportPlan:
    """Read a core and check its description.

    Args:
        files: The file that defines it, and those of what it instantiates.
        top: The module.
        said: What the module cannot state about itself.

    Raises:
        RtlSourceError: The module cannot be read, a port cannot be placed, or its name or its description does not fit.
        ToolError: pyslang is not installed.
    """
    module = read_module(files, top, said.parameters)
    unknown = [name for name in said.parameters if name not in {one.name for one in module.parameters}]
    if unknown:
        names = ", ".join(one.name for one in module.parameters) or "none"
        raise RtlSourceError(f"--set: module {top!r} has no parameter {unknown[0]!r}; it has {names}")
    roles = place_ports(module, said.held, said.left_open)
    description = " ".join(said.description.split()) or f"The core {top}, imported"
    said = replace(said, name=said.name or _camel(top), description=description)
    plan = ImportPlan(said, module, roles, files)
    check_name(plan.name, plan.stem)
    _check_streams(plan)
    _check_parallel(plan)
    said = replace(said, cycles=_cycles(plan))
    return replace(plan, said=said, golden=golden_function(said.golden))


def frame_beats(plan: ImportPlan, stream: PortStream) -> int:
    """Return the beats of a frame in one of the core's streams."""
    said = plan.said.streams[stream.name]
    shape = [evaluate(size, plan.attributes) for size in said.shape]
    return prod(shape) // evaluate(said.lanes, plan.attributes)


def _camel(top: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in top.split("_") if part)


def _check_streams(plan: ImportPlan) -> None:
    known = {stream.name: stream for stream in plan.roles.streams}
    extra = [name for name in plan.said.streams if name not in known]
    if extra:
        raise RtlSourceError(
            f"module {plan.module.name!r} has no stream {extra[0]!r}; it has {', '.join(known)}"
        )
    missing = [stream for name, stream in known.items() if name not in plan.said.streams]
    if missing:
        lines = "".join(f"\n  {_described(stream)}" for stream in missing)
        example = " ".join(f"{stream.name}=SHAPE:DATATYPE:LANES" for stream in missing)
        raise RtlSourceError(
            f"the shape and datatype of these streams are unknown:{lines}\n"
            f'  state them: --streams "{example}", such as 1,8:INT4:2 for 8 values in beats of 2; parameters may stand for '
            "numbers, 1,CHANNELS:INT{BITS}:PE"
        )
    wrong = [text for stream in known.values() if (text := _misfit(plan, stream))]
    if wrong:
        raise RtlSourceError("the description of the streams does not fit:\n  " + "\n  ".join(wrong))


def _described(stream: PortStream) -> str:
    kind = "input" if stream.fed else "output"
    several = f"{stream.count} {kind}s" if stream.count > 1 else kind
    return f"{stream.name!r}, {several} of {plural(stream.bits, 'bit')} ({', '.join(stream.ports)})"


def _misfit(plan: ImportPlan, stream: PortStream) -> str:
    """Say how a stream's description differs from its ports; empty if it does not."""
    from qonnx.core.datatype import DataType

    said = plan.said.streams[stream.name]
    try:
        shape = [evaluate(size, plan.attributes) for size in said.shape]
        lanes = evaluate(said.lanes, plan.attributes)
        kind = fill(said.datatype, plan.attributes)
        bits = DataType[kind].bitwidth()
    except ValueError as error:
        return f"{stream.name!r}: {error}"
    except (KeyError, AssertionError):
        return f"{stream.name!r}: there is no datatype {kind!r}; datatypes are INT8, UINT4, BIPOLAR and so on"
    if min(*shape, lanes) < 1 or shape[-1] % lanes:
        return f"{stream.name!r}: {lanes} lanes do not divide the last axis of {shape}"
    wide = bits * lanes
    if stream.bits not in (wide, -(-wide // 8) * 8):
        port = f"its port {stream.ports[0]!r} has {stream.bits}"
        return f"{stream.name!r}: {lanes} lanes of {kind} are {plural(wide, 'bit')}, and {port}"
    return ""


def _check_parallel(plan: ImportPlan) -> None:
    for name, limit in plan.said.parallel.items():
        if not isinstance(plan.attributes.get(name), int):
            numbers = ", ".join(one for one, value in plan.attributes.items() if isinstance(value, int))
            raise RtlSourceError(
                f"--parallel: module {plan.module.name!r} has no parameter {name!r} that is a number; it has {numbers}"
            )
        if _number("--parallel", limit, plan.attributes) % int(plan.attributes[name]):
            value = plan.attributes[name]
            raise RtlSourceError(f"--parallel: {name} is {value}, which does not divide {limit}")


def _number(option: str, expression: int | str, values: Mapping[str, int | str]) -> int:
    try:
        return evaluate(expression, values)
    except ValueError as error:
        raise RtlSourceError(f"{option}: {error}") from None


def _cycles(plan: ImportPlan) -> int | str:
    """Return the stated cycles, or else the beats of the longest stream."""
    cycles = plan.said.cycles or max(_beats_text(plan, stream) for stream in plan.roles.streams)[1]
    if _number("--cycles", cycles, plan.attributes) < 1:
        raise RtlSourceError(f"--cycles: {cycles!r} is less than 1")
    return cycles


def _beats_text(plan: ImportPlan, stream: PortStream) -> tuple[int, str]:
    """Return the beats of a frame, and an expression for them."""
    said = plan.said.streams[stream.name]
    sizes = " * ".join(_bracketed(size) for size in said.shape if size != 1) or "1"
    return frame_beats(plan, stream), sizes if said.lanes == 1 else f"{sizes} // {_bracketed(said.lanes)}"


def _bracketed(value: int | str) -> str:
    text = str(value)
    return text if re.fullmatch(r"\w+", text) else f"({text})"
