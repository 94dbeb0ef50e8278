"""A report to render: of a whole, verified build."""

from __future__ import annotations

from typing import Any

import pytest

from .pages import LAYERS, STEPS, graph, layer


@pytest.fixture
def report() -> dict[str, Any]:
    """The report of a whole, verified build."""
    equal = {"samples": 360, "mismatches": 0, "max_error": 1.2e-7}
    plugins = [
        ("cleanup", "step", "brainsmith"),
        ("MVAU", "kernel", "finn"),
        ("FoldConstants", "transform", "qonnx"),
    ]
    return {
        "schema": "brainsmith.report/1",
        "model": {"file": "examples/digits/mlp.onnx", "name": "mlp", "digest": "5f2a"},
        "blueprint": {
            "file": "blueprints/digits_mlp.yaml",
            "target": {"part": "xczu7ev-ffvc1156-2-e", "clock_ns": 5.0, "fps": 100000},
        },
        "plugins": [dict(zip(("name", "type", "framework"), plugin, strict=True)) for plugin in plugins],
        "steps": [
            {"name": name, "framework": "brainsmith", "seconds": s, "reused": reused, "verified": dict(equal)}
            for name, s, reused in STEPS
        ],
        "layers": [layer(*values) for values in LAYERS],
        "estimate": {
            "interval_cycles": 784, "latency_cycles": 1184, "fps": 255102.04,
            "lut": 7380, "bram18": 14, "dsp": 18,
        },
        "rate": {"fps": 255102.04, "measured": False, "estimate": 255102.04, "target": 100000, "met": True},
        "accuracy": {"samples": 360, "before": 0.975, "after": 0.9722},
        "warnings": ["optional group '~folding' is absent: no plugin states the stage 'folding'"],
        "graphs": {
            "before": graph(("Quant_0", "Quant"), ("MatMul_0", "MatMul"), ("Relu_0", "Relu")),
            "after": graph(*((values[0], values[1]) for values in LAYERS)),
        },
    }  # fmt: skip
