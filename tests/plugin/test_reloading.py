"""Plugins that are loaded anew again and again: instances of old classes stay valid, and nothing of them is kept."""

import gc
import os
import weakref
from pathlib import Path

import pytest

from brainsmith.plugins import transforms

pytestmark = pytest.mark.usefixtures("no_frameworks")

SOURCE = """\
from brainsmith import transform
from .beside import NUMBER


@transform(stage="tidy", description="Keep")
class Keep:
    number = {number}

    def apply(self, model):
        return (self.number, NUMBER), False
"""
BASE = "from qonnx.transformation.base import Transformation\n"


def save(project, number):
    """Write two modules that belong together, each by a rename."""
    source = BASE + SOURCE.replace("class Keep:", "class Keep(Transformation):")
    for name, text in (("beside", f"NUMBER = {number}\n"), ("keep", source.format(number=number))):
        path = project / f"plugins/{name}.py"
        other = path.with_suffix(".new")
        other.write_text(text)
        os.replace(other, path)


def reloaded(project, manager, number):
    save(project, number)
    manager.registry.records("transform", "project")
    return transforms.Keep


def test_instances_of_an_old_class_stay_valid_and_new_ones_are_new(project, manager):
    old_class = reloaded(project, manager, 1)
    old = manager.get_instance("transform", "Keep")
    for number in range(2, 8):
        new_class = reloaded(project, manager, number)
        new = manager.get_instance("transform", "Keep")
        assert new_class is transforms.Keep
        assert type(new) is new_class is not old_class
        assert new.apply(None) == ((number, number), False)
        assert type(old) is old_class
        assert isinstance(old, old_class)
        assert not isinstance(old, new_class)
        assert old.apply(None) == ((1, 1), False)
        assert old_class().apply(None) == ((1, 1), False)


def test_a_class_that_nobody_holds_is_gone(project, manager):
    gone = [weakref.ref(reloaded(project, manager, number)) for number in range(5)]
    gc.collect()
    assert [one() is None for one in gone] == [True] * 4 + [False]


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
def test_a_thousand_reloads_leave_no_memory_behind(project, manager):
    """`benchmarks/production.py --only reloads` does ten times as many."""
    sizes, objects = [], []
    for number in range(1000):
        assert reloaded(project, manager, number).number == number
        if number % 100 == 99:
            gc.collect()
            sizes.append(resident())
            objects.append(len(gc.get_objects()))
    # What the first ones leave is caches that fill once; of each later one nothing may stay.
    assert objects[-1] - objects[2] < 100
    assert sizes[-1] - sizes[2] < 4 << 20
