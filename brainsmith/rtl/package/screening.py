"""Refuse what a package may not do: a package can come from a stranger, and simulating it compiles and runs its sources.

A circuit computes. What reaches beyond it is refused wherever its text stands, in a comment, a macro or a branch that no
macro selects too: system tasks that are not listed here
(`$system`, `$c`, `$fopen`, `$dumpfile`, ...), functions of C (DPI), C++ for the simulator (`` `systemc_header``), and
`` `include``. What `$readmemh` opens is known only when it runs: a simulation reads only its
own memories (`driver.cpp`).
"""

from __future__ import annotations

import re

from brainsmith.errors import BuildError

_TYPES = """bits signed unsigned clog2 size high low left right dimensions unpacked_dimensions increment typename cast
    countones countbits onehot onehot0 isunknown"""
_REALS = """itor rtoi realtobits bitstoreal shortrealtobits bitstoshortreal ln log10 exp sqrt pow floor ceil
    sin cos tan asin acos atan atan2 hypot sinh cosh tanh asinh acosh atanh"""
_RUNS = "time stime realtime random urandom urandom_range past rose fell stable changed sampled"
_PRINTS = "display write strobe monitor sformat sformatf swrite error warning info fatal finish stop"  # to the driver
_MEMORIES = "readmemh readmemb"

ALLOWED_TASKS = frozenset(" ".join([_TYPES, _REALS, _RUNS, _PRINTS, _MEMORIES]).split())
"""System tasks and functions that stay within a simulation."""

_TASK = re.compile(r"\$([A-Za-z_$][\w$]*)")
_LONE_DOLLAR = re.compile(r"\$(?![A-Za-z_$])(?<![\[:]\$)(?!\s*\])")
_FOREIGN = (
    (re.compile(r'"DPI'), "a function of C (DPI)"),
    (re.compile(r'\b(?:import|export)\b(?:\s|/\*.*?\*/|//[^\n]*\n)*["`]', re.DOTALL), "a function of C (DPI)"),
    (re.compile(r"`\s*(include|line|pragma|uselib)\b"), "the directive `{0}"),
    (re.compile(r"`\s*(systemc_\w*|verilator_config)"), "the directive `{0}, C++ for the simulator"),
    (re.compile(r"``"), "the operator `` of macros, which can hide a name"),
    (re.compile(r'\\(?:x[0-9A-Fa-f]|[0-7])'), "a character by its number, which can hide a name"),
)  # fmt: skip

_DIRECTIVE = re.compile(r"`\s*(\w*)")
_PLAIN = """timescale default_nettype ifdef ifndef else elsif endif undef undefineall resetall celldefine
    endcelldefine begin_keywords end_keywords unconnected_drive nounconnected_drive"""
_NO_MACROS = frozenset(_PLAIN.split())


def has_macros(text: str) -> bool:
    """Tell whether a source may define or use a macro."""
    return any(name not in _NO_MACROS for name in _DIRECTIVE.findall(text))


def refuse_foreign_code(where: str, text: str) -> None:
    """Raise if a source of a package reaches beyond the circuit.

    Args:
        where: The file, for the message.
        text: Its content.

    Raises:
        BuildError: The message names the line, what stands there, and what is allowed.
    """
    found = _first(text)
    if found is None:
        return
    at, what = found
    raise BuildError(
        f"{where}:{text.count(chr(10), 0, at) + 1}: {what} is not allowed in a packed accelerator, which may come from "
        "an untrusted source: it could run programs or open files\n"
        "  take it out, or build the accelerator again; a circuit needs no more than "
        "$readmemh, $clog2, $signed, $display, $error and the like"
    )


def _first(text: str) -> tuple[int, str] | None:
    """Return the first place that is refused, and what stands there."""
    found = [
        (match.start(), f"${match[1]}") for match in _TASK.finditer(text) if match[1] not in ALLOWED_TASKS
    ][:1]
    found += [(match.start(), "a $ that begins no name") for match in _LONE_DOLLAR.finditer(text)][:1]
    for pattern, what in _FOREIGN:
        match = pattern.search(text)
        if match is not None:
            found.append((match.start(), what.format(*match.groups())))
    return min(found, default=None)
