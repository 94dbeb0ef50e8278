"""The ordered steps of a build: a tuple, and one callback between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from brainsmith.build.artifact import Artifact
    from brainsmith.plugin.info import PluginInfo

    StepFunction = Callable[[Any, Any], Any]
    Callback = Callable[["BuildStep | None", Artifact, "BuildStep | None"], None]
    Apply = Callable[["BuildStep", Artifact], Artifact]


@dataclass(frozen=True)
class BuildStep:
    """One entry of a pipeline.

    Attributes:
        name: As the blueprint names it, or where a callable was written (`lambda at flow.py:12`).
        framework: Where it comes from; "callable" for a function that is no plugin.
        kind: "step", or "transform" for a transform that the pipeline applies itself.
        arguments: For a transform's constructor, or further keyword arguments of a step.
        record: The plugin, if it is one; it is imported when the step first has to run.
        target: The object itself, for a callable.
        passes: How many passes each of its transforms may take; None for the default.
    """

    name: str
    framework: str
    kind: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    record: PluginInfo | None = None
    target: Any = None
    passes: int | None = None

    @property
    def module(self) -> str:
        """The name of the module that it is defined in."""
        if self.record is not None:
            return self.record.module
        return str(getattr(self.target, "__module__", None) or "")

    def load(self) -> StepFunction:
        """Import the plugin and return the function to call with (model, cfg).

        Raises:
            PluginLoadError: Its import failed; the message carries its own error.
        """
        target = self.target if self.record is None else self.record.load()
        arguments = dict(self.arguments)
        if self.kind == "transform":
            return lambda model, cfg: model.transform(
                target(**arguments) if isinstance(target, type) else target
            )
        if arguments:
            return lambda model, cfg: target(model, cfg, **arguments)
        return target  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Pipeline:
    """The steps in order.

    Attributes:
        steps: What runs.
        callback: Called before the first step, between two, and after the last with (previous, model, next):
            progress, checkpoints, verification and timing hook in here.
    """

    steps: tuple[BuildStep, ...]
    callback: Callback

    def run(self, model: Artifact, apply: Apply) -> Artifact:
        """Run all steps on a model; `apply` runs one of them, or takes its result from the cache."""
        previous: BuildStep | None = None
        for step in self.steps:
            self.callback(previous, model, step)
            model = apply(step, model)
            previous = step
        self.callback(previous, model, None)
        return model
