"""Results that are kept for later calls, up to some number of them."""

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class BoundedCache(dict):  # type: ignore[type-arg]  # a process that loads a library imports this, and no typing
    """A dictionary that is emptied when a new entry would exceed its size: what it held is computed again."""

    __slots__ = ("_most",)

    def __init__(self, most: int) -> None:
        self._most = most

    def __setitem__(self, key: "Any", value: "Any") -> None:
        if len(self) >= self._most:
            self.clear()
        super().__setitem__(key, value)
