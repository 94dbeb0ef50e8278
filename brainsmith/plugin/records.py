"""A list of records."""

from __future__ import annotations

from brainsmith.plugin.precedence import named

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
        """Return pairs (name, record): `Name` for the record that it means here, `framework:Name` for the others."""
        return named(self)

    def values(self) -> list[PluginInfo]:
        """Return the records."""
        return list(self)

    def names(self) -> list[str]:
        """Return the names."""
        return [info.name for info in self]
