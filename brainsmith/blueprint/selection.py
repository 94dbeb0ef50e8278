"""What a blueprint selects: the records of its plugins, in the order in which a build uses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brainsmith.blueprint.outputs import OUTPUTS
from brainsmith.blueprint.schema import NOWHERE, Position
from brainsmith.plugin.info import PluginInfo


@dataclass(frozen=True, slots=True)
class KernelUse:
    """A kernel, and the backends that may implement it.

    Attributes:
        backends: In order of preference; all backends of the kernel, ranked, where the blueprint names none.
        backend_types: The types of `backends`, each once, in that order.
        optional: Whether the blueprint wrote it with ``~``.
    """

    record: PluginInfo
    backends: tuple[PluginInfo, ...] = ()
    backend_types: tuple[str, ...] = ()
    optional: bool = False
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class TransformUse:
    """A transform to apply with its arguments.

    Attributes:
        group: The group through which the blueprint named it; empty if it did so itself.
        passes: How often it may be applied again; None for the build's default.
    """

    record: PluginInfo
    args: Mapping[str, Any] = field(default_factory=dict)
    optional: bool = False
    group: str = ""
    position: Position = field(default=NOWHERE, compare=False)
    passes: int | None = None


@dataclass(frozen=True, slots=True)
class StepUse:
    """One entry of the pipeline.

    Attributes:
        name: As `step_name` gives it, or the word of a phase.
        kind: ``step``, ``transform``, or ``phase``, which stands for a list of transforms.
        record: None for a phase.
        args: Keywords of a step beyond ``(model, cfg)``, or of a transform's constructor.
        passes: How often it, or each transform of the step, may be applied again; None for the build's default.
    """

    name: str
    kind: str
    record: PluginInfo | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    position: Position = field(default=NOWHERE, compare=False)
    passes: int | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """All that a blueprint selects; groups are expanded.

    Attributes:
        steps: The pipeline; each phase in it stands for the list of that name.
        output: How far it goes: one of `outputs.OUTPUTS`.
        left_out: The steps that the blueprint names and that lie beyond the output.
        targets: On which the model is compared, the one to compare with first; None leaves the choice to the build.
        skipped: What the blueprint names and the build does without, each with place and reason.
    """

    kernels: tuple[KernelUse, ...] = ()
    transforms: tuple[TransformUse, ...] = ()
    pre_hw: tuple[TransformUse, ...] = ()
    post_hw: tuple[TransformUse, ...] = ()
    steps: tuple[StepUse, ...] = ()
    output: str = OUTPUTS[0]
    left_out: tuple[StepUse, ...] = ()
    targets: tuple[PluginInfo, ...] | None = None
    skipped: tuple[str, ...] = ()

    def phase(self, word: str) -> tuple[TransformUse, ...]:
        """Give the transforms that a phase of the pipeline stands for."""
        return {"pre_hw": self.pre_hw, "transforms": self.transforms, "post_hw": self.post_hw}[word]

    @property
    def records(self) -> tuple[PluginInfo, ...]:
        """Every plugin that the blueprint needs, each once."""
        found: dict[PluginInfo, None] = {}
        for kernel in self.kernels:
            found.update(dict.fromkeys((kernel.record, *kernel.backends)))
        for transform in (*self.pre_hw, *self.transforms, *self.post_hw):
            found[transform.record] = None
        found.update({step.record: None for step in self.steps if step.record is not None})
        found.update(dict.fromkeys(self.targets or ()))
        return tuple(found)


def step_name(record: PluginInfo) -> str:
    """Name a step of the pipeline, for tolerances and reports: FINN's steps show whose they are."""
    return record.qualified if record.type == "step" and record.framework == "finn" else record.name


def kernel_use(
    record: PluginInfo, backends: tuple[PluginInfo, ...], optional: bool, position: Position
) -> KernelUse:
    """Make a `KernelUse`, whose types follow from its backends."""
    types = dict.fromkeys(backend.backend_type for backend in backends if backend.backend_type)
    return KernelUse(record, backends, tuple(types), optional, position)
