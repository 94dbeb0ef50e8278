"""Hunt for networks that a build gets wrong: random ones, each of which must end right or refused with node and reason.

    python benchmarks/hunt.py                   # 300 to estimates, then 40 to a simulated circuit
    python benchmarks/hunt.py --minutes 8       # new seeds until the time is over, one in eight simulated
    python benchmarks/hunt.py --seed 4711       # one network: its layers, how it ended; --keep DIR leaves its files
    python benchmarks/hunt.py --minutes 2 --only "group 3.*BipolarQuant"   # networks whose layers match
    python benchmarks/hunt.py --minutes 8 --circuits   # simulated circuits only: one in five networks becomes one
    python benchmarks/hunt.py --seed 0 --count 2000 --record out/hunt.jsonl --limit 300   # the same again goes on

`--record` notes each network that ended in a file, a line of JSON each, and leaves out those that are in it. A network
that takes longer than `--limit` seconds is counted apart, with its layers: it says nothing of what is right.

A right network gives every bit of what QONNX's execution of the original model gives, on inputs that the build did not see
(with scales that are no powers of two: up to float32's rounding of the last layer, and but for samples in which it
decides a tie). What is wrong, or an error of Python, FINN or numpy, is printed with its seed, and ends in exit code 1.
Of exact networks, those are printed too that only the golden inputs caught: there a proof is missing.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import os
import re
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

ESTIMATES, SIMULATED = 300, 40
SHOWN = 12
RARE = 20_000
LIKELY = re.compile(
    r"^(?!.*(unsigned weights|BIPOLAR|BipolarQuant|Concat|Split|Add\(t|residual|1-bit|float \[|UINT1 ))"
    r"(?!U?INT\d \[[23], \d, )"
)
"""Networks without what mostly has no layer in RTL."""


@dataclass(frozen=True)
class Case:
    """One network to judge: its seed, and how far it is built."""

    seed: int
    produce: str


@dataclass(frozen=True)
class Ended:
    """How a case ended.

    Attributes:
        case: It.
        kind: Its verdict's.
        text: Likewise.
        exact: Whether its arithmetic is.
        undecided: Samples in which float32 decides a tie.
        seconds: What it took.
        integers: Whether the front end made integer layers of it, however it ended.
    """

    case: Case
    kind: str
    text: str
    exact: bool
    undecided: int
    seconds: float
    integers: bool


def main() -> int:
    """Hunt as the command line says; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, help="new seeds until the time is over")
    parser.add_argument("--seed", type=int, help="one network, or where the seeds begin")
    parser.add_argument("--count", type=int, default=1, help="how many seeds from --seed on")
    parser.add_argument("--produce", choices=("estimates", "simulated"), default="estimates")
    parser.add_argument("--only", type=re.compile, help="networks whose layers match this pattern")
    parser.add_argument(
        "--circuits",
        action="store_true",
        help="simulate networks that are likely to become circuits, on a device with RTL for most layers",
    )
    parser.add_argument("--unverified", action="store_true", help="only proofs keep builds from being wrong")
    parser.add_argument(
        "--record", type=Path, help="a file of what ended, which is not judged again; with --seed"
    )
    parser.add_argument("--limit", type=int, default=0, help="seconds for a network; 0 is none")
    parser.add_argument("--keep", type=Path, help="leave the files of each network in this folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.record and options.seed is None:
        parser.error("--record goes on where it ended only with the same seeds: give --seed")
    before = read_record(options.record)
    only = options.only or (LIKELY if options.circuits else None)
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="brainsmith-hunt-") as folder:
        # The networks' circuits must be made anew, and leave nothing in the user's caches.
        os.environ.update(XDG_CACHE_HOME=f"{folder}/cache", XDG_CONFIG_HOME=f"{folder}/config")
        cases: Iterator[Case]
        if options.seed is not None:
            seeds = itertools.islice(_seeds(options.seed, only), options.count)
            cases = (Case(seed, options.produce) for seed in seeds)
        elif options.minutes is not None:
            cases = _until(begin + options.minutes * 60.0, only)
        else:
            cases = _set(only)
        if options.circuits:
            cases = (Case(case.seed, "simulated") for case in cases)
        done = {each.case for each in before}
        judged = partial(
            judged_case,
            limit=options.limit,
            folder=options.keep or Path(folder),
            verified=not options.unverified,
            circuits=options.circuits,
        )
        ended = hunted((case for case in cases if case not in done), judged, options.jobs, options.record)
        ended = [*before, *ended]
    _print(ended, time.perf_counter() - begin)
    if options.seed is not None and options.count == 1:
        from tests.hunt.networks import random_network

        print(random_network(options.seed).text)
        print("\n".join(f"{each.kind}: {each.text}" for each in ended))
    return int(any(each.kind in ("wrong", "raw") for each in ended))


