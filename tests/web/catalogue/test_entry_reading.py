"""What a catalogue knows of plugins, from records and sources."""

from brainsmith.web.catalogue.entry_reading import source_path

from .made import PAD, entries_of, kernels_and_backends, record


def test_kernels_know_their_backends_and_these_their_kernels(tmp_path):
    entries = {one.key: one for one in entries_of(*kernels_and_backends(tmp_path))}
    ours, finn = entries["kernel:brainsmith:Pad"], entries["kernel:finn:Pad"]
    assert ours.backends == ("backend:brainsmith:PadRTL", "backend:brainsmith:PadHLS")
    assert finn.backends == ("backend:acme:OtherRTL", "backend:finn:Pad_rtl")
    assert ours.inferred_by == ("transform:brainsmith:InferPad",)
    assert entries["backend:acme:OtherRTL"].kernels == ("kernel:finn:Pad",)
    assert entries["backend:acme:Lost"].kernels == ()
    assert (ours.rivals, ours.is_meant) == (("kernel:finn:Pad",), True)
    assert (finn.rivals, finn.is_meant) == (("kernel:brainsmith:Pad",), False)


def test_the_kernels_of_the_hub_have_the_backends_that_the_hub_says():
    from brainsmith.plugin.collections import backends_of, ranked
    from brainsmith.plugin.manager import get_plugin_manager
    from brainsmith.web.catalogue.entry_reading import read_entries

    registry = get_plugin_manager().all_records()[0]
    records = registry.records()
    entries, problems = read_entries(registry, [one for one in records if one.type in ("kernel", "backend")])
    assert problems == []
    found = {one.info.qualified: one.backends for one in entries if one.info.type == "kernel"}
    assert found == {
        kernel.qualified: tuple(f"backend:{one.qualified}" for one in ranked(backends_of(registry, kernel)))
        for kernel in registry.records("kernel")
    }


def test_a_name_that_only_frameworks_have_means_none_of_them():
    both = entries_of(record("Move", framework="qonnx"), record("Move", framework="finn"))
    assert [(one.key, one.is_meant) for one in both] == [
        ("transform:finn:Move", False),
        ("transform:qonnx:Move", False),
    ]


def test_two_objects_under_one_name_are_both_shown():
    two = entries_of(record("X", reference="a:X"), record("X", reference="b:X"))
    assert [one.key for one in two] == ["transform:brainsmith:X a:X", "transform:brainsmith:X b:X"]
    assert len({one.address for one in two}) == 2


def test_the_summary_is_the_description_or_the_first_paragraph(tmp_path):
    described = record("Pad", description="Put\n values around", source=PAD, folder=tmp_path)
    assert entries_of(described)[0].summary == "Put values around"
    (entry,) = entries_of(record("Pad", source=PAD, folder=tmp_path))
    assert entry.summary == "Surround a tensor."
    plain = entry.to_plain()
    assert plain["parameters"] == ["node", "value: int = 0", "exact=True"]
    assert plain["documentation"].startswith("Surround a tensor.\n\nAlong any axes.")
    assert str(tmp_path) not in str(plain)


def test_a_source_that_cannot_be_read_is_no_obstacle():
    (entry,) = entries_of(record("Gone", origin="/nowhere/gone.py:3"))
    assert entry.reason == "transform 'brainsmith:Gone': its source '/nowhere/gone.py' does not exist"
    assert (entry.details, entry.summary, entry.to_plain()["unreadable"]) == (None, "", "yes")


def test_a_file_is_named_as_its_package_names_it():
    def path(file, reference):
        return source_path(record("X", origin=f"{file}:3", reference=reference))

    assert path("/a/b/finn/util/basic.py", "finn.util.basic:X") == "finn/util/basic.py"
    assert path("/a/b/finn/util/__init__.py", "finn.util:X") == "finn/util/__init__.py"
    assert path("/home/me/project/plugins/my_pass.py", "mounted_1.my_pass:X") == "plugins/my_pass.py"
    assert source_path(record("X", origin="acme 1.0, entry point 'x'")) == ""


def test_the_distribution_is_the_provider(tmp_path, monkeypatch):
    (ours,) = entries_of(record("X"))
    assert (str(ours.provider), ours.licence) == ("brainsmith 0.1.0", "MIT")
    (stated,) = entries_of(record("X", extra={"license": "BSD-3-Clause"}))
    assert stated.licence == "BSD-3-Clause"
    egg = tmp_path / "acme.egg-info"  # of a package that is installed from its sources
    egg.mkdir()
    (egg / "PKG-INFO").write_text(
        "Metadata-Version: 2.4\nName: acme\nVersion: 3.1\nLicense-Expression: ISC\n\nText"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (acme,) = entries_of(record("X", framework="acme"))
    assert (str(acme.provider), acme.licence) == ("acme 3.1", "ISC")
    (project,) = entries_of(record("X", framework="project"))
    assert (str(project.provider), project.licence) == ("this project", "")
