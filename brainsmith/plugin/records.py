"""A list of records."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.precedence import named

if TYPE_CHECKING:
    from brainsmith.plugin.info import PluginInfo

    Base = tuple[PluginInfo, ...]
else:
    Base = tuple


SHOWN, SHOWN_WIDTH = 20, 100
"""How much of a list its repr shows: a screen has 24 lines at least."""


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

    def __repr__(self) -> str:
        from brainsmith.figures import plural  # only who looks at it pays

        shown = [f"  {info.key:<40} {info.framework}"[:SHOWN_WIDTH] for info in self[:SHOWN]]
        more = [f"  and {len(self) - SHOWN} more"] if len(self) > SHOWN else []
        return "\n".join([f"<{plural(len(self), 'plugin')}", *shown, *more]) + ">"

    def _repr_html_(self) -> str:
        from brainsmith.plugin.pages import records_page  # only a notebook shows it

        return records_page(self)
