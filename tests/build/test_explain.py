from brainsmith.build.explain import first_difference

PARTS = {
    "step": "s",
    "source": "1",
    "arguments": "{}",
    "cfg": "own",
    "plugins": "p",
    "model": "m",
    "frameworks": '{"finn": "1.6.1 (a)", "qonnx": "1.0.0 (b)"}',
}


def test_all_that_differs_is_named():
    assert first_difference(None, PARTS) == "it was not built before"
    assert first_difference(PARTS, PARTS) == "its result is no longer in the cache"
    now = {
        **PARTS,
        "arguments": "[]",
        "cfg": "finn",
        "frameworks": '{"finn": "1.7.0 (c)", "qonnx": "1.0.0 (d)"}',
    }
    assert first_difference(PARTS, now) == (
        "its arguments changed, FINN's own config came in or went, finn was 1.6.1, and is 1.7.0 now, "
        "the sources of qonnx changed"
    )
    assert first_difference({**PARTS, "frameworks": "no json"}, PARTS) == (
        "finn was absent, and is 1.6.1 now, qonnx was absent, and is 1.0.0 now"
    )
