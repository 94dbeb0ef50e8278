import json

import pytest

from brainsmith.build.explain import first_difference, reused
from brainsmith.build.keys import PARTS as NAMES

PARTS = {
    **dict.fromkeys(NAMES, "x"),
    "inputs": "",
    "plugins": '{"/p/a.py": "1", "/p/b.py": "1"}',
    "frameworks": '{"finn": "1.6.1 (a)", "qonnx": "1.0.0 (b)"}',
}


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("step", "y", "it is another step"),
        ("source", "y", "its source changed"),
        ("arguments", "y", "its arguments changed"),
        ("inputs", '{"data.bin": "1"}', "data.bin was added"),
        ("cfg", "y", "FINN's own config was added or removed"),
        ("changes", "y", "what earlier steps change of cfg changed"),
        (
            "plugins",
            '{"/p/a.py": "2", "/p/c.py": "1"}',
            "/p/a.py changed, /p/b.py was removed, /p/c.py was added",
        ),
        (
            "plugins",
            json.dumps({f"/p/{name}.py": "2" for name in "abcdef"}),
            "/p/a.py changed, /p/b.py changed, /p/c.py was added and 3 more files changed",
        ),
        ("model", "y", "the model before it is another one"),
        ("files", "y", "what earlier steps left in the output folder changed"),
        (
            "frameworks",
            '{"finn": "1.7.0 (c)", "qonnx": "1.0.0 (d)"}',
            "finn was 1.6.1, and is 1.7.0 now, the sources of qonnx changed",
        ),
    ],
)
def test_every_part_is_named(part, value, said):
    assert first_difference(PARTS, {**PARTS, part: value}) == said


def test_all_that_differs_is_named():
    assert first_difference(None, PARTS) == "it was not built before"
    assert first_difference(PARTS, PARTS) == "its result is no longer in the cache"
    assert first_difference(PARTS, {**PARTS, "arguments": "[]", "model": "n"}) == (
        "its arguments changed, the model before it is another one"
    )
    assert first_difference({**PARTS, "frameworks": "no json"}, PARTS) == (
        "finn was absent, and is 1.6.1 now, qonnx was absent, and is 1.0.0 now"
    )


@pytest.mark.parametrize(
    ("seconds", "age"),
    [
        (-1, "less than a minute"),
        (59, "less than a minute"),
        (60, "1 minute"),
        (7199, "1 hour"),
        (7200, "2 hours"),
        (86400 * 3, "3 days"),
    ],
)
def test_where_a_result_comes_from(seconds, age):
    made = {"model": "mlp.onnx", "blueprint": "digits.yaml", "output": "/out"}
    assert reused("0123456789abcdef", seconds, made) == (
        f"nothing that it depends on changed; key 0123456789ab, made {age} ago by the build of mlp.onnx"
        " with digits.yaml in /out"
    )
    assert reused("0123456789abcdef", seconds, {}) == (
        f"nothing that it depends on changed; key 0123456789ab, made {age} ago by the build"
    )
