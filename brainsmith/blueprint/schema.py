"""What a blueprint says: frozen values, each with the place it was written at.

The values hold names, not records: :mod:`brainsmith.blueprint.resolve` looks the names up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from brainsmith.errors import Problem

#: Every key of a blueprint, by the mapping it stands in.
KEYS: Mapping[str, tuple[str, ...]] = {
    "": ("extends", "variables", "explore", "hw_compiler"),
    "explore": ("model", "constraints", "objectives"),
    "hw_compiler": (
        "requires",
        "target",
        "inputs",
        "kernels",
        "transforms",
        "transforms_phased",
        "steps",
        "change_steps",
        "args",
        "verify",
        "output",
        "strict",
    ),
    "target": ("part", "device", "clock", "fps", "fit"),
    "fit": ("use", "goal", "at_least"),
    "at_least": ("fps",),
    "input": ("datatype",),
    "device": ("lut", "ff", "bram18", "uram", "dsp"),
    "transforms_phased": ("pre_hw", "post_hw"),
    "verify": (
        "inputs",
        "labels",
        "expected",
        "float",
        "tolerance",
        "approximate",
        "changes_outputs",
        "unverified",
        "targets",
    ),
    "approximate": ("error", "classes"),
    "changes_outputs": ("labels", "expected"),
    "kernel": ("kernel", "backends"),
    "transform": ("transform", "args", "passes"),
    "step": ("step", "transform", "args", "passes"),
    "change_steps": ("insert", "replace", "remove", "wrap", "after", "before", "at", "with"),
}

#: The changes to an order of steps, and what each needs beside its own key: one of these.
CHANGES: Mapping[str, tuple[str, ...]] = {
    "insert": ("after", "before", "at"),
    "replace": ("with",),
    "remove": (),
    "wrap": ("with",),
}

#: What leaves a value open: one of a list, a number from one to another, or there or not.
SPACE_FORMS = ("choice", "range", "optional")

#: What an objective can be.
DIRECTIONS = ("max", "min")

#: What an exploration can make large or small, of each point.
FIGURES: Mapping[str, str] = {
    "fps": "frames per second",
    "interval_cycles": "cycles from frame to frame",
    "latency_cycles": "cycles from a frame's first beat in to its last beat out",
    "lut": "lookup tables",
    "ff": "flip-flops",
    "bram18": "block RAMs of 18 Kbit",
    "uram": "UltraRAMs",
    "dsp": "DSP slices",
    "cost": "the sum of the device's shares of LUT, block RAM and DSP",
    "fmax_mhz": "the clock that it reaches on an ECP5, where the step rtl_synthesise is asked to place it",
    "accuracy": "share of the samples whose class is right, from 0 to 1",
}

#: What a ``fit`` can be for: the rate, the time of one frame, or the size.
GOALS = ("fps", "latency", "resources")

#: Words of ``steps`` that place a list of transforms instead of naming a step.
PHASES = ("pre_hw", "transforms", "post_hw")

#: The order of a build whose blueprint has no ``steps``.
DEFAULT_STEPS = (
    "cleanup",
    "pre_hw",
    "transforms",
    "integer",
    "hardware_inference",
    "post_hw",
    "specialize",
    "fold",
    "estimate",
)


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a blueprint: the file as the user named it, line and column from 1; 0 for the whole file."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}"

    def problem(self, text: str) -> Problem:
        """Return a problem at this place."""
        return Problem(self.file, self.line, self.column, text)


NO_FILE = "(no blueprint)"
"""The file of a blueprint that none says."""

NOWHERE = Position("(no file)", 0, 0)
"""The place of what no file says: a value made in Python."""


@dataclass(frozen=True, slots=True)
class PluginName:
    """A plugin, group or backend type as a blueprint names it.

    Attributes:
        name: The name without ``~`` and framework.
        framework: The framework before the colon, empty for a bare name.
        optional: Whether a ``~`` stood before it: its absence is reported, but is no error.
    """

    name: str
    framework: str = ""
    optional: bool = False
    position: Position = field(default=NOWHERE, compare=False)

    @property
    def qualified(self) -> str:
        """Give ``framework:name``, or the bare name."""
        return f"{self.framework}:{self.name}" if self.framework else self.name


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of a transform or step: plain values by name, and where each stands."""

    values: Mapping[str, object] = field(default_factory=dict)
    positions: Mapping[str, Position] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class KernelEntry:
    """A kernel to build with, and its backends in order of preference (None: any of its backends)."""

    name: PluginName
    backends: tuple[PluginName, ...] | None = None

    @property
    def position(self) -> Position:
        """Give the place of the kernel's name."""
        return self.name.position


@dataclass(frozen=True, slots=True)
class StepEntry:
    """One entry of ``steps``, or of a list of transforms.

    Attributes:
        kind: ``step``, ``transform``, or ``phase`` for one of the words of `PHASES`.
        passes: How often it, or each transform of the step, may be applied again; None for the build's default.
    """

    kind: str
    name: PluginName
    args: Arguments = field(default_factory=Arguments)
    passes: int | None = None

    @property
    def position(self) -> Position:
        """Give the place of the entry's name."""
        return self.name.position