def _seeds(first: int, only: re.Pattern[str] | None) -> Iterator[int]:
    """Give the seeds from a first one on whose networks' layers match a pattern."""
    if only is None:
        yield from itertools.count(first)
        return
    from tests.hunt.networks import random_network

    last = first
    for seed in itertools.count(first):
        if only.search(random_network(seed).text):
            yield seed
            last = seed
        elif seed - last == RARE:
            sys.exit(
                f"none of the {RARE} networks from seed {last} on has layers that match {only.pattern!r}"
            )


def _set(only: re.Pattern[str] | None) -> Iterator[Case]:
    first = secrets.randbelow(1 << 31)
    print(f"seeds from {first}", flush=True)
    for at, seed in enumerate(itertools.islice(_seeds(first, only), ESTIMATES + SIMULATED)):
        yield Case(seed, "estimates" if at < ESTIMATES else "simulated")


def _until(end: float, only: re.Pattern[str] | None) -> Iterator[Case]:
    """Give cases until the time is over: those that are under way then are still judged."""
    first = secrets.randbelow(1 << 31)
    print(f"seeds from {first}", flush=True)
    for at, seed in enumerate(_seeds(first, only)):
        if time.perf_counter() >= end:
            return
        yield Case(seed, "simulated" if at % 8 == 7 else "estimates")


def read_record(file: Path | None) -> list[Ended]:
    """Return what a record holds; nothing of one that is not there."""
    if file is None or not file.exists():
        return []
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [Ended(**{**line, "case": Case(**line["case"])}) for line in lines]


def note(file: Path | None, ended: Ended) -> None:
    """Add a line to a record."""
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as record:
            record.write(json.dumps(asdict(ended)) + "\n")


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return between which shares the true one lies with 95 % confidence (Wilson's score interval)."""
    if not of:
        return 0.0, 1.0
    share, weight = count / of, 1.96**2 / of
    half = 1.96 * ((share * (1 - share) + weight / 4) / of) ** 0.5
    ends = ((share + weight / 2 + sign * half) / (1 + weight) for sign in (-1, 1))
    low, high = (min(max(end, 0.0), 1.0) for end in ends)
    return low, high


def hunted(
    cases: Iterator[Case], judged: Callable[[Case], Ended], jobs: int, record: Path | None = None
) -> list[Ended]:
    """Judge each case in a process of its own kind, several at once; one that dies costs only its cases."""
    ended: list[Ended] = []
    running: dict[Future[Ended], Case] = {}
    pool = _pool(jobs)
    exhausted = False
    while running or not exhausted:
        while len(running) < jobs and not exhausted:
            case = next(cases, None)
            if case is None:
                exhausted = True
                break
            running[pool.submit(judged, case)] = case
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            case = running.pop(future)
            try:
                ended.append(future.result())
            except BrokenProcessPool:
                ended.append(Ended(case, "raw", "the process that built it died", False, 0, 0.0, False))
                pool = _pool(jobs)
            note(record, ended[-1])
            if ended[-1].kind in ("wrong", "raw", "slow") or (ended[-1].kind == "caught" and ended[-1].exact):
                print(f"  seed {case.seed} ({case.produce}) {ended[-1].kind}: {ended[-1].text}", flush=True)
    pool.shutdown()
    return ended


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))


