"""Run Yosys on a piece of a design, in a child process, once per distinct content."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import BuildError, ToolError
from brainsmith.monitoring.work_span import WorkSpan
from brainsmith.plugin.processes import run_python
from brainsmith.plugin.tools import find_package
from brainsmith.rtl.synthesis import cell_timing, slowest_path, worker
from brainsmith.rtl.synthesis.script import BLACK_BOXES, MUX_MAP, MUX_TO_SHIFT, VENDOR_CELLS, synthesis_script
from brainsmith.rtl.synthesis.slowest_path import SlowestPath
from brainsmith.rtl.synthesis.worker import JOB, RESULT
from brainsmith.settings import cache_dir
from brainsmith.store.files import write_texts
from brainsmith.store.fingerprint import digest
from brainsmith.store.folders import KeptFolders

if TYPE_CHECKING:
    from brainsmith.rtl.synthesis.fpga_families import Family
    from brainsmith.rtl.synthesis.pieces import Piece
    from brainsmith.rtl.synthesis.script import YosysCommand

SECONDS = 3600.0
"""How long one piece may take; the digits networks as a whole take ten."""

_SHOWN = 6


@dataclass(frozen=True)
class Mapped:
    """A piece as Yosys mapped it.

    Attributes:
        cells: How many of each type.
        path: The slowest; None if the job has no delays.
        seconds: Of processor time that it took, when it was done.
        peak_mb: The most memory that the process had.
    """

    cells: dict[str, int]
    path: SlowestPath | None
    seconds: float
    peak_mb: int


@dataclass(frozen=True)
class Job:
    """All that decides what a synthesis gives: files by name, commands, and the tool.

    Attributes:
        what: For messages; not part of the key.
        files: Their contents by their paths in the folder that Yosys runs in.
        commands: Of Yosys.
        tool: With its version.
        lutrams: Yosys' library of memories made of LUTs; empty for parts of others than AMD.
        styles: Of memories: what sources may ask for, and what they get.
        keep: Files that the commands write and that stay beside the result.
        top: The top module.
        delays: Of the family's cells (`Delays`), for the slowest path; empty for parts of others than AMD.
    """

    what: str
    files: dict[str, str]
    commands: tuple[YosysCommand, ...]
    tool: str
    lutrams: str = ""
    styles: dict[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    top: str = ""
    delays: dict[str, float] = field(default_factory=dict)

    def key(self) -> str:
        """Return what its result is kept under."""
        fields = asdict(self)
        del fields["what"]
        modules = (worker, slowest_path, cell_timing) if self.delays else (worker,)
        fields["worker"] = [Path(str(module.__file__)).read_text("utf-8") for module in modules]
        return digest(json.dumps(fields, sort_keys=True))


def find_yosys() -> str:
    """Return the name and version of the Yosys that is used.

    Raises:
        ToolError: pyosys is not installed.
    """
    tool = find_package("pyosys", "synthesises; pip install pyosys")
    if not tool.usable:
        raise ToolError("no design can be synthesised: pyosys is missing\n  pip install pyosys==0.70")
    return f"Yosys {tool.version}"


def default_store() -> KeptFolders:
    """Return where results are kept: in the user's cache folder."""
    return KeptFolders(Path(cache_dir()) / "synthesis")


def plan_job(piece: Piece, family: Family, tool: str) -> Job:
    """Return the synthesis of a piece for a family of parts."""
    commands = synthesis_script(piece.top, source_paths(piece), family)
    beside = {BLACK_BOXES: VENDOR_CELLS, MUX_MAP: MUX_TO_SHIFT}
    files = {**piece.files, **{name: file.read_text("utf-8") for name, file in beside.items()}}
    memories = family.memories
    return Job(
        piece.name,
        files,
        commands,
        tool,
        lutrams=memories.lutrams,
        styles=memories.styles,
        top=piece.top,
        delays=asdict(family.delays),
    )


def source_paths(piece: Piece) -> list[str]:
    """Return where a piece's sources lie in the folder that Yosys runs in."""
    from brainsmith.rtl.stitching.design_folder import SOURCES  # whoever only asks for Yosys needs no design

    return [f"{SOURCES}/{source.name}" for source in piece.sources]


def map_piece(job: Job, store: KeptFolders) -> Mapped:
    """Run a synthesis, or return what it gave before.

    Raises:
        BuildError: Yosys refuses the sources, or ends without a result.
    """
    found = json.loads((entry_of(job, store) / RESULT).read_text("utf-8"))
    return Mapped(**{**found, "path": SlowestPath(**found["path"]) if found["path"] else None})


def entry_of(job: Job, store: KeptFolders) -> Path:
    """Return the folder of a synthesis' result; errors are those of `map_piece`."""
    return store.obtain(job.key(), lambda work: _execute(job, work), {"of": f"{job.what}, by {job.tool}"})


def _execute(job: Job, work: Path) -> None:
    """Fill the folder of a result: nothing but that stays in it."""
    scratch = work / "scratch"
    fields = {**asdict(job), "files": None}
    write_texts(scratch, {**job.files, JOB: json.dumps(fields)})
    program = "from brainsmith.rtl.synthesis.worker import main\nmain()\n"
    about = {"brainsmith.design.name": job.what, "brainsmith.tool.name": job.tool}
    try:
        with WorkSpan("synthesis", f"{__name__}._execute", {**about}):
            run_python(program, timeout=SECONDS, what=f"{job.tool} ({job.what})", folder=str(scratch))
    except ToolError as error:
        raise BuildError(_refusal(job, error)) from error
    for name in (RESULT, *job.keep):
        if not (scratch / name).is_file():
            raise BuildError(f"{job.what} cannot be synthesised: {job.tool} ended without a result")
        (scratch / name).rename(work / name)
    shutil.rmtree(scratch)


def _refusal(job: Job, error: ToolError) -> str:
    """Say which piece, and quote what Yosys said with the places in the sources."""
    lines = [line for line in error.output.splitlines() if re.search(r"\berror\b", line, re.IGNORECASE)]
    said = [line.strip() for line in lines if "see full log" not in line and "Build failed" not in line]
    quoted = "".join(f"\n  {line}" for line in dict.fromkeys(said[:_SHOWN])) or f"\n  {error}"
    return (
        f"{job.what} cannot be synthesised; {job.tool} says:{quoted}\n"
        "  if the place is in FINN's library, brainsmith/rtl/library/rules.yaml needs a rule for it; leave the step "
        "rtl_synthesise out (output: simulated) to build without"
    )
