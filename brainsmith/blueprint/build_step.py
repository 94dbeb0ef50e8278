"""A step of a build: a plugin with its arguments, or a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brainsmith.blueprint.outputs import RTL_STEPS
from brainsmith.blueprint.schema import NOWHERE, Position
from brainsmith.plugin.info import PluginInfo

StepFunction = Callable[[Any, Any], Any]

# Of the steps whose work is known: those that leave the model as it is. What a project's own step does is not known.
_KNOWN = ("brainsmith", "qonnx", "finn")
_UNNAMED = ("", "brainsmith", "callable")
_LOOKS_ONLY = ("brainsmith:estimate", "finn:step_generate_estimate_reports")


@dataclass(frozen=True, slots=True)
class BuildStep:
    """One entry of a pipeline, with its plugin looked up.

    Attributes:
        name: As tolerances and reports name it (`step_name`), the word of a phase, or where a callable was written
            (`lambda at flow.py:12`).
        framework: Where it comes from; "callable" for a function that is no plugin.
        kind: "step", "transform" for a transform that the pipeline applies itself, or "phase", which stands for a list
            of transforms.
        args: For a transform's constructor, or further keyword arguments of a step.
        record: The plugin, if it is one; it is imported when the step first has to run.
        target: The object itself, for a callable.
        passes: How many passes each of its transforms may take; None for the default.
        group: The group through which the blueprint named it; empty if it did so itself.
        position: Where it was written, for messages.
    """

    name: str
    framework: str
    kind: str
    args: Mapping[str, Any] = field(default_factory=dict)
    record: PluginInfo | None = None
    target: Any = None
    passes: int | None = None
    group: str = ""
    position: Position = field(default=NOWHERE, compare=False)

    @property
    def plugin(self) -> str:
        """The plugin as `framework:name`; empty for a function or a phase."""
        return self.record.qualified if self.record is not None else ""

    @property
    def module(self) -> str:
        """The name of the module that it is defined in."""
        if self.record is not None:
            return self.record.module
        return str(getattr(self.target, "__module__", None) or "")

    @property
    def rtl_step(self) -> str:
        """The RTL step that it is, or takes the place of (`mine:rtl_synthesise`); empty for any other."""
        return self._own_name if self.kind == "step" and self._own_name in RTL_STEPS else ""

    @property
    def changes_model(self) -> bool:
        """Whether it is known to change the model."""
        if self.kind != "step":
            return True
        return self.framework in _KNOWN and f"{self.framework}:{self._own_name}" not in _LOOKS_ONLY

    @property
    def shown(self) -> str:
        """How messages about the order name it."""
        own = self._own_name
        return repr(own if self.framework in _UNNAMED else f"{self.framework}:{own}")

    @property
    def _own_name(self) -> str:
        return self.name if self.record is None else self.record.name

    def load(self) -> StepFunction:
        """Import the plugin and return the function to call with (model, cfg).

        Raises:
            PluginLoadError: Its import failed; the message carries its own error.
        """
        target = self.target if self.record is None else self.record.load()
        args = dict(self.args)
        if self.kind == "transform":
            return lambda model, cfg: model.transform(target(**args) if isinstance(target, type) else target)
        if args:
            return lambda model, cfg: target(model, cfg, **args)
        return target  # type: ignore[no-any-return]


def step_of(record: PluginInfo, position: Position = NOWHERE, **more: Any) -> BuildStep:
    """Return the step that a plugin is; nothing is imported.

    Args:
        record: The plugin.
        position: Where it was named.
        more: Further fields of `BuildStep`.
    """
    return BuildStep(
        step_name(record), record.framework, record.type, record=record, position=position, **more
    )


def step_name(record: PluginInfo) -> str:
    """Name a step of the pipeline, for tolerances and reports: FINN's steps show whose they are."""
    return record.qualified if record.type == "step" and record.framework == "finn" else record.name
