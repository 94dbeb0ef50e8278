"""rtlsim: the circuit of a build, simulated cycle by cycle."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import ToolError, UnsupportedResourceError
from brainsmith.execution.kept_tensors import chosen_tensors, joined_tensors
from brainsmith.plugin.core import target
from brainsmith.plugin.info import Priority
from brainsmith.runtime.annotated_inputs import refuse_outside
from brainsmith.runtime.capabilities import Capabilities
from brainsmith.runtime.prepared import Prepared
from brainsmith.runtime.target import Target
from brainsmith.runtime.target_settings import FLAG, OPTIONAL_COUNT, checked_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brainsmith.graph.array_types import Array
    from brainsmith.rtl.package.running import RunnablePackage
    from brainsmith.rtl.verification.design_runs import DesignRun
    from brainsmith.targets.build_folder import BuildFolder

SETTINGS = {"check": FLAG, "frames": OPTIONAL_COUNT}


@dataclass(frozen=True)
class Simulated:
    """What a build's folder becomes.

    Attributes:
        folder: What was read.
        accelerator: Its simulation.
    """

    folder: BuildFolder
    accelerator: RunnablePackage

    def tensors(self) -> tuple[str, ...]:
        """Return the tensors that can be kept: those of the host, and those that move from layer to layer.

        Where the model has more than the accelerator, its inputs and outputs are no such tensors, nor is what has the
        name of one.
        """
        folder = self.folder
        if folder.host is None and folder.alignment is None:
            return self.accelerator.boundaries()
        host = () if folder.host is None else folder.host.tensors()
        names = dict.fromkeys((*host, *self.accelerator.boundaries()))
        return folder.signature.inside(names)


@target(
    name="rtlsim",
    priority=Priority.LOW,
    device_types=("rtlsim",),
    requires=("verilator",),
    display_name="RTL simulation",
    vendor="BrainSmith",
    description="The stitched circuit of a build, cycle by cycle in Verilator",
)
class RtlSimulation(Target):
    """Runs the circuit of a build's folder.

    The folder is that of a build (then inputs and outputs are those of the model that was built, and what the host
    computes before and after the accelerator is computed here too), or a package alone, such as `out/accelerator`
    (then they are the accelerator's own, whole numbers). All frames of a call go through the pipeline one after the
    other; each call begins with a reset of a circuit of its own, so devices and threads do not meet.
    """

    def __init__(self, device_id: int = 0) -> None:
        super().__init__(device_id)
        self._own = threading.local()

    @property
    def last_run(self) -> DesignRun | None:
        """What the last `execute` of the calling thread measured: cycles, interval, latency; None before the first."""
        return getattr(self._own, "run", None)

    def unavailable_reason(self) -> str:
        """Return which tool is missing, and how to get it."""
        from brainsmith.rtl.simulation.toolchain import find_toolchain

        try:
            find_toolchain()
        except ToolError as error:
            return str(error)
        return ""

    def supports(self, resource: Any) -> str:
        """Return why a resource is no accelerator."""
        from brainsmith.rtl.package.contents import package_folder

        if not isinstance(resource, (str, Path)):
            return f"rtlsim runs the folder of a build, not {type(resource).__name__}"
        folder = Path(resource)
        if package_folder(folder):
            return ""
        what = "holds none" if folder.is_dir() else "is a file" if folder.exists() else "does not exist"
        return (
            f"rtlsim runs the folder of a build with an accelerator, and {resource} {what}: "
            "brainsmith build MODEL --blueprint FILE --output DIR --produce simulated"
        )

    def get_capabilities(self) -> Capabilities:
        """Return what it promises: what the hardware computes, and when."""
        return Capabilities(
            bit_exact=True,
            cycle_accurate=True,
            batch=True,
            streaming=True,
            intermediates=True,
            concurrent=True,
        )

    def prepare_resource(self, resource: Any, config: Mapping[str, Any] | None = None) -> Prepared:
        """Read a build's folder and build its simulation, or take the one that is kept.

        Args:
            resource: The folder.
            config: `frames`: how many will be run, about; for many the simulation is optimised (by default as for what
                its build ran). `check`: whether a few golden frames are run before it is used (by default).

        Raises:
            UnsupportedResourceError: It is no accelerator.
            TargetError: The configuration has other words or values.
            BuildError: A file of it cannot be read.
            SimulationError: It cannot be built, or golden frames do not have the golden outputs.
            ToolError: g++ or Verilator is missing.
        """
        from brainsmith.rtl.package.running import prepare_package
        from brainsmith.targets.build_folder import read_build_folder

        if problem := self.supports(resource):
            raise UnsupportedResourceError(problem)
        settings = checked_settings("rtlsim", config, SETTINGS)
        folder = read_build_folder(Path(resource))
        accelerator = prepare_package(folder.package, **settings)
        return Prepared(target=self, signature=folder.signature, payload=Simulated(folder, accelerator))

    def execute(  # type: ignore[override]  # an unknown keyword is a TypeError
        self,
        prepared: Prepared,
        inputs: Any,
        *,
        keep: Iterable[str] | None = (),
        seed: int | None = None,
        limit: int | None = None,
        constant: bool = False,
    ) -> dict[str, Array]:
        """Run frames through the circuit; `last_run` says how long it took.

        Args:
            prepared: Of this target.
            inputs: By name, or one array.
            keep: Further tensors: of the host, and of those that move from layer to layer; None for all.
            seed: Of random stalls at all ends of the circuit; none by default.
            limit: The cycles after which a run is given up; it follows the estimate by default.
            constant: Whether outputs that never change are accepted though the circuit was not checked.

        Returns:
            The outputs, then what is kept, with all frames in the first axis.

        Raises:
            InputError: Inputs do not fit, or there is no such tensor.
            SimulationError: The circuit reported an error, or its result cannot be trusted.
            SimulationStalledError: Not all came out within the limit.
        """
        simulated: Simulated = prepared.payload
        folder = simulated.folder
        arrays, frames = folder.signature.checked(inputs)
        refuse_outside(folder.signature, arrays)
        wanted = chosen_tensors(keep, simulated.tensors(), folder.signature.names)
        inside = [name for name in wanted if name in simulated.accelerator.boundaries()]
        outputs = [stream.name for stream in simulated.accelerator.design.outputs] if constant else ()
        kept: dict[str, Array] = {}

        def run(stacks: dict[str, Array]) -> dict[str, Array]:
            done = simulated.accelerator.run(stacks, keep=inside, seed=seed, limit=limit, constant=outputs)
            self._own.run = done
            kept.update(folder.carried(done.tensors))
            return folder.carried(done.outputs)

        found = folder.run(
            folder.signature.stacked(arrays, frames), run, frozenset(wanted).difference(inside)
        )
        return joined_tensors(folder.signature, {**kept, **found}, wanted)
