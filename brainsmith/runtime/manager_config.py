"""What a resource manager is configured with: the device, whether it says what it does, and arguments of targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from brainsmith.close_names import did_you_mean
from brainsmith.errors import SettingsError
from brainsmith.runtime.target_log import is_verbose, set_verbose
from brainsmith.settings import load_settings

_KEYS = ("device", "verbose", "targets")


@dataclass(frozen=True)
class ManagerConfig:
    """The checked configuration of a manager.

    Attributes:
        device: Its name, as `init` takes it.
        names_device: Whether the configuration or a setting names it.
        verbose: Whether events are written to stderr; None leaves that as it is.
        targets: Constructor arguments by the name of the target, `name` or `framework:name`.
    """

    device: str
    names_device: bool
    verbose: bool | None
    targets: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, config: Mapping[str, Any] | None) -> ManagerConfig:
        """Check a configuration; what it does not say, the settings do.

        Raises:
            SettingsError: A key is unknown, or a value cannot be used.
        """
        given = dict(config or {})
        for key in given:
            if key not in _KEYS:
                raise SettingsError(
                    f"a resource manager has no setting {key!r}{did_you_mean(str(key), _KEYS)}\n"
                    f"  it has {', '.join(_KEYS)}"
                )
        targets = given.get("targets", {})
        if not isinstance(targets, Mapping) or not all(isinstance(v, Mapping) for v in targets.values()):
            raise SettingsError(f"targets must be a table of tables of arguments, not {targets!r}")
        settings = load_settings(device=given.get("device"), verbose=given.get("verbose"))
        return cls(
            device=settings.device,
            names_device="device" in settings.sources,
            verbose=settings.verbose if "verbose" in settings.sources else None,
            targets=targets,
        )

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Write events to stderr or not, if that was asked for; as before if what is done inside raises."""
        before = is_verbose()
        if self.verbose is not None:
            set_verbose(self.verbose)
        try:
            yield
        except BaseException:
            if is_verbose() != before:
                set_verbose(before)
            raise
