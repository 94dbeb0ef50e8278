"""Check what a bundle contributes, as records and objects; nothing is registered yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BundleDefinitionError, PluginDefinitionError
from brainsmith.plugin.definition import check_kind, make_record
from brainsmith.plugin.info import PLUGIN_TYPES, PluginInfo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.bundles.bundle import Bundle

TYPES = tuple(name for name in PLUGIN_TYPES if name != "bundle")
"""What a bundle can bring."""


@dataclass(frozen=True)
class Contribution:
    """One plugin that a bundle brings.

    Attributes:
        info: Its record; the framework is the bundle's name.
        obj: The class or function; of an op the `Op` object.
        given: What the bundle gave, where that was a class of ops; else `obj`.
    """

    info: PluginInfo
    obj: Any
    given: Any


def op_of(bundle: Bundle, given: Any, keywords: Mapping[str, Any] | None = None) -> Contribution:
    """Return the contribution of an op, or of a class of ops, which is made one of.

    Raises:
        BundleDefinitionError: It is neither, or a keyword of `@op` is wrong.
    """
    from brainsmith.autodiff.op import Op  # which imports numpy

    op = given
    if isinstance(given, type) and issubclass(given, Op):
        op = given()
    if not isinstance(op, Op):
        raise BundleDefinitionError(f"an op of bundle '{bundle}' must be an Op or a class of ops, not {op!r}")
    name = op.name or type(op).__name__
    values = {"name": name, "version": op.version, "num_inputs": op.num_inputs, **(keywords or {})}
    info = _record(bundle, "op", values, name, f"{bundle.info.name}:{values['name']}")
    if op is not given:
        op.name = info.name
    return Contribution(info, op, given)


def plugin_of(bundle: Bundle, item: Any) -> Contribution:
    """Return the contribution of `(type, object, keywords)`.

    Raises:
        BundleDefinitionError: It is no such tuple, or not what the type's decorator takes.
    """
    if not isinstance(item, tuple) or len(item) != 3 or not isinstance(item[2], dict):
        raise BundleDefinitionError(
            f"a plugin of bundle '{bundle}' must be (type, object, keywords), "
            f"such as ('transform', MyTransform, {{'stage': 'tidy'}}), not {item!r}"
        )
    plugin_type, obj, keywords = item
    if plugin_type not in TYPES:
        raise BundleDefinitionError(
            f"the type of a plugin of bundle '{bundle}' must be {', '.join(TYPES[:-1])} or {TYPES[-1]}, "
            f"not {plugin_type!r}"
        )
    if plugin_type == "op":
        return op_of(bundle, obj, keywords)
    name = getattr(obj, "__name__", type(obj).__name__)
    reference = f"{getattr(obj, '__module__', '?')}:{getattr(obj, '__qualname__', name)}"
    info = _record(bundle, plugin_type, keywords, name, reference)
    try:
        check_kind(plugin_type, obj, bundle.origin)
    except PluginDefinitionError as error:
        raise BundleDefinitionError(f"bundle '{bundle}': {error}") from None
    return Contribution(info, obj, obj)


def adopted(bundle: Bundle, info: PluginInfo, obj: Any) -> Contribution:
    """Return the contribution of a plugin that a decorator or a call registered for the bundle."""
    owner = bundle.info.name
    if info.type == "op":
        op = obj() if isinstance(obj, type) else obj
        if op is not obj:
            op.name = info.name
        op.version = info.version or op.version
        record = _licensed(bundle, info.replace(framework=owner, reference=f"{owner}:{info.name}"))
        return Contribution(record, op, obj)
    return Contribution(_licensed(bundle, info.replace(framework=owner)), obj, obj)


def _record(
    bundle: Bundle, plugin_type: str, values: Mapping[str, Any], name: str, reference: str
) -> PluginInfo:
    try:
        info = make_record(plugin_type, dict(values), name, bundle.info.name, reference, bundle.origin)
    except PluginDefinitionError as error:
        raise BundleDefinitionError(f"bundle '{bundle}': {error}") from None
    return _licensed(bundle, info)


def _licensed(bundle: Bundle, info: PluginInfo) -> PluginInfo:
    """Return a record with the bundle's licence, if it states none."""
    licence = bundle.info.license
    if not licence or info.extra.get("license"):
        return info
    return info.replace(extra={**info.extra, "license": licence})
