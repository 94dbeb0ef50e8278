"""Measure whole processes side by side: in turn, so that a machine whose speed drifts slows both."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Figures:
    """What some runs of one command took.

    Attributes:
        seconds: Wall-clock time of each run.
        megabytes: Peak resident memory of each run, in 10^6 bytes.
    """

    seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)

    @property
    def best_ms(self) -> float:
        """The fastest run, in milliseconds."""
        return min(self.seconds) * 1e3

    @property
    def median_s(self) -> float:
        """The median run, in seconds."""
        return statistics.median(self.seconds)

    @property
    def median_mb(self) -> float:
        """The median peak memory."""
        return statistics.median(self.megabytes)


def environment(cache: Path, **more: str) -> dict[str, str]:
    """Return an environment with caches of its own, and otherwise this one's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BRAINSMITH_")}
    return {**kept, "XDG_CACHE_HOME": str(cache), "XDG_CONFIG_HOME": str(cache / "config"), **more}


@contextmanager
def empty_cache() -> Iterator[Path]:
    """Give a new, empty cache folder, and remove it."""
    folder = Path(tempfile.mkdtemp(prefix="brainsmith-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_once(command: Sequence[str], env: dict[str, str], figures: Figures, cwd: Path | None = None) -> None:
    """Run a command, and add its time and peak memory to the figures.

    Raises:
        SystemExit: It failed; what it printed is shown.
    """
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=env, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{errors.decode(errors='replace')}")
    figures.seconds.append(seconds)
    figures.megabytes.append(usage.ru_maxrss * 1024 / 1e6)


def in_turn(
    commands: Mapping[str, Sequence[str]], env: dict[str, str], runs: int, cwd: Path
) -> dict[str, Figures]:
    """Run several commands in turn in a folder, after one run of each that does not count."""
    figures = {name: Figures() for name in commands}
    for command in commands.values():
        run_once(command, env, Figures(), cwd)
    for _ in range(runs):
        for name, command in commands.items():
            run_once(command, env, figures[name], cwd)
    return figures


def row(what: str, found: str, goal: str, *, reached: bool) -> None:
    """Print one line of a table of figures."""
    print(f"  {what:<66} {found:>22}   {goal:<14} {'reached' if reached else 'NOT REACHED'}")


def compile_package() -> None:
    """Write the package's bytecode, as installing it does; the environment may forbid Python to."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(ROOT / "brainsmith")], env=env, check=True)
