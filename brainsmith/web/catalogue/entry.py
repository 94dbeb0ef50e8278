"""What a catalogue knows of one plugin: its record, what its source says, and how it relates to others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainsmith.plugin.details import Details
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.web.catalogue.data_sheet import DataSheet


@dataclass(frozen=True)
class Provider:
    """Who provides the plugins of a framework.

    Attributes:
        framework: As in records.
        name: Of the distribution; the framework's where there is no distribution.
        version: Of the distribution; empty where there is no distribution.
        licence: What the distribution states; empty if it states none.
    """

    framework: str
    name: str
    version: str
    licence: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}".rstrip()


@dataclass(frozen=True)
class CatalogueEntry:
    """One plugin of a catalogue.

    Attributes:
        info: Its record.
        key: `type:framework:Name`; two objects of one framework under one name also have the reference in it.
        details: What its source says; None where it cannot be read.
        reason: Why it cannot.
        provider: Who provides it.
        licence: Its own, or else its provider's.
        source: Its file as its package names it, such as `finn/util/basic.py`; empty where it is not known.
        address: Of its page, relative to the site.
        kernels: Of a backend or transform: the keys of the kernels that it states.
        backends: Of a kernel: the keys of its backends, the default one first.
        inferred_by: Of a kernel: the keys of the transforms that infer it.
        rivals: The keys of the other plugins of its type and name, and whether the bare name means this one.
        sheet: Its data sheet, if it has one.
    """

    info: PluginInfo
    key: str
    details: Details | None
    reason: str
    provider: Provider
    licence: str
    source: str
    address: str
    kernels: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    inferred_by: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    is_meant: bool = True
    sheet: DataSheet | None = None

    @property
    def docstring(self) -> str:
        """The docstring; empty where there is none, or none can be read."""
        return self.details.docstring if self.details else ""

    @property
    def summary(self) -> str:
        """One line: the description, or else the first paragraph of the docstring."""
        return " ".join((self.info.description or self.docstring.partition("\n\n")[0]).split())

    def to_plain(self) -> dict[str, Any]:
        """Return what `catalogue.json` states of it; what is empty is left out."""
        info = self.info
        plain = {
            "type": info.type,
            "framework": info.framework,
            "name": info.name,
            "page": self.address,
            "description": info.description,
            "documentation": self.docstring,
            "parameters": [str(one) for one in self.details.parameters] if self.details else None,
            "bases": list(self.details.bases) if self.details else None,
            "unreadable": self.reason and "yes",
            "reference": info.reference,
            "source": self.source,
            "version": info.version,
            "provider": str(self.provider),
            "author": info.author,
            "license": self.licence,
            "requires": list(info.requires),
            "requires_plugins": list(info.requires_plugins),
            "min_brainsmith": info.min_brainsmith,
            "max_brainsmith": info.max_brainsmith,
            "priority": info.priority,
            "stage": info.stage,
            "kernel": info.kernel,
            "backend_type": info.backend_type,
            "device_types": list(info.device_types),
            "tags": list(info.tags),
            "kernels": list(self.kernels),
            "backends": list(self.backends),
            "extra": {
                name: _plain(value) for name, value in sorted(info.extra.items()) if name not in PLACES
            },
        }
        return {name: value for name, value in plain.items() if value not in (None, "", [], {})}


PLACES = ("second_of", "path", "folder")
"""What records hold in `extra` that names a place on this machine."""


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value if isinstance(value, bool | int | str) else str(value)
