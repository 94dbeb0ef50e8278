"""Write the data sheets of this project's RTL backends: `python docs/kernels/data_sheets.py [BACKEND...]`.

Each says what a representative layer (benchmarks/kernel_cases.py) needs by the backend's own formulas, over all that
folding may choose, and names the timing diagram that `draw.py` makes. `brainsmith catalogue` shows them.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from kernel_cases import CASES  # noqa: E402

from brainsmith.plugin.adapters.finn_runtime import prepare_finn  # noqa: E402
from brainsmith.rtl.cores.trial import make_model  # noqa: E402
from brainsmith.web.catalogue.data_sheet import FIGURES, SCHEMA  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brainsmith.rtl.cores.trial import Case

FAMILY = "xcup"
"""Of parts: UltraScale+, whose LUTs are those of the other families, too."""

SHEETS = ROOT / "brainsmith" / "backends" / "rtl" / "data_sheets"
MOST, MOST_BESIDE = 12, 5
"""How many values of one attribute are shown, and of each further one."""


def sheet_file(name: str) -> Path:
    """Return where a backend's data sheet is."""
    return SHEETS / f"{name}.json"


def data_sheet(name: str) -> dict[str, Any]:
    """Return the data sheet of a backend."""
    shown = CASES[name]
    found = {case: _points(layer) for case, layer in shown.measured.items()}
    case = max(found, key=lambda one: len(found[one][1]))  # the first of those over which most can be seen
    attributes, points = found[case]
    return {
        "schema": SCHEMA,
        "backend": name,
        "timing": f"{shown.core}.svg",
        "case": _without(case, attributes),
        "attributes": attributes,
        "points": points,
    }


def _without(case: str, attributes: Sequence[str]) -> str:
    """Return the name of a case, without the values of attributes that the points vary."""
    return re.sub(rf", (?:{'|'.join(attributes)}) \d+", "", case) if attributes else case


def _points(case: Case) -> tuple[list[str], list[dict[str, int]]]:
    """Return the attributes that folding may raise, the one with the most values first, and the figures of each choice."""
    prepare_finn()
    from qonnx.custom_op.registry import getCustomOp

    model = make_model([case])
    layer = getCustomOp(model.graph.node[0])
    choices: dict[str, list[int]] = {}
    for one in layer.parallelism():
        choices.setdefault(one.attribute, []).extend(one.values)
    ordered = sorted(choices, key=lambda name: -len(set(choices[name])))
    values = [_some(choices[name], MOST_BESIDE if at else MOST) for at, name in enumerate(ordered)]
    return ordered, list(_measured(layer, ordered, values))


def _some(values: Sequence[int], most: int) -> list[int]:
    """Return some of the values, from the least to the greatest, about evenly spaced."""
    every = sorted(set(values))
    count = min(most, len(every))
    return [every[round(at * (len(every) - 1) / max(count - 1, 1))] for at in range(count)]


def _measured(layer: Any, names: Sequence[str], values: Sequence[Sequence[int]]) -> Iterator[dict[str, int]]:
    for chosen in product(*values):
        for name, value in zip(names, chosen, strict=True):
            layer.set_nodeattr(name, value)
        if not type(layer).supports(layer):
            continue
        used = layer.core_resources(FAMILY)
        figures = {"cycles": layer.get_exp_cycles(), **{name: getattr(used, name) for name in FIGURES[1:]}}
        yield {
            **dict(zip(names, chosen, strict=True)),
            **{name: int(value) for name, value in figures.items()},
        }


def text_of(sheet: dict[str, Any]) -> str:
    """Return the content of a file, one point a line."""
    head = json.dumps({**sheet, "points": []}, indent=1).removesuffix("[]\n}")
    points = ",\n".join(f"  {json.dumps(point)}" for point in sheet["points"])
    return f"{head}[\n{points}\n ]\n}}\n"


def main(names: list[str]) -> None:
    """Write the named backends' data sheets; all by default."""
    for name in names or CASES:
        sheet_file(name).write_text(text_of(data_sheet(name)), encoding="utf-8")
        print(sheet_file(name).relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])
