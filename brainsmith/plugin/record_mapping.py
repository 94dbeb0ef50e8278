"""Records read as a mapping: a key for each plugin."""

from __future__ import annotations

from brainsmith.errors import (
    AmbiguousPluginError,
    DuplicatePluginError,
    PluginNotFoundError,
    PluginUnavailableError,
)
from brainsmith.plugin.precedence import named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from brainsmith.plugin.info import PluginInfo


class RecordMapping:
    """What looks records up by name, as a mapping with the keys `type:Name` and `type:framework:Name`."""

    def resolve(self, plugin_type: str, name: str) -> PluginInfo:
        """Return the record of `Name` or `framework:Name`.

        Raises:
            PluginNotFoundError: Nothing has this name.
        """
        raise NotImplementedError

    def records(self) -> tuple[PluginInfo, ...]:
        """Return all records."""
        raise NotImplementedError

    def __getitem__(self, key: str) -> PluginInfo:
        plugin_type, _, name = key.partition(":")
        return self.resolve(plugin_type, name)

    def __contains__(self, key: object) -> bool:
        return exists(lambda: self[str(key)])

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key())

    def keys(self) -> list[str]:
        """Return a key for each plugin: `type:Name`, or `type:framework:Name` where the bare name means another one."""
        return list(self._by_key())

    def items(self) -> list[tuple[str, PluginInfo]]:
        """Return pairs (key, record): `registry[key]` is the record."""
        return list(self._by_key().items())

    def values(self) -> list[PluginInfo]:
        """Return the records, in the order of the keys."""
        return list(self._by_key().values())

    def __len__(self) -> int:
        return len(self._by_key())

    def _by_key(self) -> dict[str, PluginInfo]:
        """Return the records by key; of two that clash, so that neither can be looked up, there is one."""
        return {f"{info.type}:{name}": info for name, info in named(self.records())}


def exists(look_up: Callable[[], object]) -> bool:
    """Tell whether anything has the name that is looked up, though it may be ambiguous, or cannot be used here."""
    try:
        look_up()
    except PluginNotFoundError:
        return False
    except (AmbiguousPluginError, DuplicatePluginError, PluginUnavailableError):
        return True
    return True
