"""Classes that are their fields: as `dataclasses` makes them, which costs as much to import as a cached discovery."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, dataclass_transform
else:

    def dataclass_transform() -> object:
        """Let type checkers alone know that a class has fields."""
        return lambda cls: cls


@dataclass_transform()
class Struct:
    """A class whose attributes are those that its body annotates, in that order; what is assigned there is the default."""

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = self.__annotations__
        vars(self).update(zip(fields, values, strict=False), **named)
        missing = [name for name in fields if not hasattr(self, name)]
        if missing or len(values) > len(fields) or named.keys() - fields:
            raise TypeError(f"{type(self).__name__} takes {', '.join(fields)}")
        self.__post_init__()

    def __post_init__(self) -> None:
        """Make what follows from the fields."""

    def __repr__(self) -> str:
        values = (repr(getattr(self, name)) for name in self.__annotations__)
        return f"{type(self).__name__}({', '.join(values)})"