@dataclass(frozen=True, slots=True)
class Requirement:
    """The versions of a plugin or an installed distribution that a blueprint accepts.

    Attributes:
        name: A distribution's, or with a colon a plugin's: `framework:Name`, `type:Name` or `type:framework:Name`.
        versions: PEP 440 comparisons, such as `>=2,<3`.
    """

    name: str
    versions: str
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class FitGoal:
    """What the foldings are chosen for, in place of a rate.

    Attributes:
        use: The share of each resource of the device that may be taken, above 0 and up to 1; None for the build's default.
        goal: What is best: ``fps``, ``latency`` or ``resources``.
        fps: Inferences per second that must be reached; None for any rate.
    """

    use: float | None = None
    goal: str = "fps"
    fps: int | None = None
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Goal:
    """What the accelerator must fit and reach; None leaves the choice to the build.

    Attributes:
        part: Device with package and speed grade, such as ``xczu7ev-ffvc1156-2-e``; of a board, the part that it carries.
        device: What the part holds, by resource; empty to take what is known of it.
        clock_ns: Clock period in ns.
        fps: Inferences per second to reach.
        fit: What to choose the foldings for, in place of `fps`; None to fold for that.
    """

    part: str | None = None
    clock_ns: float | None = None
    fps: int | None = None
    fit: FitGoal | None = None
    device: Mapping[str, int] = field(default_factory=dict)
    position: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class InputDatatypes:
    """Which integers the inputs of the model are made of.

    Attributes:
        every: The datatype of each input that has none of its own, such as ``UINT8``; empty where none is stated.
        named: Datatypes by input.
        positions: Place of each, by input; that of `every` has the key ``""``.
    """

    every: str = ""
    named: Mapping[str, str] = field(default_factory=dict)
    positions: Mapping[str, Position] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Approximation:
    """How far a step may depart from what the model computed before it.

    Attributes:
        error: Largest absolute error of any output.
        classes: How many samples, of all, may be put into another class.
    """

    error: float
    classes: int = 0


@dataclass(frozen=True, slots=True)
class ChangesOutputs:
    """What a step that changes the outputs must give: absolute file names, of which one may be None."""

    labels: str | None = None
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class Verify:
    """Golden data of a build; file names are absolute, None where the blueprint gives none.

    Attributes:
        float_outputs: What a float model of the same network gives for the inputs: to report, not to check.
        tolerance: Largest allowed absolute error by name of the step; ``*`` is every other step.
        approximate: Steps that approximate, by name; those after one are compared with its results.
        changes_outputs: Steps that give other outputs, by name, and what is known of these.
        unverified: Names of the steps that are not verified.
        targets: On which targets the model is run for the report, the one to compare with first; None leaves the choice
            to the build, and an empty one compares none.
        positions: Place of each key, of each step under one as ``tolerance.<step>``, and of each file of a step as
            ``changes_outputs.<step>.labels``.
    """

    inputs: str | None = None
    labels: str | None = None
    expected: str | None = None
    tolerance: Mapping[str, float] = field(default_factory=dict)
    float_outputs: str | None = None
    approximate: Mapping[str, Approximation] = field(default_factory=dict)
    targets: tuple[PluginName, ...] | None = None
    changes_outputs: Mapping[str, ChangesOutputs] = field(default_factory=dict)
    unverified: tuple[str, ...] = ()
    positions: Mapping[str, Position] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Blueprint:
    """A blueprint, read and checked in form; the names in it are not looked up yet.

    Attributes:
        file: The file as the user named it, as messages show it; of several, with `` + `` between them.
        requires: The versions of plugins and distributions that it accepts.
        steps: None where the file has no ``steps``: the build takes `DEFAULT_STEPS`.
        args: Arguments of steps by the step's name, whether the file lists that step or the build adds it.
        output: One of `outputs.OUTPUTS`; None where the file has no ``output``: as far as its steps go.
        strict: Whether a build that is not proven in full ends as one that failed.
        blanks: Places of the bare ``~`` entries, which name nothing.
        positions: Place of each key of ``hw_compiler``, and of ``transforms_phased.<phase>`` and ``args.<step>``.
        sources: Digest of each file that was read, those that others extend included, by its real name.
        overrides: What was set over the files, as ``target.fps=1000``.
    """

    file: str
    requires: tuple[Requirement, ...] = ()
    goal: Goal = field(default_factory=Goal)
    inputs: InputDatatypes = field(default_factory=InputDatatypes)
    kernels: tuple[KernelEntry, ...] = ()
    transforms: tuple[StepEntry, ...] = ()
    pre_hw: tuple[StepEntry, ...] = ()
    post_hw: tuple[StepEntry, ...] = ()
    steps: tuple[StepEntry, ...] | None = None
    args: Mapping[str, Arguments] = field(default_factory=dict)
    verify: Verify = field(default_factory=Verify)
    output: str | None = None
    strict: bool = False
    blanks: tuple[Position, ...] = field(default=(), compare=False)
    positions: Mapping[str, Position] = field(default_factory=dict, compare=False)
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)
    overrides: tuple[str, ...] = field(default=(), compare=False)

    def phase(self, word: str) -> tuple[StepEntry, ...]:
        """Give the list that a word of `PHASES` places."""
        return {"pre_hw": self.pre_hw, "transforms": self.transforms, "post_hw": self.post_hw}[word]