class _TooLong(BaseException):
    """A network took longer than the limit; no error, so that nothing on the way takes it for one."""


def _give_up(*_: object) -> None:
    raise _TooLong


def judged_case(
    case: Case, folder: Path, verified: bool = True, circuits: bool = False, limit: int = 0
) -> Ended:
    """Judge one case, in a worker; for so many seconds at most, or 0 for any number."""
    import importlib
    import logging
    import shutil
    import warnings

    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    networks, judging = (importlib.import_module(f"tests.hunt.{name}") for name in ("networks", "judge"))
    begin = time.perf_counter()
    network = networks.random_network(case.seed)
    place = folder / f"{case.seed}_{case.produce}"
    blueprint = judging.RTL_BLUEPRINT if circuits else judging.BLUEPRINT
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(limit)
    try:
        verdict = judging.judge(network, case.produce, place, verified, blueprint)
    except _TooLong:
        verdict = judging.Verdict("slow", f"longer than {limit} s: {network.text}")
    finally:
        signal.alarm(0)
    known = verdict.kind == "right"
    integers = known or (verdict.kind != "slow" and _becomes_integers(place / "network.onnx"))
    if "brainsmith-hunt-" in str(folder):
        shutil.rmtree(place, ignore_errors=True)
    seconds = time.perf_counter() - begin
    return Ended(case, verdict.kind, verdict.text, network.exact, verdict.undecided, seconds, integers)


def _becomes_integers(file: Path) -> bool:
    """Tell whether the front end makes integer layers of a model."""
    from brainsmith.errors import BrainsmithError
    from brainsmith.execution.read_model import read_model
    from brainsmith.plugins import steps

    try:
        steps.integer(steps.cleanup(read_model(file), None), None)
    except BrainsmithError:
        return False
    return True


def _print(ended: list[Ended], seconds: float) -> None:
    kinds = ("right", "refused", "caught", "wrong", "raw", "slow")
    print(f"{len(ended)} networks in {seconds:.0f} s")
    print(
        f"  {'':<28} {'networks':>8} " + " ".join(f"{kind:>8}" for kind in kinds) + "  right, 95 % interval"
    )
    for produce in ("estimates", "simulated"):
        for chosen, what in (((True,), "exact scales"), ((False,), "real scales"), ((True, False), "all")):
            found = [each for each in ended if each.case.produce == produce and each.exact in chosen]
            counts = collections.Counter(each.kind for each in found)
            cells = " ".join(f"{counts[kind]:>8}" for kind in kinds)
            low, high = wilson(counts["right"], len(found) - counts["slow"])
            share = counts["right"] / max(len(found) - counts["slow"], 1)
            rate = f"{share:.1%} ({low:.1%} to {high:.1%})" if found else ""
            print(f"  {f'{produce}, {what}':<28} {len(found):>8} {cells}  {rate}")
    judged = [each for each in ended if each.kind != "slow"]
    bad = sum(each.kind in ("wrong", "raw") for each in judged)
    print(
        f"  wrong or raw: {bad} of {len(judged)}, at most {wilson(bad, len(judged))[1]:.2%} with 95 % confidence"
    )
    refused = [each for each in ended if each.kind in ("refused", "caught")]
    print(
        f"  refused: {len(refused) / max(len(ended), 1):.0%}; samples left out as ties of float32: "
        f"{sum(each.undecided for each in ended)}"
    )
    reasons = collections.Counter(_shape_of(each.text) for each in refused)
    print("  the most frequent reasons:")
    for reason, count in reasons.most_common(SHOWN):
        print(f"    {count:>4}  {reason}")


def _shape_of(text: str) -> str:
    """Return a reason without what only one network has in it: names and numbers."""
    return re.sub(r"[-+]?\d+(\.\d+)?", "#", re.sub(r"'[^']*'", "'...'", text))[:150]


if __name__ == "__main__":
    sys.exit(main())
