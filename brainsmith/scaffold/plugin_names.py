"""How plugins and packages are called, and what their files and classes are called then."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from keyword import iskeyword

from brainsmith.errors import UsageError
from brainsmith.plugin.distributions import distribution_key, installed
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.plugin.source_check import snake_case

_CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*\Z")
_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*\Z")
_PACKAGE = re.compile(r"[a-z][a-z0-9]*([-_.][a-z0-9]+)*\Z")

STYLES = {
    "transform": (_CAMEL, "in CamelCase, such as RemoveIdentity"),
    "kernel": (_CAMEL, "in CamelCase, such as Rectify"),
    "backend": (_CAMEL, "in CamelCase and ends in RTL or HLS, such as RectifyRTL"),
    "step": (_SNAKE, "in snake_case, such as tidy_graph"),
    "op": (_SNAKE, "in snake_case, such as soft_sign"),
    "target": (_SNAKE, "in snake_case, such as my_board"),
    "package": (_PACKAGE, "in small letters, such as acme-plugins"),
}
"""What a name of each kind must match, and how a message says it."""

BACKENDS = ("RTL", "HLS")
"""The endings of backends."""

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|[0-9]+")


def a_kind(kind: str) -> str:
    """Return a kind with its article."""
    return f"an {kind}" if kind == "op" else f"a {kind}"


def camel_case(name: str) -> str:
    """Return the name of a class: `soft_sign` gives `SoftSign`."""
    return "".join(word if word.isupper() else word[:1].upper() + word[1:] for word in _WORDS.findall(name))


def file_name(kind: str, name: str) -> str:
    """Return the name of a plugin's file, or of a package's module, without its ending."""
    return re.sub(r"[-.]", "_", name) if kind == "package" else snake_case(name)


def check_plugin_name(kind: str, name: str) -> None:
    """Refuse a name that a plugin of a kind cannot have, or should not.

    Raises:
        UsageError: With what it must be, and a name that would do if there is one.
    """
    style, wanted = STYLES[kind]
    if not style.match(name) or (kind == "backend" and (not name.endswith(BACKENDS) or name in BACKENDS)):
        better = _better(kind, name)
        hint = f". Did you mean {better!r}?" if better else ""
        raise UsageError(f"the name of {a_kind(kind)} is {wanted}, not {name!r}{hint}")
    stem, reason = file_name(kind, name), ""
    if iskeyword(stem) or iskeyword(name):
        reason = f"{stem!r} is a keyword of Python"
    elif kind == "package":
        reason = _why_taken(name, stem)
    elif kind in ("kernel", "backend") and _kernel_of(kind, name) == "Stream":
        reason = "StreamKernel is the class that kernels are made of"
    if reason:
        raise UsageError(f"{a_kind(kind)} cannot be called {name!r}: {reason}; choose another name")


def _why_taken(name: str, module: str) -> str:
    """Return whose a package's name or module is already: pip would replace the one, Python import the wrong other."""
    if distribution_key(name) in installed():
        return f"the distribution {distribution_key(name)!r} is installed"
    if module in (*sys.stdlib_module_names, *FRAMEWORKS):
        return f"there is a package {module!r} already"
    found = find_spec(module)
    if found is not None and found.origin is not None:  # a mere folder has none
        return f"there is a module {module!r} already: {found.origin}"
    return ""


def _kernel_of(kind: str, name: str) -> str:
    return name[:-3] if kind == "backend" else name


def _better(kind: str, name: str) -> str:
    """Return a name like another one that a plugin of a kind may have; empty if there is none."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    style = STYLES[kind][0]
    if style is _CAMEL:
        better = camel_case(plain)
        if kind == "backend":
            better = re.sub(r"(?i)_?(rtl|hls)\Z", lambda end: end[1].upper(), better)
            better = better if better.endswith(BACKENDS) else f"{better}RTL"
    else:
        better = snake_case(plain)
        better = better.replace("_", "-") if kind == "package" else better
    fits = style.match(better) and better != name and better not in BACKENDS
    return better if fits and _letters(better).startswith(_letters(name)) else ""


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()
