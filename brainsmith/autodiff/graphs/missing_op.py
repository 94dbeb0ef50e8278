"""The message for an op that a model uses and that is not registered: who offers it, and what to call."""

from __future__ import annotations

from collections.abc import Mapping

from brainsmith.plugin.core import get_registry

EXAMPLES = ("gelu", "layer_norm", "mish", "power", "swish")
"""What `ops.register_example_custom_ops()` registers. They ship with the package, which lies above this one."""


def missing_text(name: str, entry: Mapping[str, str]) -> str:
    """Return "uses the operation ...", what is known of it, and what to do.

    Args:
        name: Of the op.
        entry: What the model's metadata note of it; empty if they do not, or if the model is not known.
    """
    text = f"uses the operation {name!r}, which is not registered"
    bundle = entry.get("bundle", "")
    if bundle:
        version = entry.get("bundle_version", "")
        text += f"; it was saved with that of bundle {bundle!r}{' ' + version if version else ''}"
    elif entry:
        text += f"; it was saved with version {entry.get('version', '?')} of it, which came with no bundle"
    offers = _offers(name, bundle) or [_advice(bundle)]
    return text + "".join(f"\n  {offer}" for offer in offers)


def _offers(name: str, bundle: str) -> list[str]:
    """Return what can be called to get an op: bundles that discovery knows, by the op or by the name of its bundle."""
    found = []
    for info in get_registry().records("bundle"):
        offered = name in info.extra.get("ops", ())
        if offered or info.name == bundle:
            place = info.extra.get("path") or info.origin
            found.append(
                f"bundle {info.name!r} {info.version} offers it: brainsmith.plugins.load_plugin({str(place)!r})"
            )
    if name in EXAMPLES and not bundle:
        found.append("it is one of the examples that ship with brainsmith: ops.register_example_custom_ops()")
    return found


def _advice(bundle: str) -> str:
    if bundle:
        return f'load it: brainsmith.plugins.load_plugin("<path of {bundle}>")'
    return "register it: ops.register_custom_op(op), @op in the project's plugins, or load_plugin(path)"
