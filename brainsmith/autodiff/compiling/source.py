"""The C++ of an expression: one loop over the columns of a row, and one more for each depth of reductions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from brainsmith.autodiff.compiling.expression import (
    Constant,
    Input,
    Operand,
    Result,
)  # fmt: skip
from brainsmith.autodiff.compiling.functions import FUNCTIONS
from brainsmith.autodiff.compiling.kernel import Kernel
from brainsmith.autodiff.special import ERF_POLYNOMIAL, ERF_REACH
from brainsmith.errors import OpError

C_TYPES = {
    "bool": "bool", "float32": "float", "float64": "double",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip

_SHORT_POWERS = (-2, -1, 2, 3, 4)
_FOLDER = Path(__file__).parent
_BOUNDED = {"maximum": "at_least", "minimum": "at_most", "clip": "within"}
"""The functions whose later operands are bounds, and what they are where the bounds are numbers."""


def write_source(kernel: Kernel) -> str:
    """Return the translation unit of a kernel.

    Raises:
        OpError: A function is not compiled for its dtypes.
    """
    reduces = any(FUNCTIONS[step.function].reduces for step in kernel.expression.steps)
    defined = {
        "ERF_COEFFICIENTS": ", ".join(map(repr, ERF_POLYNOMIAL)),
        "ERF_REACH": repr(ERF_REACH),
        "ARRAYS": str(len(kernel.dtypes) + len(kernel.stores)),
        "REDUCES": str(int(reduces)),
    }
    macros = "".join(f"#define {name} {value}\n" for name, value in defined.items())
    functions, reductions, entry = (
        (_FOLDER / f"{name}.hpp").read_text(encoding="utf-8")
        for name in ("vector_math", "reductions", "entry")
    )
    return f"{macros}{functions}{reductions}\n{_Row(kernel).text}\n{entry}"


class _Row:
    """Writes the function that computes one row."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.steps = kernel.expression.steps
        self.lines: list[str] = []
        # A step that follows from reductions alone has one value for a row; a depth counts reductions before it.
        self.wide: list[bool] = []
        self.depth: list[int] = []
        for step in self.steps:
            reduces = FUNCTIONS[step.function].reduces
            self.wide.append(not reduces and any(map(self._is_wide, step.operands)))
            self.depth.append(max(map(self._depth, step.operands), default=0) + reduces)
        self.bounded = {at for at in range(len(self.steps)) if self._is_bounded(at)}

    @property
    def text(self) -> str:
        """The function."""
        self._write("static inline void brainsmith_row(int64_t n, char *const *data, const int64_t *step) {")
        self._bind()
        reductions = [at for at, step in enumerate(self.steps) if FUNCTIONS[step.function].reduces]
        for depth in range(max(self.depth, default=0) + 1):
            self._row_steps(depth)
            self._reduce([at for at in reductions if self.depth[at] == depth + 1])
        self._store()
        self._write("}")
        return "\n".join(self.lines) + "\n"

    def _write(self, *lines: str) -> None:
        self.lines.extend(lines)

    def _bind(self) -> None:
        kernel = self.kernel
        self._write("    (void)step, (void)n;")
        for at, (dtype, pattern) in enumerate(zip(kernel.dtypes, kernel.patterns, strict=True)):
            kind = C_TYPES[dtype.name]
            if pattern == "c":
                self._write(f"    const {kind} *__restrict p{at} = (const {kind} *)data[{at}];")
            elif pattern == "s":
                self._write(f"    const {kind} x{at} = *(const {kind} *)data[{at}];")
        for at, dtype in enumerate(kernel.output_dtypes):
            kind = C_TYPES[dtype.name]
            self._write(f"    {kind} *__restrict o{at} = ({kind} *)data[{at + len(kernel.dtypes)}];")
        for at in self.bounded:
            for place, (bound, dtype) in enumerate(kernel.converted(at)[1:]):
                kind = C_TYPES[dtype.name]
                literal = self._as(bound, dtype)
                self._write(f"    const {kind} bound{at}_{place} = brainsmith::opaque<{kind}>({literal});")

    def _row_steps(self, depth: int) -> None:
        for at, step in enumerate(self.steps):
            if not self.wide[at] and self.depth[at] == depth and not FUNCTIONS[step.function].reduces:
                self._write("    " + self._step(at))

    def _reduce(self, reductions: list[int]) -> None:
        if not reductions:
            return
        for at in reductions:
            kind = self._accumulator(at)
            self._write(
                f"    brainsmith::{kind} r{at};",
                f"    {self._lane_type(at)} lanes{at}[brainsmith::LANES];",
            )
        body = self._columns([self.steps[at].operands[0] for at in reductions], "            ")
        clear = [f"lanes{at}[l] = brainsmith::{self._accumulator(at)}::neutral;" for at in reductions]
        combine, fold = [], []
        for at in reductions:
            value = f"({self._lane_type(at)}){self._value(self.steps[at].operands[0])}"
            combine.append(
                f"lanes{at}[l] = brainsmith::{self._accumulator(at)}::combine(lanes{at}[l], {value});"
            )
            fold.append(f"r{at}.fold(lanes{at}[l]);")
        self._write(
            "    for (int64_t start = 0; start < n; start += brainsmith::BLOCK) {",
            "        const int64_t stop = std::min(n, start + brainsmith::BLOCK);",
            "        const int64_t whole = start + (stop - start) / brainsmith::LANES * brainsmith::LANES;",
            f"        for (int l = 0; l < brainsmith::LANES; ++l) {{ {' '.join(clear)} }}",
            "        for (int64_t j = start; j < whole; j += brainsmith::LANES)",
            # g++ would unroll the lanes before it makes a vector of them, and then finds none.
            "        #pragma GCC unroll 1",
            "        for (int l = 0; l < brainsmith::LANES; ++l) {",
            "            const int64_t i = j + l;",
            *body,
            *(f"            {line}" for line in combine),
            "        }",
            "        for (int64_t i = whole; i < stop; ++i) {",
            "            const int l = (int)(i - whole);",
            *body,
            *(f"            {line}" for line in combine),
            "        }",
            f"        for (int l = 0; l < brainsmith::LANES; ++l) {{ {' '.join(fold)} }}",
            "    }",
        )
        for at in reductions:
            kind, mean = C_TYPES[self.kernel.results[at].name], self.steps[at].function == "mean"
            self._write(f"    const {kind} t{at} = ({kind})(r{at}.value(){' / (double)n' if mean else ''});")

    def _store(self) -> None:
        outputs = self.kernel.expression.outputs
        types = [C_TYPES[dtype.name] for dtype in self.kernel.output_dtypes]
        wide = [at for at, store in enumerate(self.kernel.stores) if store == "c"]
        for at, output in enumerate(outputs):
            if at not in wide:
                self._write(f"    *o{at} = ({types[at]}){self._value(output, '0')};")
        if wide:
            self._write(
                # Several vectors at once, or the CPU waits for the one that it computes.
                "    #pragma GCC unroll 4",
                "    for (int64_t i = 0; i < n; ++i) {",
                *self._columns([outputs[at] for at in wide], "        "),
                *(f"        o{at}[i] = ({types[at]}){self._value(outputs[at])};" for at in wide),
                "    }",
            )

    def _columns(self, wanted: list[Operand], indent: str) -> list[str]:
        """Return the steps that have a value for each column and that some values need."""
        needed: set[int] = set()
        waiting = list(wanted)
        while waiting:
            operand = waiting.pop()
            if isinstance(operand, Result) and self.wide[operand.index] and operand.index not in needed:
                needed.add(operand.index)
                waiting.extend(self.steps[operand.index].operands)
        return [indent + self._step(at) for at in sorted(needed)]

    def _step(self, at: int) -> str:
        step, kind = self.steps[at], C_TYPES[self.kernel.results[at].name]
        converted = self.kernel.converted(at)
        given = [self._as(operand, dtype) for operand, dtype in converted]
        if step.function == "cast":
            return f"const {kind} t{at} = ({kind}){given[0]};"
        power = step.operands[1] if step.function == "power" else None
        if isinstance(power, Constant) and power.value in _SHORT_POWERS and kind == "float":
            return f"const {kind} t{at} = brainsmith::power_of<{int(power.value)}>({given[0]});"
        of = C_TYPES[converted[-1][1].name]
        if at in self.bounded:
            bounds = [f"bound{at}_{place}" for place in range(len(given) - 1)]
            return f"const {kind} t{at} = brainsmith::{_BOUNDED[step.function]}<{of}>({', '.join([given[0], *bounds])});"
        return f"const {kind} t{at} = brainsmith::{step.function}<{of}>({', '.join(given)});"

    def _is_bounded(self, at: int) -> bool:
        """Tell whether a step keeps a value within bounds that are numbers, and no NaN."""
        bounds = self.steps[at].operands[1:]
        return self.steps[at].function in _BOUNDED and all(
            isinstance(bound, Constant) and bound.value == bound.value for bound in bounds
        )

    def _as(self, operand: Operand, dtype: np.dtype[Any]) -> str:
        if isinstance(operand, Constant):
            return _literal(operand, dtype)
        return f"({C_TYPES[dtype.name]}){self._value(operand)}"

    def _value(self, operand: Operand, index: str = "i") -> str:
        if isinstance(operand, Result):
            return f"t{operand.index}"
        if isinstance(operand, Constant):
            return _literal(operand, np.asarray(operand.value).dtype)
        pattern, dtype = self.kernel.patterns[operand.index], self.kernel.dtypes[operand.index]
        if pattern == "s":
            return f"x{operand.index}"
        if pattern == "c":
            return f"p{operand.index}[{index}]"
        return f"*(const {C_TYPES[dtype.name]} *)(data[{operand.index}] + {index} * step[{operand.index}])"

    def _lane_type(self, at: int) -> str:
        """Sums and products of float are computed in double."""
        dtype, function = self.kernel.results[at], self.steps[at].function
        if function == "mean" or (function in ("sum", "prod") and dtype.kind == "f"):
            return "double"
        return C_TYPES[dtype.name]

    def _accumulator(self, at: int) -> str:
        return f"{FUNCTIONS[self.steps[at].function].reducer}<{self._lane_type(at)}>"

    def _is_wide(self, operand: Operand) -> bool:
        if isinstance(operand, Input):
            return self.kernel.patterns[operand.index] != "s"
        return isinstance(operand, Result) and self.wide[operand.index]

    def _depth(self, operand: Operand) -> int:
        return self.depth[operand.index] if isinstance(operand, Result) else 0


def _literal(constant: Constant, dtype: np.dtype[Any]) -> str:
    """Return a constant as C++, converted to a dtype as numpy converts it."""
    value = constant.number
    try:
        with np.errstate(over="ignore"):
            value = dtype.type(value)
    except OverflowError as error:
        raise OpError(f"{value} does not fit {dtype}") from error
    kind = C_TYPES[dtype.name]
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind in "iu":
        suffix = "ull" if dtype.kind == "u" else "ll"
        return f"({kind})({int(value) + 1}ll - 1)" if int(value) < 0 else f"({kind}){int(value)}{suffix}"
    if np.isnan(value):
        return f"std::numeric_limits<{kind}>::quiet_NaN()"
    if np.isinf(value):
        return f"({'-' if value < 0 else ''}std::numeric_limits<{kind}>::infinity())"
    return f"({kind}){float(value).hex()}"
