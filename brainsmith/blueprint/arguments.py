"""Compare the arguments that a blueprint gives with the parameters that a plugin's source states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from brainsmith import TYPE_CHECKING
from brainsmith.blueprint.schema import Arguments, PluginName
from brainsmith.close_names import did_you_mean
from brainsmith.errors import Problem
from brainsmith.plugin.info import PluginInfo
from brainsmith.shown import shown

if TYPE_CHECKING:
    from brainsmith.plugin.details import Parameter

#: A step is called with these two, whatever their names are.
_STEP_PARAMETERS = 2


def argument_problems(record: PluginInfo, group: str, name: PluginName, args: Arguments) -> list[Problem]:
    """Say which arguments a plugin does not have, which are of another kind, and which it needs and does not get.

    Raises:
        PluginLoadError: The plugin's source cannot be read, so there is nothing to compare with.
    """
    parameters = record.parameters
    if record.type == "step":
        parameters = parameters[_STEP_PARAMETERS:]
    open_ended = any(parameter.name.startswith("**") for parameter in parameters)
    named = [parameter for parameter in parameters if not parameter.name.startswith("*")]
    known = [parameter.name for parameter in named]
    problems = []
    for key in args.values:
        if key not in known and not open_ended:
            hint = did_you_mean(key, known) or f". {_takes(known)}"
            place = args.positions.get(key, name.position)
            problems.append(place.problem(f"{record.type} {record.name!r} has no argument {key!r}{hint}"))
    problems += _wrong_kinds(record, named, args, name) if record.type == "step" else []
    missing = [p.name for p in named if p.required and p.name not in args.values]
    if missing:
        problems.append(name.position.problem(_missing(record, group, missing)))
    return problems


_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "bool": ((bool,), "true or false"),
    "str": ((str,), "a string"),
    "None": ((type(None),), "null"),
}
"""By the text of an annotation: what YAML gives for it, and its name in messages."""


def _wrong_kinds(
    record: PluginInfo, parameters: Iterable[Parameter], args: Arguments, name: PluginName
) -> Iterator[Problem]:
    """Yield what is no value of its parameter's annotation, where that is made of YAML's own kinds alone."""
    for parameter in parameters:
        kinds = [_KINDS.get(kind.strip()) for kind in parameter.annotation.split("|")]
        known = [kind for kind in kinds if kind is not None]
        if parameter.name not in args.values or len(known) < len(kinds):
            continue
        value = args.values[parameter.name]
        taken = {each for types, _ in known for each in types}
        taken |= {type(None)} if parameter.default == "None" else set()
        if type(value) not in taken:  # a truth value is no number here
            what = " or ".join(word for _, word in known)
            place = args.positions.get(parameter.name, name.position)
            text = f"{parameter.name} of step {record.name!r} must be {what}, not {shown(value)}"
            yield place.problem(text)


def _takes(known: list[str]) -> str:
    return f"It takes {', '.join(known)}." if known else "It takes none."


def _missing(record: PluginInfo, group: str, missing: list[str]) -> str:
    """Say what is missing, and show the form that gives it."""
    form = ", ".join(f"{parameter}: ..." for parameter in missing)
    through = f" of group {group!r}" if group else ""
    return (
        f"{record.type} {record.name!r}{through} needs {', '.join(missing)}: "
        f"write {{{record.type}: {record.name}, args: {{{form}}}}}"
    )
