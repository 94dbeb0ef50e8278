"""The form of a blueprint as a JSON Schema, for editors: completion, descriptions, and what is wrong while one types.

It says what the readers of this package check without looking names up. `brainsmith blueprint schema` prints it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from brainsmith.blueprint.entries import MOST_PASSES
from brainsmith.blueprint.fit_goal import SHARE
from brainsmith.blueprint.goal import CLOCK, CLOCK_RANGE_NS, MOST_FPS, MOST_OF_A_RESOURCE, SURELY_MHZ
from brainsmith.blueprint.outputs import OUTPUTS
from brainsmith.blueprint.schema import CHANGES, DIRECTIONS, FIGURES, GOALS, KEYS, SPACE_FORMS

Form = dict[str, Any]

DIALECT = "http://json-schema.org/draft-07/schema#"
"""The draft that editors' YAML support reads."""

_VARIABLE: Form = {"type": "string", "pattern": r"\$\{"}
_CHOICE: Form = {"$ref": "#/definitions/choice"}
_NULL: Form = {"type": "null"}
_ANY: Form = {}
_STRING: Form = {"type": "string", "pattern": r"\S"}
_FILE: Form = {**_STRING, "description": "a file, beside this one"}
_NAME: Form = {
    "type": "string",
    "pattern": r"^\s*~?\s*([^\s:]+:)?[^\s:]+\s*$",
    "description": "a name, with its framework (finn:Streamline), with ~ before it if it is optional",
}
_WHOLE_COUNT: Form = {"type": "integer", "minimum": 0}
_ERROR: Form = {"type": "number", "minimum": 0}


def json_schema() -> Form:
    """Return the schema of a blueprint's file, draft 7, as plain values."""
    root = _object(
        "", {"extends": _extends(), "variables": _variables(), "explore": _explore(), "hw_compiler": _body()}
    )
    return {
        "$schema": DIALECT,
        "title": "Blueprint",
        "description": "what BrainSmith builds, and with which plugins",
        **root,
        "anyOf": [{"required": ["hw_compiler"]}, {"required": ["extends"]}, {"required": ["variables"]}],
        "definitions": {"choice": _choice()},
    }


def _object(group: str, forms: Mapping[str, Form], **more: Any) -> Form:
    """Return the form of a mapping with the keys of a group of `KEYS`, for each of which there must be a form."""
    missing = set(KEYS[group]) ^ set(forms)
    if missing:
        raise KeyError(f"the forms and the keys of {group!r} differ: {', '.join(sorted(missing))}")
    return {"type": "object", "properties": dict(forms), "additionalProperties": False, **more}


def _form(about: str, *forms: Form) -> Form:
    """Return a form with what an editor shows of it; a variable or a choice may stand for it, and null takes it away."""
    return {"description": about, "anyOf": [*forms, _VARIABLE, _CHOICE, _NULL]}


def _list(form: Form, **more: Any) -> Form:
    return {"type": "array", "items": form, **more}


def _map(form: Form, **more: Any) -> Form:
    return {"type": "object", "additionalProperties": form, **more}


def _pattern(pattern: re.Pattern[str]) -> str:
    """Return a regular expression for all of a string as JavaScript reads it: without names, and in any case."""
    text = re.sub(r"\?P<\w+>", "", pattern.pattern)
    if pattern.flags & re.IGNORECASE:
        text = re.sub(r"(?<!\\)[a-z]", lambda letter: f"[{letter[0]}{letter[0].upper()}]", text)
    return rf"^\s*({text})\s*$"


def _extends() -> Form:
    about = "the blueprint that this one is laid over, or several, later ones over earlier ones"
    return {"description": about, "anyOf": [_FILE, _list(_FILE)]}


def _variables() -> Form:
    names = {"pattern": r"^[^\W\d]\w*$"}
    about = "values that others use as ${name}; ~ for one that must be set"
    return {"description": about, "anyOf": [_map(_ANY, propertyNames=names), _NULL]}


def _explore() -> Form:
    wanted = {name: _form(about, {"enum": list(DIRECTIONS)}) for name, about in FIGURES.items()}
    objectives = {"type": "object", "properties": wanted, "additionalProperties": False}
    return _object(
        "explore",
        {
            "model": _form("the model, or a choice of models", _FILE),
            "constraints": _form(
                "what must hold, such as bits <= 4 or fps >= 1000", _list({"anyOf": [_STRING, _NULL]})
            ),
            "objectives": _form("figures, each with max or min", objectives),
        },
        description="what an exploration of this design space takes",
    )


