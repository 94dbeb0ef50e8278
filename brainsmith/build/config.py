"""The `cfg` of steps: a light one for ours, FINN's own for FINN's, and a view that notes what steps read."""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.store.reads import file_digest

if TYPE_CHECKING:
    from brainsmith.rtl.fitting.fit import Fit


@dataclass
class StepConfig:
    """The part of FINN's `DataflowBuildConfig` that steps of this project use, with the same names.

    Attributes:
        output_dir: Where a step may put files; an absolute path.
        synth_clk_period_ns: The target clock, nanoseconds.
        fpga_part: The device; None where the blueprint names none.
        target_fps: Frames per second that folding aims at; None keeps the smallest folding.
        kernel_preferences: The backends that each kernel of the blueprint may have, the preferred one first: both by
            qualified names (`finn:MVAU`). By hand, bare names, `hls` and `rtl`, and `*` for all other kernels do too.
        verify_input_npy: The golden inputs, (samples, ...) in a .npy file; None where there are none.
        approximate: The largest error of each step that may approximate, as the blueprint states.
        fit: The device to fit in place of a rate to reach, and what is best; None to fold for `target_fps`.
    """

    output_dir: str = ""
    synth_clk_period_ns: float = 10.0
    fpga_part: str | None = None
    target_fps: int | None = None
    kernel_preferences: dict[str, tuple[str, ...]] = field(default_factory=dict)
    verify_input_npy: str | Path | None = None
    approximate: dict[str, float] = field(default_factory=dict)
    fit: Fit | None = None

    def _resolve_fpga_part(self) -> str:
        if self.fpga_part is None:
            raise BuildError("the blueprint names no device: add `part:` under `hw_compiler: target:`")
        return self.fpga_part

    def _resolve_hls_clk_period(self) -> float:
        return self.synth_clk_period_ns

    def _resolve_cycles_per_frame(self) -> int | None:
        if self.target_fps is None:
            return None
        return int(1e9 / self.synth_clk_period_ns / self.target_fps)

    def get_report_directory(self, create: bool = True) -> Path:
        """Return the folder for reports."""
        folder = Path(self.output_dir) / "report"
        if create:
            folder.mkdir(parents=True, exist_ok=True)
        return folder


def finn_config(config: StepConfig) -> Any:
    """Make FINN's own config with the same values, for FINN's own steps.

    Estimates are its only output, because every other one needs Vivado. Loading it costs FINN's builder
    package, so it is made only when a FINN step is in the pipeline.
    """
    from brainsmith.plugin.adapters.finn_runtime import prepare_finn

    prepare_finn()
    from finn.builder.build_dataflow_config import DataflowBuildConfig, DataflowOutputType

    made = DataflowBuildConfig(
        output_dir=config.output_dir,
        synth_clk_period_ns=config.synth_clk_period_ns,
        fpga_part=config.fpga_part,
        target_fps=config.target_fps,
        generate_outputs=[DataflowOutputType.ESTIMATE_REPORTS],
    )
    # FINN's own default is a file name; here None says that there are no golden inputs.
    made.verify_input_npy = config.verify_input_npy
    made.fit = config.fit
    made.kernel_preferences = config.kernel_preferences
    made.approximate = config.approximate
    return made


class RecordingView:
    """A config as one step sees it: everything it reads or writes is noted.

    It passes for the config itself (`isinstance`, `dataclasses.fields`, `asdict`, `replace`), and the config's own methods
    run on the view, so that what they read is noted too. Whoever copies it, or asks for all of it at once, reads all of it.
    """

    __slots__ = ("__weakref__", "_config", "_reads", "_writes")
    _config: Any
    _reads: dict[str, str]
    _writes: set[str]

    def __init__(self, config: Any) -> None:
        object.__setattr__(self, "_config", config)
        object.__setattr__(self, "_reads", {})
        object.__setattr__(self, "_writes", set())

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Return the config's class, so that isinstance tests in steps hold."""
        return type(self._config)

    @property
    def __dataclass_fields__(self) -> Any:
        """The config's fields: `dataclasses.asdict` and `replace` look for them in the type itself, not in `__class__`."""
        return self._config.__dataclass_fields__

    def __getattr__(self, name: str) -> Any:
        config = self._config
        if name == "__dict__":
            return vars(self._whole())
        method = None if name in vars(config) else getattr(type(config), name, None)
        if isinstance(method, types.FunctionType):
            return types.MethodType(method, self)
        if not name.startswith("__"):  # what a step found counts, not what it then made of it
            self._reads.setdefault(name, current(config, name))
        return getattr(config, name)

    def _whole(self) -> Any:
        """Return the config itself, all of which counts as read."""
        for name in vars(self._config):
            getattr(self, name)
        return self._config

    def __repr__(self) -> str:
        return repr(self._whole())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._whole().__reduce_ex__(protocol)

    def __setattr__(self, name: str, value: Any) -> None:
        self._writes.add(name)
        setattr(self._config, name, value)


def reads_of(view: RecordingView) -> dict[str, str]:
    """Return what a step read: the name of each part, and its value as text."""
    return dict(view._reads)


def writes_of(view: RecordingView) -> tuple[str, ...]:
    """Return the names of the parts that a step set, or changed in place, as a list that it appended to."""
    changed = {name for name, then in view._reads.items() if current(view._config, name) != then}
    return tuple(sorted(view._writes | changed))


def describe(value: Any) -> str:
    """Return a config value as text that differs whenever the value does.

    A file that a `Path` names counts with its content alone: the same file elsewhere is the same value.
    """
    if isinstance(value, Path) and value.is_file():
        return f"a file of content {file_digest(str(value))}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {describe(value[key])}" for key in sorted(value, key=str)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(describe(entry) for entry in value) + "]"
    return repr(value)


def current(config: Any, name: str) -> str:
    """Return what a step that reads `name` would find now, as `describe` writes it."""
    try:
        return describe(getattr(config, name))
    except AttributeError:
        return "absent"
