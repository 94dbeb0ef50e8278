"""What a discovery is asked for."""

from __future__ import annotations

from brainsmith import MODES, TYPE_CHECKING
from brainsmith.errors import SettingsError
from brainsmith.plugin.info import PLUGIN_TYPES
from brainsmith.plugin.precedence import ADAPTED, OURS, framework_identifier
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.plugin.info import PluginInfo

    Named = frozenset[tuple[str, str]]
    Key = tuple[tuple[str, ...], tuple[str, ...] | None, tuple[str, ...] | None]


class Request(Struct):
    """What a discovery is asked for.

    Attributes:
        mode: `full`, `blueprint` or `selective`; `blueprint` also where that and `selective` are asked for.
        frameworks: Only these; None for all.
        types: Only these plugin types; None for all.
        united: Whether what is selected is found beside what the blueprint names.
    """

    mode: str
    frameworks: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    united: bool = False

    @property
    def is_whole(self) -> bool:
        """Tell whether everything is asked for."""
        return self.mode == "full" and self.frameworks is None and self.types is None

    @classmethod
    def of(
        cls,
        modes: Iterable[str] | None,
        frameworks: Iterable[str] | None,
        types: Iterable[str] | None,
        default: str,
    ) -> Request:
        """Make it of what a call says; of several modes each adds what it finds.

        Args:
            modes: As `discover_plugins` takes them.
            frameworks: So too.
            types: So too.
            default: The mode where none is given.

        Raises:
            SettingsError: A mode or type is unknown.
        """
        chosen = _as_tuple(modes) or (default,)
        wanted_types = _as_tuple(types)
        for mode in chosen:
            if mode not in MODES:
                raise SettingsError(f"mode must be {' or '.join(MODES)}, not {mode!r}")
        for plugin_type in wanted_types or ():
            if plugin_type not in PLUGIN_TYPES:
                from brainsmith.plugin.not_found import unknown_type_message  # only where a type is wrong

                raise SettingsError(unknown_type_message(plugin_type))
        mode = next(mode for mode in MODES if mode in chosen)
        return cls(mode, _as_tuple(frameworks), wanted_types, mode == "blueprint" and "selective" in chosen)

    def unknown_framework(self, records: Iterable[PluginInfo]) -> str | None:
        """Return a framework that is asked for and has nothing here; ours and those with an adapter may be empty."""
        others = [name for name in self.frameworks or () if name not in (*OURS, *ADAPTED)]
        if not others:  # as nearly always: then no record is looked at
            return None
        known = {framework_identifier(info.framework) for info in records}
        return next((name for name in others if framework_identifier(name) not in known), None)

    @property
    def restriction(self) -> str:
        """What is not looked at, for who misses a plugin; empty for a whole discovery."""
        given = [
            f"{name}={list(values)!r}"
            for name, values in (("frameworks", self.frameworks), ("types", self.types))
            if values is not None
        ]
        only = ["what the loaded blueprint names"] if self.mode == "blueprint" else []
        if not given and not only:
            return ""
        return f"discovery was restricted to {' and '.join([*only, *given])}: discover_plugins(modes=['full']) finds all"

    @property
    def read_frameworks(self) -> tuple[str, ...] | None:
        """The frameworks that are read; None for all."""
        return None if self.united else self.frameworks

    @property
    def key(self) -> Key:
        """What is kept for it: in mode `blueprint` everything, of which `part` takes out some."""
        if self.mode == "blueprint":
            return ("full",), self.read_frameworks, None
        return (self.mode,), self.frameworks, self.types

    def part(self, records: Iterable[PluginInfo], named: Named) -> list[PluginInfo]:
        """Return the records that mode `blueprint` finds.

        Args:
            records: All that were read.
            named: Type and reference of what the blueprint names.
        """
        types = PLUGIN_TYPES if self.types is None else self.types
        frameworks = None if self.frameworks is None else set(map(framework_identifier, self.frameworks))

        def is_wanted(info: PluginInfo) -> bool:
            is_named, is_of_type = (info.type, info.reference) in named, info.type in types
            if not self.united:
                return is_named and is_of_type
            is_of_framework = frameworks is None or framework_identifier(info.framework) in frameworks
            return is_named or (is_of_type and is_of_framework)

        return list(filter(is_wanted, records))


def _as_tuple(values: Iterable[str] | None) -> tuple[str, ...] | None:
    if values is None:
        return None
    return (values,) if isinstance(values, str) else tuple(values)
