"""Every schedule that a backend of this project states is compared with its circuit."""

import re
from pathlib import Path

from tests.backends.rtl.scheduled import law_of_schedules

HERE = Path(__file__).parent
BACKENDS = HERE.parents[2] / "brainsmith" / "backends" / "rtl"
LAW = re.compile(rf"^test_\w+ = \(?\s*{law_of_schedules.__name__}\(", re.MULTILINE)
STATING = re.compile(r"^from (brainsmith\.backends\.rtl\.\w+) import", re.MULTILINE)


def test_each_backend_that_states_a_schedule_has_a_law_of_it():
    modules = {path.stem: path.read_text() for path in BACKENDS.glob("*.py")}
    stating = {name for name, text in modules.items() if "def beat_schedule(" in text}
    for _ in range(3):  # and those that inherit it
        bases = {f"brainsmith.backends.rtl.{name}" for name in stating}
        stating |= {name for name, text in modules.items() if bases & set(STATING.findall(text))}
    backends = {name for name in stating if name.endswith("_rtl")}
    tested = {path.stem: path.read_text() for path in HERE.glob("test_*.py")}
    lawful = {stem: text for stem, text in tested.items() if LAW.search(text)}
    held = {
        name
        for name in backends
        if f"test_{name}" in lawful or any(f"rtl.{name} import" in text for text in lawful.values())
    }
    assert backends - held == set()
    assert len(backends) > 15
