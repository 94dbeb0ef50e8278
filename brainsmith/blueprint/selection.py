"""What a blueprint selects: the records of its plugins, in the order in which a build uses them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

from brainsmith.blueprint.build_step import BuildStep
from brainsmith.blueprint.outputs import OUTPUTS
from brainsmith.blueprint.schema import NOWHERE, Position
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_needs import Need, VersionLimits


@dataclass(frozen=True, slots=True)
class KernelUse:
    """A kernel, and the backends that may implement it.

    Attributes:
        backends: In order of preference; all backends of the kernel, ranked, where the blueprint names none.
    """

    record: PluginInfo
    backends: tuple[PluginInfo, ...] = ()
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Selection:
    """All that a blueprint selects; groups are expanded.

    Attributes:
        steps: The pipeline; each phase in it stands for the list of that name.
        output: How far it goes: one of `outputs.OUTPUTS`.
        left_out: The steps that the blueprint names and that lie beyond the output.
        targets: On which the model is compared, the one to compare with first; None leaves the choice to the build.
        required: The plugins that those require, each after all that it requires itself.
        asked: What the blueprint and these plugins ask of versions: type, name, versions and who asks, of each `Need`.
        skipped: What the blueprint names and the build does without, each with place and reason.
    """

    kernels: tuple[KernelUse, ...] = ()
    transforms: tuple[BuildStep, ...] = ()
    pre_hw: tuple[BuildStep, ...] = ()
    post_hw: tuple[BuildStep, ...] = ()
    steps: tuple[BuildStep, ...] = ()
    output: str = OUTPUTS[0]
    left_out: tuple[BuildStep, ...] = ()
    targets: tuple[PluginInfo, ...] | None = None
    required: tuple[PluginInfo, ...] = ()
    asked: tuple[tuple[str, str, str, str], ...] = ()
    skipped: tuple[str, ...] = ()

    def phase(self, word: str) -> tuple[BuildStep, ...]:
        """Give the transforms that a phase of the pipeline stands for."""
        return {"pre_hw": self.pre_hw, "transforms": self.transforms, "post_hw": self.post_hw}[word]

    @property
    def limits(self) -> VersionLimits:
        """What is asked of versions."""
        return VersionLimits(Need(*each) for each in self.asked)

    @property
    def pipeline(self) -> tuple[BuildStep, ...]:
        """The steps, each phase replaced by its transforms."""
        runs = (self.phase(step.name) if step.kind == "phase" else (step,) for step in self.steps)
        return tuple(chain.from_iterable(runs))

    @property
    def records(self) -> tuple[PluginInfo, ...]:
        """Every plugin that the blueprint needs, each once; those that others require come first."""
        found: dict[PluginInfo, None] = dict.fromkeys(self.required)
        for kernel in self.kernels:
            found.update(dict.fromkeys((kernel.record, *kernel.backends)))
        steps = (*self.pre_hw, *self.transforms, *self.post_hw, *self.steps)
        found.update({step.record: None for step in steps if step.record is not None})
        found.update(dict.fromkeys(self.targets or ()))
        return tuple(found)
