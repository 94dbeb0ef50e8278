"""A list of records."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brainsmith.plugin.info import PluginInfo

    Base = tuple[PluginInfo, ...]
else:
    Base = tuple


class RecordList(Base):
    """Records in order; `.items()` gives pairs (name, record) as well."""

    __slots__ = ()

    def items(self) -> list[tuple[str, PluginInfo]]:
        """Return pairs (name, record)."""
        return [(info.name, info) for info in self]

    def names(self) -> list[str]:
        """Return the names."""
        return [info.name for info in self]