def _choice() -> Form:
    forms = {
        "choice": {"description": "the alternatives", "type": "array", "minItems": 1},
        "range": {
            "description": "the first number, the last and, unless it is 1, the step",
            "type": "array",
            "items": {"type": "number"},
            "minItems": 2,
            "maxItems": 3,
        },
        "optional": {"description": "what is there or not"},
        "name": {
            "description": "what conditions and tables call it",
            "type": "string",
            "pattern": r"^\s*[^\W\d]\w*\s*$",
        },
        "labels": {"description": "what stands for each alternative", "type": "array"},
    }
    kinds = [{"required": [form]} for form in SPACE_FORMS]
    return {"type": "object", "properties": forms, "additionalProperties": False, "oneOf": kinds}


def _body() -> Form:
    outputs = "how far the build goes; each output includes the one before it"
    return _object(
        "hw_compiler",
        {
            "target": _target(),
            "requires": _form(
                "versions of distributions (finn-plus) and of plugins (acme:FuseBias, kernel:MatMul), such as >=2,<3",
                _map(
                    {"anyOf": [{"type": "string", "pattern": r"^\s*(~=|==|!=|<=|>=|<|>)"}, _VARIABLE, _NULL]}
                ),
            ),
            "inputs": _inputs(),
            "kernels": _kernels(),
            "transforms": _form("transforms, applied in this order", _list(_transform())),
            "transforms_phased": _phased(),
            "steps": _form("the order of the build", _list(_step(), minItems=1)),
            "change_steps": _form("changes to the order of the steps", _list(_change())),
            "args": _form("arguments of steps, by the step's name", _map(_arguments())),
            "verify": _verify(),
            "output": _form(outputs, {"enum": list(OUTPUTS)}),
            "strict": _form("exit code 3 unless all is proven", {"type": "boolean"}),
        },
        description="everything of a blueprint but extends and variables",
    )


def _target() -> Form:
    part = "the device, with package and speed grade (xczu7ev-ffvc1156-2-e), or a board (pynq-z2)"
    clock = "the period or the frequency: 5 ns, 200 MHz, or a number of ns"
    numbers = {"type": "number", "minimum": CLOCK_RANGE_NS[0], "exclusiveMaximum": SURELY_MHZ}
    target = _object(
        "target",
        {
            "part": _form(part, _STRING),
            "device": _device(),
            "clock": _form(clock, numbers, {"type": "string", "pattern": _pattern(CLOCK)}),
            "fps": _form("inferences per second to reach", _rate()),
            "fit": _fit(),
        },
    )
    return _form("what the accelerator must fit and reach", target)


def _device() -> Form:
    count = {"type": "integer", "minimum": 0, "maximum": MOST_OF_A_RESOURCE}
    counts = {key: _form(f"how many {key} the device has", count) for key in KEYS["device"]}
    needed = [key for key in KEYS["device"] if key != "uram"]
    about = "what the part holds, where it is not known or not all of it is free"
    return _form(about, _object("device", counts, required=needed))


def _rate() -> Form:
    return {"type": "integer", "minimum": 1, "maximum": MOST_FPS}


def _fit() -> Form:
    shares = (
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        {"type": "string", "pattern": _pattern(SHARE)},
    )
    least = _object("at_least", {"fps": _form("inferences per second", _rate())})
    fit = _object(
        "fit",
        {
            "use": _form("the share of each resource that may be taken: 80 %, or a number up to 1", *shares),
            "goal": _form("what is best", {"enum": list(GOALS)}),
            "at_least": _form("what must be reached", least),
        },
    )
    return _form("choose the foldings that are best for the device, in place of fps", fit)


def _inputs() -> Form:
    datatype = _form("a datatype of integers, such as UINT8, INT4 or BIPOLAR", _STRING)
    one = _object("input", {"datatype": datatype}, required=["datatype"])
    inputs = {
        "type": "object",
        "properties": {"datatype": {"anyOf": [datatype, one]}},
        "additionalProperties": _form("which integers this input is made of", one),
    }
    return _form("which integers the inputs of the model are made of", inputs)


