"""The page as a whole: complete, well formed, self-contained, harmless, atomic."""

import base64
import copy
import hashlib
import json
import re
import time
import xml.etree.ElementTree as ET

import pytest

from brainsmith.errors import OutputError
from brainsmith.web.elements import message
from brainsmith.web.page import page, render

from .pages import LAYERS, STEPS, Page, graph

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`&lt;"


def whole(report):
    parsed = Page(page(report))
    assert parsed.problems == []
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    return parsed


def drawings(document):
    """The page's outermost <svg> elements, as text."""
    found, start, depth = [], 0, 0
    for mark in re.finditer(r"<svg\b|</svg>", document):
        if mark.group() == "</svg>":
            depth -= 1
            if not depth:
                found.append(document[start : mark.end()])
        else:
            start = mark.start() if not depth else start
            depth += 1
    return found


def test_a_report_becomes_one_file_and_its_path_is_returned(report, tmp_path):
    output = tmp_path / "report.html"
    assert render(report, output) == output
    assert output.read_text("utf-8") == page(report)
    assert list(tmp_path.iterdir()) == [output]


def test_everything_in_the_report_is_on_the_page(report):
    text = whole(report).text
    for name, *_ in STEPS:
        assert name in text
    for name, op, *_ in LAYERS:
        assert name in text
        assert op in text
    for plugin in report["plugins"]:
        assert plugin["name"] in text
    for words in [
        *report["warnings"], "examples/digits/mlp.onnx", "blueprints/digits_mlp.yaml",
        "xczu7ev-ffvc1156-2-e", "brainsmith.report/1", "5f2a",
        "5.00 ns (200 MHz)", "100,000 frames/s", "255,102", "784", "5.92 µs", "1,184 cycles", "7,380",
        "was 97.50 % before on 360 samples", "3 plugins loaded", "tensor_n1", "1.2e-07", "97.22 %",
    ]:  # fmt: skip
        assert words in text


def test_a_plugin_shows_its_type_and_where_it_comes_from(report):
    origin = {"version": "1.6.1", "origin": "finn-plus"}
    report["plugins"] = [{"type": "kernel", "framework": "finn", "name": "MVAU", **origin}, "finn:X"]
    parsed = whole(report)
    assert "1 plugin loaded for this build, and no other. finn 1 MVAU kernel Made by" in parsed.text
    assert [a["title"] for a in parsed.all("li") if "title" in a] == ["1.6.1 finn-plus"]


def test_a_layer_says_why_it_has_its_backend(report):
    report = copy.deepcopy(report)
    report["layers"][0]["choice"] = "brainsmith:PoolRTL (choice 1 of 2, listed for Pool)"
    assert "brainsmith:PoolRTL (choice 1 of 2, listed for Pool)" in whole(report).text


def test_every_node_and_edge_is_drawn_and_titled(report):
    parsed = whole(report)
    nodes = [a for a in parsed.all("g") if a.get("class", "").startswith("node ")]
    assert [a["id"] for a in nodes] == [f"before-{i}" for i in range(5)] + [f"after-{i}" for i in range(6)]
    assert nodes[7]["aria-label"] == (
        "MVAU_rtl, INT4  [1, 64], rtl · PE 16 · SIMD 32 · 784 cycles · bottleneck, MVAU_rtl_0"
    )
    assert len(parsed.all("path", **{"class": "edge"})) == 4 + 5


def test_drawings_are_well_formed(report):
    found = drawings(page(report))
    assert len(found) >= 1 + 1 + 2 + 1 + 4  # patterns, verdict, graphs, steps, layers
    for drawing in found:
        ET.fromstring(drawing)


def test_links_lead_somewhere(report):
    parsed = whole(report)
    ids = {attributes["id"] for _, attributes in parsed.elements if "id" in attributes}
    links = [a["href"] for a in parsed.all("a")]
    assert len(links) == 10 + len(STEPS) + 5 * len(LAYERS)
    assert {link[1:] for link in links} <= ids


def test_files_beside_the_report_are_linked_and_nothing_else_is(report):
    report["files"] = [
        "accelerator/",
        "build.log",
        "report/wave.svg",
        "javascript:alert(1)",
        "/etc/passwd",
        "a/../../b",
        3,
        "",
    ]
    links = [a["href"] for a in whole(report).all("a")]
    assert [link for link in links if not link.startswith("#")] == [
        "accelerator/", "build.log", "report/wave.svg", "3",
    ]  # fmt: skip


def test_reused_steps_show_what_they_took_when_they_ran(report):
    report["steps"][0] |= {"seconds": 0.0012, "original_seconds": 56.4}
    text = whole(report).text
    for words in [
        "4 steps in 5.97 s; 1 reused from an earlier build with the same content, where it took 56.4 s.",
        "of reused steps (hatched) as they took when they ran",
        "1 cleanup 56.4 s reused",
        "1 cleanup 56.4 s 360 samples equal 1.2e-07 reused in 1.20 ms brainsmith",
    ]:
        assert words in text
    del report["steps"][0]["original_seconds"]
    text = whole(report).text
    assert "1 reused from an earlier build with the same content." in text
    assert "1 cleanup – 360 samples equal" in text


def test_nothing_is_loaded_from_outside(report):
    document = page(report)
    for _, attributes in whole(report).elements:
        for name in ("src", "href", "action", "data", "poster", "srcset", "xlink:href"):
            assert attributes.get(name, "#")[0] == "#" or attributes[name] == "data:,"
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
    assert "http:" not in document
    assert "https:" not in document
    assert "@import" not in document
    assert re.findall(r"url\((?!#)", document) == []


def test_the_policy_allows_the_page_its_own_script_and_style_only(report):
    document = page(report)
    digests = [
        "sha256-" + base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        for body in re.findall(r"<style>(.*?)</style>|<script>(.*?)</script>", document, re.DOTALL)
        for body in body
        if body
    ]
    (policy,) = whole(report).all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert (
        policy["content"]
        == f"default-src 'none'; img-src data:; style-src '{digests[0]}'; script-src '{digests[1]}'"
    )
    assert len(digests) == 2


def poison(value):
    """Put a hostile text wherever a report can hold a text, names of fields aside."""
    if isinstance(value, dict):
        return {key: poison(item) for key, item in value.items()}
    if isinstance(value, list):
        return [poison(item) for item in value]
    return f"{value}{EVIL}" if isinstance(value, str) and value not in {"Input", "Output"} else value


def test_hostile_texts_are_shown_and_do_nothing(report):
    hostile = poison(report)
    hostile["layers"][0]["attributes"][EVIL] = EVIL
    clean, parsed = whole(report), whole(hostile)
    assert [tag for tag, _ in parsed.elements if tag in {"script", "img"}] == ["script", "script"]
    assert len(parsed.elements) == len(clean.elements)
    assert "onerror" not in {name for _, attributes in parsed.elements for name in attributes}
    assert f"MVAU_rtl_0{EVIL}" in parsed.text
    for drawing in drawings(page(hostile)):
        ET.fromstring(drawing)


def test_embedded_data_survives_hostile_texts(report):
    hostile = copy.deepcopy(report)
    hostile["graphs"]["before"]["nodes"][1]["name"] = EVIL + "\u2028<!--"
    document = page(hostile)
    block = document.split('id="graph-data">')[1].split("</script>")[0]
    assert "<" not in block
    assert "\u2028" not in block
    assert json.loads(block)["before"]["nodes"][1]["rows"][0] == ["Name", EVIL + "\u2028<!--"]


def test_characters_that_no_file_can_hold_are_replaced(report, tmp_path):
    report["warnings"] = ["a\x00b\x1bc\ud800d\uffff"]
    report["graphs"]["after"]["nodes"][2]["name"] = "\ud800\x01"
    document = render(report, tmp_path / "report.html").read_text("utf-8")
    assert "a\ufffdb\ufffdc\ufffdd\ufffd" in document
    for drawing in drawings(document):
        ET.fromstring(drawing)


@pytest.mark.parametrize(
    ("absent", "said"),
    [
        (
            "accuracy",
            "Accuracy was not measured: no labelled samples were given, or the build ended earlier.",
        ),
        (
            "estimate",
            "There are no estimates: the build ended before the step that makes them, or has no such step.",
        ),
        ("steps", "No step ran."),
        (
            "layers",
            "The report has no hardware layers: the pipeline made none, or the build ended before the estimates.",
        ),
        ("plugins", "The report names no loaded plugin."),
        ("warnings", "The build gave no warnings."),
        ("graphs", "The report holds no graph: the build ended before it was drawn."),
        ("model", "model without a name"),
        ("schema", "schema not stated"),
    ],
)
def test_what_is_absent_is_said(report, absent, said):
    for value in (None, [], {}, "" if absent != "warnings" else 0):
        assert said in whole({**report, absent: value}).text
    del report[absent]
    assert said in whole(report).text


@pytest.mark.parametrize(
    ("accuracy", "said"),
    [
        ({"samples": 360, "before": 0.95, "after": 0.95}, "95.00 % before and after on 360 samples"),
        (
            {"samples": 360, "before": 0.95, "after": None},
            "95.00 % before the first step on 360 samples; not measured after the last",
        ),
        ({"before": None, "after": 0.9}, "90.00 % after the last step"),
        ({"before": 0.95, "after": 0.9}, "90.00 % was 95.00 % before"),
    ],
)
def test_accuracy_before_and_after(report, accuracy, said):
    parsed = whole({**report, "accuracy": accuracy})
    assert f"Accuracy {said} FPS" in parsed.text
    assert "Accuracy was not measured" not in parsed.text


def test_the_float_model_is_beside_the_accuracy(report):
    distance = {"agreement": 0.9875, "max_error": 12.5, "mean_error": 1.25}
    found = {"samples": 360, "accuracy": 0.95, "before": distance, "after": None}
    said = (
        "Float model 98.75 % of its classes, before the first step; its own accuracy is 95.00 % "
        "Error to float 12.5 at most, 1.25 on average, of an output before the first step"
    )
    assert said in whole({**report, "float_model": found}).text
    found["after"] = {"agreement": 0.5, "max_error": None, "mean_error": None}
    text = whole({**report, "float_model": found}).text
    assert "Float model 50.00 % of its classes, after the last step" in text
    assert "Error to float" not in text


def test_a_step_that_approximates_says_so(report):
    report["steps"][0]["verified"] |= {"changed": 2, "samples": 360, "max_error": 0.5}
    report["steps"][1]["verified"] |= {"reference": "cleanup"}
    text = whole(report).text
    assert "approximates: 2 of 360 samples in another class" in text
    assert "compared with the results of cleanup" in text


def test_a_missed_target_is_said(report):
    report["rate"] |= {"fps": 9.9, "met": False}
    assert "FPS 9.9 estimated; target 100,000: missed" in whole(report).text


def test_without_a_clock_the_latency_is_in_cycles(report):
    report["blueprint"] = "a.yaml"
    assert "Latency 1,184 cycles LUT" in whole(report).text


def test_notes_and_cache_reasons_of_steps_are_shown(report):
    report["steps"][1] |= {
        "cache": "run: the source has changed",
        "verified": {"samples": 0, "reason": "no input"},
    }
    report["steps"][2]["verified"]["notes"] = ["the output was transposed"]
    parsed = whole(report)
    assert "2.71 s no input – run" in parsed.text
    assert parsed.all("td", title="run: the source has changed")
    assert "360 samples equal the output was transposed" in parsed.text
    assert "3 of 4 steps gave the golden outputs on 360 samples; not verified: streamline." in parsed.text


def test_numbers_of_numpy_are_numbers(report):
    numpy = pytest.importorskip("numpy", reason="needs numpy")
    report["layers"][1]["cycles"] = numpy.int64(4321)
    assert "MVAU_rtl_0 4,321 bottleneck" in whole(report).text


def test_an_empty_report_and_one_of_wrong_kinds_are_pages_too():
    assert "Not verified No step ran, so there is nothing to compare." in whole({}).text
    for value in (1, "text", [1, None, "x", [], {}], {"a": 1}, True, float("nan"), 10**400):
        keys = (
            "model",
            "blueprint",
            "target",
            "plugins",
            "steps",
            "layers",
            "estimate",
            "accuracy",
            "warnings",
        )
        whole(
            {
                **dict.fromkeys(keys, value),
                "graphs": {"before": value, "after": {"nodes": value, "edges": value}},
            }
        )


def test_one_graph_of_two(report):
    del report["graphs"]["after"]
    assert "No graph of what the build made of it is in the report." in whole(report).text


def test_edges_that_cannot_be_drawn_are_said(report):
    report["graphs"]["before"]["edges"].append(["n0", "nowhere", "t", [], ""])
    said = "Before the model as it was given; 1 edge of absent nodes left out"
    assert said in whole(report).text


def test_measures_without_a_chart_are_said(report):
    for layer in report["layers"]:
        layer |= {"cycles": None, "dsp": 0}
    parsed = whole(report)
    assert "4 hardware layers; none states its cycles." in parsed.text
    assert "No layer uses DSP. No layer states its Cycles." in parsed.text
    titles = [a["aria-label"].split(",")[0] for a in parsed.all("svg") if a.get("class") == "bars"]
    assert titles == ["Time per step", "LUT per layer", "BRAM18 per layer"]


def test_many_layers_scroll_and_come_largest_first(report):
    report["layers"] = [
        {**report["layers"][1], "name": f"layer_{i}", "cycles": i, "dsp": 0} for i in range(40)
    ]
    parsed = whole(report)
    assert "per frame; the layer with the most sets the rate; the largest first" in parsed.text
    assert "No layer uses DSP." in parsed.text
    frames = [a["aria-label"] for a in parsed.all("div") if a.get("class") == "scroll tall"]
    assert frames == ["Cycles per layer (scrolls)", "LUT per layer (scrolls)", "BRAM18 per layer (scrolls)"]


def test_a_folder_that_is_absent_is_an_error_with_advice(report, tmp_path):
    output = tmp_path / "absent" / "report.html"
    with pytest.raises(OutputError) as caught:
        render(report, output)
    assert str(caught.value) == (
        f"{output}: the report cannot be written (No such file or directory); name a folder that is writable"
    )


def test_a_failed_write_leaves_the_old_report_and_nothing_else(report, tmp_path):
    output = tmp_path / "report.html"
    output.mkdir()  # a folder cannot be replaced by a file
    (output / "kept").touch()
    with pytest.raises(OutputError):
        render(report, output)
    assert list(tmp_path.iterdir()) == [output]
    assert (output / "kept").exists()


@pytest.mark.slow
def test_hundreds_of_nodes_are_drawn_in_time(report):
    names = [(f"node_{i}", "MVAU_rtl") for i in range(300)]
    big = graph(*names)
    big["edges"] += [[f"n{i}", f"n{i + 9}", "skip", [], ""] for i in range(0, 290, 10)]
    report["graphs"] = {"before": big, "after": big}
    started = time.process_time()
    document = page(report)
    assert time.process_time() - started < 5  # a tenth of this is usual; only a change of order is a defect
    assert document.count('class="node ') == 2 * 302


def test_a_step_that_ended_the_build_is_called_failed(report):
    report["steps"][-1]["verified"] = None
    report["error"] = {"step": STEPS[-1][0], "message": "step 'x' changed what the model computes"}
    parsed = whole(report)
    assert "failed, as the top of the page says" in parsed.text
    assert [a["class"] for a in parsed.all("span") if a.get("class") == "state bad"] == ["state bad"]
    report["error"]["step"] = "a step that raised, and has no result"
    assert "failed, as the top of the page says" not in whole(report).text


def test_a_message_is_set_as_on_a_terminal_with_its_code_as_code():
    assert message("add `verify: {inputs: x}`, or --verify-inputs <x.npy>; a--b stays") == (
        "add <code>verify: {inputs: x}</code>, or "
        '<code class="option">--verify-inputs</code> &lt;x.npy&gt;; a--b stays'
    )
    assert message("`<b>` and one ` alone") == "<code>&lt;b&gt;</code> and one ` alone"


def test_small_numbers_and_times_of_reuse_are_sorted_by_all_of_their_digits(report):
    report["steps"][1].update(reused=True, seconds=0.00172, original_seconds=2.5)
    keys = [a["data-order"] for a in whole(report).all("td") if "data-order" in a]
    assert {"1.2e-07", "0.00172", "2.5", "-1"} <= set(keys)
