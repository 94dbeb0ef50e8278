"""Write docs/supported.md from the registry: `python docs/supported.py`. A test says when it has to be written again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from brainsmith.build.operator_support import kernel_support, operator_support, refusals
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.plugin_registry import Registry

FILE = Path(__file__).with_name("supported.md")
SHIPPED = ("brainsmith:", "finn:")

HEAD = """\
# Operators, kernels and limits, by the registry

`python docs/supported.py` writes this page from the records of plugins and from their sources; a test compares it with
them. `brainsmith plugins support` prints the same with your own plugins in it. What is promised, and what to know of each
operator, is in [operators.md](operators.md).

## Operators

An operator may have several ways into hardware; which one is taken depends on its node. Steps prepare graphs first: a
convolution becomes windows and a matrix product, and a scale goes into thresholds. A way without circuits has HLS
backends only, or none.

"""

KERNELS = """\

## Kernels and their backends

"""

LIMITS = """\

## Limits of backends

For which reasons BrainSmith's own backends refuse a node of their kernel, as their sources state them; an ellipsis stands
for what a message fills in. Besides, each RTL backend takes integers only, a parallelism that divides what it works on,
and results that its Python model holds exactly. FINN's backends follow FINN's rules.

"""


def page(registry: Registry) -> str:
    """Return the text of the page."""
    return "".join((HEAD, *_operators(registry), KERNELS, *_kernels(registry), LIMITS, *_limits(registry)))


def _operators(registry: Registry) -> Iterator[str]:
    yield from _row("operator", "becomes", "by", "circuits")
    for way in operator_support(registry):
        yield from _row(
            f"`{way.operator}`", *map(_listed, (way.becomes, (way.transform,), way.circuits)), head=False
        )


def _kernels(registry: Registry) -> Iterator[str]:
    yield from _row("kernel", "inferred by", "RTL", "HLS")
    for one in kernel_support(registry):
        if one.rtl or one.hls:
            yield from _row(f"`{one.kernel}`", *map(_listed, (one.inferred_by, one.rtl, one.hls)), head=False)


def _limits(registry: Registry) -> Iterator[str]:
    yield from _row("backend", "refuses a node because")
    for info in registry.records("backend", "brainsmith"):
        for reason in refusals(info):
            yield from _row(f"`{info.name}`", reason, head=False)


def _row(*cells: str, head: bool = True) -> Iterator[str]:
    yield f"| {' | '.join(cells)} |\n".replace("|  |", "| |").replace("|  |", "| |")
    if head:
        yield f"|{' --- |' * len(cells)}\n"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" if name.startswith(SHIPPED) else name for name in names if name)


if __name__ == "__main__":
    FILE.write_text(page(get_plugin_manager().all_records()[0]), encoding="utf-8")
    print(f"wrote {FILE}")
