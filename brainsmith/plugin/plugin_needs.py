"""Which versions of plugins are asked for, and by whom; and the plugins that a plugin requires, in the order of need.

What is asked is a text: `transform:FuseBias`, `kernel:acme:MatMul >=2,<3`, or without a type the plugin's own type. The one
place that reads it, for decorators, blueprints and targets. Nothing of a plugin is imported.
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import (
    AmbiguousPluginError,
    BrainsmithError,
    DuplicatePluginError,
    PluginUnavailableError,
)
from brainsmith.plugin.info import PLUGIN_TYPES
from brainsmith.plugin.plugin_versions import is_within, version_of, versions_problem
from brainsmith.plugin.precedence import chosen, framework_identifier, split_name
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from brainsmith.plugin.info import PluginInfo

FORM = "[type:][framework:]Name, and perhaps versions, such as 'kernel:acme:MatMul >=2,<3'"
_SIGNS = "<>=!~"


class Need(Struct):
    """What is asked of a plugin.

    Attributes:
        type: Its type; empty for any.
        name: `Name` or `framework:Name`.
        versions: PEP 440 comparisons, such as `>=2,<3`; empty for any version.
        who: Who asks, for messages.
    """

    type: str
    name: str
    versions: str
    who: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Need) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.type, self.name, self.versions, self.who))

    def __str__(self) -> str:
        return f"{f'{self.type}:' if self.type else ''}{self.name} {self.versions}".rstrip()

    def concerns(self, info: PluginInfo) -> bool:
        """Tell whether a record is one of those that this asks something of."""
        framework, bare = split_name(self.name)
        if bare != info.name or self.type not in ("", info.type):
            return False
        return framework is None or framework_identifier(framework) == framework_identifier(info.framework)

    def is_met(self, info: PluginInfo) -> bool:
        """Tell whether a record has a version that is asked for; one that states no version meets no comparison."""
        return not self.versions or is_within(version_of(info), self.versions)


def read_need(text: str, own_type: str, who: str) -> Need:
    """Read what is asked of a plugin.

    Args:
        text: As `FORM` has it.
        own_type: What a name without a type is; empty for any type.
        who: Who asks.

    Raises:
        ValueError: The text has another form; the message says what is wrong.
    """
    at = min((at for at, sign in enumerate(text) if sign in _SIGNS), default=len(text))
    named, versions = text[:at].strip(), text[at:].strip()
    kind, colon, rest = named.partition(":")
    kind, name = (kind, rest) if colon and kind in PLUGIN_TYPES else (own_type, named)
    framework, bare = split_name(name)
    if not _is_word(bare) or (framework is not None and not _is_word(framework)):
        raise ValueError(f"must be {FORM}, not {text!r}")
    problem = versions and versions_problem(versions)
    if problem:
        raise ValueError(f"names {named!r}, whose {problem}")
    return Need(kind, name, versions, who)


def _is_word(text: str) -> bool:
    return bool(text) and all(char.isalnum() or char in "_.-" for char in text)


def needs_of(info: PluginInfo) -> list[Need]:
    """Return what a plugin asks of others, as its record states it."""
    who = f"{info.type} {info.qualified}"
    return [read_need(text, info.type, who) for text in info.requires_plugins]


class VersionLimits:
    """What is asked of plugins, by all who ask.

    Args:
        needs: What is asked.
    """

    def __init__(self, needs: Iterable[Need] = ()) -> None:
        self.needs = tuple(dict.fromkeys(needs))

    def chosen(self, providers: list[PluginInfo]) -> PluginInfo:
        """Return which of the records of a name is meant: the one that has precedence among those that all accept.

        Raises:
            PluginUnavailableError: There is none; the message names all who ask, and the versions there are.
            AmbiguousPluginError, DuplicatePluginError: As for any name.
        """
        asked = [need for need in self.needs if any(map(need.concerns, providers))]
        if not asked:
            return chosen(providers)
        accepted = [info for info in providers if self.allow(info)]
        if accepted:
            return chosen(accepted)
        raise PluginUnavailableError(_conflict(providers, asked))

    def and_need(self, need: Need) -> VersionLimits:
        """Return these and one more."""
        return VersionLimits((*self.needs, need))

    def allow(self, info: PluginInfo) -> bool:
        """Tell whether all who ask something of a record accept it."""
        return all(need.is_met(info) for need in self.needs if need.concerns(info))


def _conflict(providers: list[PluginInfo], asked: list[Need]) -> str:
    there = [
        f"  {info.qualified} {version_of(info) or '(states no version)'} ({info.origin})"
        for info in providers
    ]
    wanted = [f"  {need.who} asks for {need}" for need in asked]
    head = (
        f"no version of the {providers[0].type} {providers[0].name!r} meets what is asked of it. There are:"
    )
    return "\n".join([head, *there, " and", *wanted])


def required_by(info: PluginInfo, find: Callable[[Need], PluginInfo]) -> list[PluginInfo]:
    """Return the plugins that a plugin requires, and those that these require: each once, after all that it requires.

    Args:
        info: Its record; it is not in the result.
        find: Returns the record that a need means.

    Raises:
        PluginUnavailableError: One is missing or of another version, or plugins require each other; the message has the
            way that leads there.
    """
    found: dict[PluginInfo, None] = {}
    _follow(info, find, found, ())
    del found[info]
    return list(found)


def _follow(
    info: PluginInfo,
    find: Callable[[Need], PluginInfo],
    found: dict[PluginInfo, None],
    way: tuple[PluginInfo, ...],
) -> None:
    if info in found:
        return
    if info in way:
        round_ = (*way[way.index(info) :], info)
        raise _refused(way[0], f"plugins require each other: {_shown(round_)}")
    for need in needs_of(info):
        here = (*way, info)
        at = f" (required by {_shown(here)})" if len(here) > 1 else ""
        try:
            needed = find(need)
        except (LookupError, PluginUnavailableError, AmbiguousPluginError, DuplicatePluginError) as error:
            raise _refused(here[0], f"it requires {need}{at}: {error}") from error
        if not need.is_met(needed):
            there = version_of(needed) or "no version that it states"
            raise _refused(here[0], f"it requires {need}{at}, and {needed.qualified} has {there}")
        _follow(needed, find, found, here)
    found[info] = None


def need_tree(info: PluginInfo, find: Callable[[Need], PluginInfo]) -> Iterator[str]:
    """Yield the lines of the tree of what a plugin requires; a plugin's own needs are below the first line that has it.

    Args:
        info: Its record; it is the first line.
        find: Returns the record that a need means.
    """
    yield f"{info.type} {info.qualified}"
    yield from _branches((info,), find, "", {info})


def _branches(
    way: tuple[PluginInfo, ...], find: Callable[[Need], PluginInfo], indent: str, seen: set[PluginInfo]
) -> Iterator[str]:
    needs = needs_of(way[-1])
    for need in needs:
        last = need is needs[-1]
        line = f"{indent}{'└─' if last else '├─'} {need}"
        try:
            needed = find(need)
        except BrainsmithError as error:
            yield f"{line}: {str(error).partition(chr(10))[0]}"
            continue
        there = f"{needed.qualified} {version_of(needed)}".rstrip()
        repeated = " (see above)" if needed.requires_plugins and needed in seen else ""
        if needed in way:
            repeated = ", which requires this: plugins that require each other cannot be used"
        met = "" if need.is_met(needed) else ", which is another version"
        yield f"{line}: {there}{met}{repeated}"
        if needed not in seen:
            seen.add(needed)
            yield from _branches((*way, needed), find, f"{indent}{'   ' if last else '│  '}", seen)


def _shown(way: Iterable[PluginInfo]) -> str:
    return " > ".join(f"{info.type} {info.qualified}" for info in way)


def _refused(info: PluginInfo, reason: str) -> PluginUnavailableError:
    error = PluginUnavailableError(
        f"{info.type} {info.qualified!r} ({info.origin}) cannot be used here: {reason}"
    )
    error.plugin = info
    return error
