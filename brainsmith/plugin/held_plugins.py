"""A build ends with the plugins that it began with: what changes meanwhile is for the next one.

For example, a build runs, its steps are loaded, and somebody saves `plugins/scale.py`. The build goes on with the functions
that it has, also where a step looks a plugin up by its name. If that plugin was not loaded yet, its file is of another
version than the rest, and loading it is an error.
"""

from __future__ import annotations

from _contextvars import ContextVar

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginLoadError
from brainsmith.plugin.read_rules import FRAMEWORKS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextvars import Token
    from typing import Any

    from brainsmith.plugin.info import PluginInfo

_HELD: ContextVar[HeldPlugins | None] = ContextVar("held_plugins", default=None)


class HeldPlugins:
    """The plugins that a build began with, in force for what runs inside of a `with`.

    Attributes:
        objects: Those that are loaded, by type and reference.
        has_changed: Tells whether any file of a plugin is another one than when the build began.
    """

    def __init__(self, objects: Mapping[tuple[str, str], Any], has_changed: Callable[[], bool]) -> None:
        self.objects = dict(objects)
        self.has_changed = has_changed
        self._tokens: list[Token[HeldPlugins | None]] = []

    def load(self, info: PluginInfo, load: Callable[[PluginInfo], Any]) -> Any:
        """Return the object of a record: the one that the build began with, or one that is loaded of the same sources.

        Raises:
            PluginLoadError: It was not loaded yet, and plugins changed meanwhile.
        """
        key = (info.type, info.reference)
        if info.framework in FRAMEWORKS:
            return load(info)
        if key not in self.objects:
            found = None if self.has_changed() else load(info)
            self.refuse_changed(f"{info.type} {info.qualified!r} ({info.origin})")
            self.objects[key] = found
        return self.objects[key]

    def refuse_changed(self, what: str) -> None:
        """Check that what was just loaded, or is about to be, is of the build's version.

        Raises:
            PluginLoadError: Files of plugins changed.
        """
        if self.has_changed():
            raise PluginLoadError(
                f"{what} cannot be loaded any more: plugin files changed after this build began, and one build does not "
                "mix two versions of them; build again"
            )

    def __enter__(self) -> HeldPlugins:
        self._tokens.append(_HELD.set(self))
        return self

    def __exit__(self, *error: object) -> None:
        _HELD.reset(self._tokens.pop())


def held_plugins() -> HeldPlugins | None:
    """Return what the build began with that runs here; None outside of builds."""
    return _HELD.get()
