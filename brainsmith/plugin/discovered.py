"""The records that a discovery found, by name and by object."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brainsmith.plugin.info import PluginInfo


class Discovered:
    """The records of one discovery: a value, in whose place the next one's is put, so that it is read without a lock.

    Attributes:
        by_key: The records of each `type:Name`, in the order in which they were found.
        by_reference: The record of each object, by its type and `module:qualname`; the last one of several.
    """

    def __init__(self, records: Iterable[PluginInfo] = ()) -> None:
        self.by_key: dict[str, list[PluginInfo]] = {}
        self.by_reference: dict[tuple[str, str], PluginInfo] = {}
        for info in records:
            name, plugin_type, _, reference = info.to_plain()[:4]  # each cached discovery enters hundreds
            self.by_key.setdefault(f"{plugin_type}:{name}", []).append(info)
            self.by_reference[plugin_type, reference] = info

    def __iter__(self) -> Iterator[PluginInfo]:
        for infos in self.by_key.values():
            yield from infos
