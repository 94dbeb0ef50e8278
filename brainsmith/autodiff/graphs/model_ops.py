"""Which ops a model uses: noted in its metadata, compared with those that are here."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.autodiff.graphs.missing_op import missing_text
from brainsmith.autodiff.graphs.node_lookup import FUSED, OPS_DOMAIN
from brainsmith.autodiff.graphs.op_definition import definition_hash
from brainsmith.autodiff.op import Op
from brainsmith.autodiff.op_registry import get_custom_op, list_custom_ops
from brainsmith.errors import MissingOpError
from brainsmith.graph.sound import require_sound
from brainsmith.graph.well_formed import all_graphs
from brainsmith.plugin.core import get_registry

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

KEY = "brainsmith.ops"
"""The key of the note in `metadata_props`: a list in JSON, one entry for each op, sorted by name."""


@dataclass(frozen=True)
class OpProblem:
    """One op of a model that is not here, or not as it was; it prints as the sentence.

    Attributes:
        op: Its name.
        kind: `missing`, `version` or `changed`; a model with a missing op cannot be used.
        text: What is wrong and what to do.
    """

    op: str
    kind: str
    text: str

    def __str__(self) -> str:
        return self.text


def used_ops(model: ModelWrapper) -> list[str]:
    """Return the ops that a model's nodes of the domain `brainsmith.ops` are of, sorted."""
    nodes = (node for graph in all_graphs(model.graph) for node in graph.node)
    return sorted({node.op_type for node in nodes if node.domain == OPS_DOMAIN} - {FUSED})


def noted_ops(model: ModelWrapper) -> dict[str, dict[str, str]]:
    """Return what is noted of a model's ops, by their names."""
    text = model.get_metadata_prop(KEY)
    try:
        entries = json.loads(text) if text else []
        return {str(entry["name"]): entry for entry in entries}
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}


def note_ops(model: ModelWrapper) -> None:
    """Note in a model's metadata which ops it uses: name, version, sha256 of the definition, bundle and its version.

    Of an op that is not here the earlier note stays.
    """
    names, earlier = used_ops(model), noted_ops(model)
    here = set(list_custom_ops())
    entries = [_entry(name) if name in here else earlier.get(name, {"name": name}) for name in names]
    if entries:
        model.set_metadata_prop(KEY, json.dumps(entries, sort_keys=True))
    elif earlier:
        model.set_metadata_prop(KEY, "[]")


def check_ops(model: ModelWrapper) -> list[OpProblem]:
    """Compare the ops that a model uses with those that are here.

    Returns:
        What is wrong, sorted by op: an op is missing, has another version, or another definition. Empty if nothing is.
    """
    noted, here = noted_ops(model), set(list_custom_ops())
    problems = []
    for name in used_ops(model):
        entry = noted.get(name, {})
        found = _difference(name, entry) if name in here else ("missing", missing_text(name, entry))
        if found is not None:
            problems.append(OpProblem(name, *found))
    return problems


def require_ops(model: ModelWrapper, what: str = "the model") -> None:
    """Raise if a model uses an op that is not here; warn of one that is not as it was when the model was saved.

    Raises:
        MissingOpError: Names all that are missing.
    """
    problems = check_ops(model)
    missing = [str(problem) for problem in problems if problem.kind == "missing"]
    if missing:
        raise MissingOpError("\n".join(f"{what} {text}" for text in missing))
    for problem in problems:
        warnings.warn(f"{what} {problem}", stacklevel=3)


def load_model(path: str | Path) -> ModelWrapper:
    """Read a QONNX model, and check that the ops it uses are here.

    Raises:
        ModelError: The model is unsound, or would run code.
        MissingOpError: One is not; the message says which bundle has it, and what to call.
    """
    from qonnx.core.modelwrapper import ModelWrapper

    model = ModelWrapper(str(path))
    require_sound(model.model, str(path))
    require_ops(model, str(path))
    return model


def save_model(model: ModelWrapper, path: str | Path) -> None:
    """Write a model, with the ops that it uses noted in its metadata; the same model gives the same bytes."""
    note_ops(model)
    Path(path).write_bytes(model.model.SerializeToString(deterministic=True))


def _entry(name: str) -> dict[str, str]:
    op = _op(name)
    if op is None:
        return {"name": name}
    entry = {"name": name, "version": op.version, "sha256": definition_hash(op)}
    bundle = _bundle_of(op)
    if bundle:
        entry |= {"bundle": bundle, "bundle_version": _bundle_version(bundle)}
    return entry


def _op(name: str) -> Op | None:
    """Return an op by name; None for an operator that is QONNX's kind of class and no Op."""
    registry = get_registry()
    found = registry.load(registry.resolve("op", name))
    return get_custom_op(name) if isinstance(found, Op) or issubclass(found, Op) else None


def _bundle_of(op: Op) -> str:
    if op.bundle:
        return op.bundle
    framework = get_registry().resolve("op", op.name).framework
    return framework if framework not in ("project", "brainsmith") else ""


def _bundle_version(bundle: str) -> str:
    records = [info for info in get_registry().records("bundle") if info.name == bundle]
    return records[0].version if records else ""


def _difference(name: str, entry: dict[str, str]) -> tuple[str, str] | None:
    """Return in what an op is another one than is noted, and the sentence that says so; None if it is not."""
    op = _op(name) if entry else None
    if op is None:
        return None
    version, digest = entry.get("version", op.version), entry.get("sha256", "")
    if version != op.version:
        return "version", f"was saved with version {version} of operation {name!r}, and {op.version} is here"
    if digest and definition_hash(op) not in ("", digest):
        text = f"was saved with another definition of operation {name!r} {version}; its results may differ"
        return "changed", text
    return None
