"""The records that the last discovery found, by name and by object."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from brainsmith.plugin.info import PluginInfo


class Discovered:
    """The records of one discovery after the other; replaced whole, so that it is read without a lock.

    Attributes:
        by_key: The records of each `type:Name`, in the order in which they were found.
        by_reference: The record of each object, by its type and `module:qualname`.
    """

    def __init__(self) -> None:
        self.by_key: dict[str, list[PluginInfo]] = {}
        self.by_reference: dict[tuple[str, str], PluginInfo] = {}
        self._records: dict[int, PluginInfo] = {}
        self._shared: set[tuple[str, str]] = set()

    def __iter__(self) -> Iterator[PluginInfo]:
        for infos in self.by_key.values():
            yield from infos

    def replace(self, records: list[PluginInfo]) -> None:
        """Take over what a discovery found, in place of what the last one found: where most is the same, only the rest."""
        now = dict(zip(map(id, records), records, strict=True))
        if len(now.keys() & self._records.keys()) < len(now) // 2 or not self._replace_some(now):
            by_key: dict[str, list[PluginInfo]] = {}
            by_reference: dict[tuple[str, str], PluginInfo] = {}
            self._shared = set()
            for info in records:
                self._enter(info, by_key, by_reference)
            self.by_key, self.by_reference = by_key, by_reference
        self._records = now

    def replace_all_next(self) -> None:
        """Enter all records at the next replacement: the last one may not have got to its end."""
        self._records = {}

    def _replace_some(self, now: dict[int, PluginInfo]) -> bool:
        """Replace the records by others, most of which are the same; return whether that can be done in part."""
        removed = [self._records[number] for number in self._records.keys() - now.keys()]
        fresh = [info for number, info in now.items() if number not in self._records]
        by_key, by_reference = dict(self.by_key), dict(self.by_reference)
        for info in removed:
            if (info.type, info.reference) in self._shared:
                return False
            del by_reference[info.type, info.reference]
            by_key[info.key] = [other for other in by_key[info.key] if other is not info]
        for info in fresh:
            # The order of several of one name, or of one object, is that of the records.
            if by_key.get(info.key) or (info.type, info.reference) in by_reference:
                return False
            by_key.pop(info.key, None)
            self._enter(info, by_key, by_reference)
        for info in removed:
            if not by_key.get(info.key):
                by_key.pop(info.key, None)
        self.by_key, self.by_reference = by_key, by_reference
        return True

    def _enter(
        self,
        info: PluginInfo,
        by_key: dict[str, list[PluginInfo]],
        by_reference: dict[tuple[str, str], PluginInfo],
    ) -> None:
        by_key.setdefault(info.key, []).append(info)
        reference = (info.type, info.reference)
        if reference in by_reference:  # two plugins of other names, or frameworks, may be one object
            self._shared.add(reference)
        by_reference[reference] = info