def _backends() -> Form:
    return _form(
        "backends to choose from, the preferred one first: rtl, hls, or names",
        _NAME,
        _list(_NAME, minItems=1),
    )


def _kernels() -> Form:
    full = _object(
        "kernel", {"kernel": _form("a kernel", _NAME), "backends": _backends()}, required=["kernel"]
    )
    short = _map(_backends(), minProperties=1, maxProperties=1)
    return _form(
        "the kernels to build with", _list({"anyOf": [_NAME, _NULL, _CHOICE, full, short]}), _map(_backends())
    )


def _arguments() -> Form:
    return _form("arguments by name", _map(_ANY))


def _passes() -> Form:
    about = "how often a transform may be applied again"
    return _form(about, {"type": "integer", "minimum": 1, "maximum": MOST_PASSES})


def _transform() -> Form:
    forms = {"transform": _form("a transform", _NAME), "args": _arguments(), "passes": _passes()}
    return {"anyOf": [_NAME, _NULL, _CHOICE, _object("transform", forms, required=["transform"])]}


def _step() -> Form:
    forms = {
        "step": _form("a step", _NAME),
        "transform": _form("a transform, or a group of them", _NAME),
        "args": _arguments(),
        "passes": _passes(),
    }
    one = {"oneOf": [{"required": ["step"]}, {"required": ["transform"]}]}
    return {"anyOf": [_NAME, _NULL, _CHOICE, _object("step", forms, **one)]}


def _phased() -> Form:
    forms = {key: _form(f"transforms of {key}", _list(_transform())) for key in KEYS["transforms_phased"]}
    return _form("transforms for a certain time of the build", _object("transforms_phased", forms))


def _change() -> Form:
    entry = {"anyOf": [_step(), _list(_step())]}
    forms = {
        "insert": _form("an entry, or a list of them, that comes next to a step", entry),
        "replace": _form("a step that others take the place of", _NAME),
        "remove": _form("a step, or a list of them, that is left out", _NAME, _list(_NAME)),
        "wrap": _form(
            "a step, or a list of the first and the last of several",
            _NAME,
            _list(_NAME, minItems=1, maxItems=2),
        ),
        "after": _form("the step before what is inserted", _NAME),
        "before": _form("the step after what is inserted", _NAME),
        "at": _form("where it is inserted", {"enum": ["start", "end"]}),
        "with": _form("what takes the place of a step; around one, a list of two", entry, _list(entry)),
    }
    kinds = [
        {"required": [kind], **({"oneOf": [{"required": [key]} for key in wanted]} if wanted else {})}
        for kind, wanted in CHANGES.items()
    ]
    return {"anyOf": [_object("change_steps", forms, oneOf=kinds), _NULL]}


def _verify() -> Form:
    limits = {"error": _form("the largest absolute error of an output", _ERROR),
              "classes": _form("how many samples may change their class", _WHOLE_COUNT)}  # fmt: skip
    outputs = {"labels": _form("the right classes", _FILE), "expected": _form("the right outputs", _FILE)}
    about = "the largest absolute error allowed after a step: a number, or a mapping from steps to numbers"
    targets = {"anyOf": [_list(_NAME, maxItems=0), _list(_NAME, minItems=2)]}
    approximate = _map(_object("approximate", limits, required=["error"]))
    verify = _object(
        "verify",
        {
            "inputs": _form("golden inputs: .npy, or .npz with an array for each input", _FILE),
            "labels": _form("the right class of each sample", _FILE),
            "expected": _form("the right output of each sample", _FILE),
            "float": _form("what a float model gives for each sample", _FILE),
            "tolerance": _form(about, _ERROR, _map(_form("a number from 0 up", _ERROR))),
            "approximate": _form("steps that change what the model computes, and how much", approximate),
            "changes_outputs": _form(
                "steps that give other outputs",
                _map(_object("changes_outputs", outputs, minProperties=1)),
            ),
            "unverified": _form("steps that are not verified", _list({"anyOf": [_STRING, _NULL]})),
            "targets": _form("on which targets the model is run for the report; [] for none", targets),
        },
    )
    return _form("golden data, and what steps may change", verify)
