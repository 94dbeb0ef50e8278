"""How far a build goes: which steps each output takes, and in which order they must stand.

The command line reads this at its start, so nothing is imported here that costs time.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TAKES: Mapping[str, tuple[str, ...]] = {
    "estimates": (),
    "rtl": ("rtl_codegen", "rtl_stitch", "rtl_size_fifos", "rtl_package"),
    "simulated": ("rtl_codegen", "rtl_stitch", "rtl_size_fifos", "rtl_simulate", "rtl_package"),
    "synthesised": (
        "rtl_codegen",
        "rtl_stitch",
        "rtl_size_fifos",
        "rtl_simulate",
        "rtl_synthesise",
        "rtl_package",
    ),
}
"""By output, the RTL steps that it takes, in the order in which they run."""

OUTPUTS = tuple(TAKES)
"""What a build can produce, each including the one before it."""

RTL_STEPS = TAKES[OUTPUTS[-1]]
"""Every RTL step, in the order in which they run."""

_TAKES_FROM_EARLIER = {
    "rtl_stitch": "connects the layers that rtl_codegen generates",
    "rtl_size_fifos": "simulates the design that rtl_stitch makes",
    "rtl_simulate": "runs the design with the FIFOs that rtl_size_fifos has sized",
    "rtl_synthesise": "takes the design that rtl_simulate has verified",
    "rtl_package": "packs what all the others make",
}

# Of the steps whose work is known: those that leave the model as it is. What a project's own step does is not known.
_KNOWN = ("brainsmith", "qonnx", "finn")
_UNNAMED = ("", "brainsmith", "callable")
_LOOKS_ONLY = ("brainsmith:estimate", "finn:step_generate_estimate_reports")


class Entry:
    """One entry of a pipeline, of a blueprint or of Python.

    Attributes:
        name: The plugin's name, or the function's.
        kind: `step`, `transform` or `phase`.
        framework: Where it comes from; for a function that is no plugin, anything.
        place: Where it stands, for messages.
    """

    __slots__ = ("framework", "kind", "name", "place")

    def __init__(self, name: str, kind: str, framework: str, place: str) -> None:
        self.name = name
        self.kind = kind
        self.framework = framework
        self.place = place

    @property
    def rtl_step(self) -> str:
        """The RTL step that it is, or takes the place of (`mine:rtl_synthesise`); empty for any other entry."""
        return self.name if self.kind == "step" and self.name in RTL_STEPS else ""

    @property
    def changes_model(self) -> bool:
        """Whether it is known to change the model."""
        if self.kind != "step":
            return True
        return self.framework in _KNOWN and f"{self.framework}:{self.name}" not in _LOOKS_ONLY

    @property
    def shown(self) -> str:
        """How messages name it."""
        return repr(self.name if self.framework in _UNNAMED else f"{self.framework}:{self.name}")


class Arrangement:
    """A pipeline as it runs.

    Attributes:
        output: How far it goes.
        order: The position of each entry that runs, and the name of each RTL step that is added.
        left_out: The positions of the entries that lie beyond the output.
        problems: What is wrong with the order: the position of an entry, and why.
    """

    __slots__ = ("left_out", "order", "output", "problems")

    def __init__(
        self,
        output: str,
        order: tuple[int | str, ...],
        left_out: tuple[int, ...],
        problems: tuple[tuple[int, str], ...],
    ) -> None:
        self.output = output
        self.order = order
        self.left_out = left_out
        self.problems = problems


def arrange(entries: Sequence[Entry], output: str | None) -> Arrangement:
    """Leave out of a pipeline the RTL steps beyond an output, and add those that the output takes and it lacks.

    Without an output a pipeline ends where it ends: only what its last RTL step needs is added. An added step stands
    before the next RTL step that is named, or at the end. What is named keeps its place.

    Args:
        entries: The pipeline as it is written.
        output: One of `OUTPUTS`; None for the least that takes all the RTL steps named.
    """
    named = [entry.rtl_step for entry in entries]
    reached = output or _least(named)
    wanted = TAKES[reached]
    if output is None:
        last = max((RTL_STEPS.index(step) for step in named if step), default=-1)
        wanted = tuple(step for step in wanted if RTL_STEPS.index(step) <= last)
    missing = [step for step in wanted if step not in named]
    order: list[int | str] = []
    for at, step in enumerate(named):
        if step and step not in wanted:
            continue
        while step and missing and RTL_STEPS.index(missing[0]) < RTL_STEPS.index(step):
            order.append(missing.pop(0))
        order.append(at)
    left_out = tuple(at for at, step in enumerate(named) if step and step not in wanted)
    return Arrangement(reached, (*order, *missing), left_out, tuple(_problems(entries)))


def wrong_output(label: str, shown: str, hint: str) -> str:
    """Say that something is no output, and list those there are."""
    return f"{label} must be one of {', '.join(OUTPUTS)}, not {shown}{hint or '.'}"


def _least(named: Iterable[str]) -> str:
    steps = {step for step in named if step}
    return next(output for output in OUTPUTS if steps.issubset(TAKES[output]))


def _problems(entries: Sequence[Entry]) -> Iterable[tuple[int, str]]:
    """Yield what cannot work, whatever the output: another one may be asked for with the same pipeline."""
    before: list[Entry] = []
    for at, entry in enumerate(entries):
        problem = _misplaced(entry, before) if entry.rtl_step else _too_late(entry, before)
        if problem:
            yield at, problem
        if entry.rtl_step:
            before.append(entry)


def _misplaced(entry: Entry, before: list[Entry]) -> str:
    """Say why an RTL step cannot stand behind those before it."""
    for other in before:
        if other.rtl_step == entry.rtl_step:
            if other.shown == entry.shown:
                return f"step {entry.shown} is listed twice: first at {other.place}"
            return f"step {entry.shown} takes the place of {other.shown}, which is there: {other.place}"
    for other in before:
        if RTL_STEPS.index(other.rtl_step) > RTL_STEPS.index(entry.rtl_step):
            why = _TAKES_FROM_EARLIER[other.rtl_step]
            return (
                f"step {entry.shown} stands after {other.shown}, which {why}. "
                f"The order is {', '.join(RTL_STEPS)}"
            )
    return ""


def _too_late(entry: Entry, before: list[Entry]) -> str:
    """Say why another entry cannot stand behind an RTL step."""
    if not before or not entry.changes_model:
        return ""
    what = {"step": f"step {entry.shown}", "transform": f"transform {entry.shown}"}.get(
        entry.kind, f"the list {entry.shown}"
    )
    return (
        f"{what} stands after {before[0].shown} and changes the model, which what was generated would no longer fit. "
        f"Put it before {before[0].shown}"
    )
