"""Why nothing fits, and what would: a lower rate, a larger part."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from brainsmith.errors import BuildError
from brainsmith.figures import plural, share
from brainsmith.rtl.devices.device import RESOURCES, all_devices
from brainsmith.rtl.fitting.options import budget_of
from brainsmith.rtl.fitting.solve import Chosen, Misfit, choose, fits
from brainsmith.rtl.synthesis.fpga_families import family_of

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from brainsmith.rtl.devices.device import FpgaDevice
    from brainsmith.rtl.fitting.fit import Fit
    from brainsmith.rtl.fitting.options import Network

NAMES = {"lut": "LUT", "ff": "FF", "bram18": "BRAM18", "uram": "URAM", "dsp": "DSP"}

_PARTS = 3
"""How many parts that would do are named."""

_SECONDS, _SECONDS_EACH = 15.0, 2.0
"""How long is looked for what would do, in all and at most for each question."""


def why_nothing_fits(
    network: Network, found: Misfit, fit: Fit, clock_ns: float, bits: int | None = None
) -> str:
    """Return the message of a goal that no folding reaches.

    Args:
        network: What could be chosen.
        found: What comes nearest.
        fit: What was asked for.
        clock_ns: The clock period.
        bits: With how many bits of weights it would fit; None if that is not known, or with none.
    """
    rate = "" if fit.fps is None else f" at {fit.fps:,} frames per second"
    if found.choice is None and found.slowest:
        return (
            f"no folding reaches {fit.fps:,} frames per second: {found.slowest} takes {found.least:,} cycles per frame at "
            f"least, which is {_rate(found.least, clock_ns)} with a clock of {clock_ns:g} ns\n"
            "  lower at_least: {fps: ...}, or raise the clock"
        )
    limits = budget_of(fit.device, fit.use).limits
    lacking = [
        f"{NAMES[name]} ({int(need):,} of {int(limit):,}, {_beyond(int(need), int(limit), fit, name)})"
        for name, need, limit in zip(RESOURCES, found.needs, limits, strict=True)
        if need > limit
    ]
    return "\n".join(
        [
            f"no folding fits {share(fit.use, 0)} of {fit.device.name}{rate}: the one that comes nearest needs too much of "
            f"{', '.join(lacking)}",
            *(f"  {text}" for text in _what_would(network, fit, clock_ns, bits)),
        ]
    )


def _beyond(need: int, limit: int, fit: Fit, name: str) -> str:
    """Return by how much a need is beyond what may be used, or why nothing may be."""
    if limit:
        return f"{share(need / limit - 1, 0)} more"
    whole = int(getattr(fit.device, name))
    return f"{share(fit.use, 0)} of {whole} is less than one" if whole else "the device has none"


def _rate(interval: int, clock_ns: float) -> str:
    return f"{1e9 / (interval * clock_ns):,.0f} frames per second"


def _what_would(network: Network, fit: Fit, clock_ns: float, bits: int | None) -> list[str]:
    """Say which rate, which parts and which weights would do."""
    said = []
    asking = _Asking(network, None if fit.fps is None else max(1, int(1e9 / (clock_ns * fit.fps))))
    if fit.fps is not None:
        slower = choose(network, budget_of(fit.device, fit.use))
        if isinstance(slower, Chosen):
            said.append(f"{_rate(slower.interval, clock_ns)} would fit")
    if fit.use < 1 and asking.fits(fit.device, 1.0):
        said.append("all of the device would do: use: 100 %")
    family = family_of(fit.device.name).name
    larger = sorted(
        (device for device in all_devices() if _family(device) == family and device.lut > fit.device.lut),
        key=lambda device: (device.lut, device.name),
    )
    parts: list[str] = []
    for device in larger:
        if len(parts) < _PARTS and asking.fits(device, fit.use):
            parts.append(device.name)
    if parts:
        said.append(f"a larger part would do: {', '.join(parts)}")
    if bits is not None:
        said.append(f"weights of at most {plural(bits, 'bit')} would do")
    if not said and asking.undecided:
        named = ", ".join(asking.undecided[-_PARTS:])
        return [f"whether a larger part would do could not be found in {_SECONDS:g} s: try {named}"]
    return said or ["no larger part of the family would do: give weights and activations fewer bits"]


class _Asking:
    """Questions whether devices would do, in limited time; what is known to fit a device fits every larger one.

    Args:
        network: What could be chosen.
        interval: The largest that is allowed, cycles; None for any.

    Attributes:
        undecided: The devices for which time was too short.
    """

    def __init__(self, network: Network, interval: int | None) -> None:
        self.undecided: list[str] = []
        self._network, self._interval = network, interval
        self._until = time.monotonic() + _SECONDS
        self._known: list[tuple[NDArray[Any], bool]] = []

    def fits(self, device: FpgaDevice, use: float) -> bool:
        """Tell whether something is known to fit a share of a device."""
        budget = budget_of(device, use)
        for limits, known in self._known:
            if (limits <= budget.limits).all() if known else (budget.limits <= limits).all():
                return known
        seconds = min(_SECONDS_EACH, self._until - time.monotonic())
        answer = fits(self._network, budget, self._interval, seconds) if seconds > 0 else None
        if answer is None:
            self.undecided.append(device.name)
            return False
        self._known.append((budget.limits, answer))
        return answer


def _family(device: FpgaDevice) -> str:
    """Return the family of a device; empty if nothing is synthesised for it."""
    try:
        return family_of(device.name).name
    except BuildError:
        return ""
