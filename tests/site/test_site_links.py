"""The one rule by which links of pages work on a code host and on the site."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.test_docs import ROOT


@pytest.fixture(scope="module")
def links(tool):
    return tool("site_links")


@pytest.fixture
def repository(tmp_path):
    """A repository with a page, a page beside the pages, a text and what is no text."""
    for name in (
        "docs/kernels/README.md",
        "docs/cli.md",
        "README.md",
        "blueprints/x.yaml",
        ".ci/run",
        "SECURITY.md",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n")
    (tmp_path / "docs" / "cli.md").write_text("[b](../blueprints/x.yaml) [k](kernels) [c](../.ci/run)")
    (tmp_path / "README.md").write_text("[cli](docs/cli.md) `[no](SECURITY.md)`")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("docs/cli.md", "cli.md"),
        ("docs/kernels/README.md", "kernels/README.md"),
        ("docs/pictures/a.svg", "pictures/a.svg"),
        ("README.md", "index.md"),
        ("CONTRIBUTING.md", "contributing.md"),
        ("examples/digits/README.md", "examples/digits/README.md"),
        ("blueprints/x.yaml", "source/blueprints/x.yaml.md"),
        (".github/workflows/ci.yml", "source/github/workflows/ci.yml.md"),
        ("examples/digits/mlp.onnx", "source/examples/digits/mlp.onnx"),
    ],
)
def test_each_file_has_a_place(links, path, address):
    assert links.address(path) == address


@pytest.mark.parametrize(
    ("link", "path", "moved"),
    [
        ("docs/cli.md#build", "README.md", "cli.md#build"),
        ("../README.md#two", "docs/cli.md", "index.md#two"),
        ("../../README.md", "docs/kernels/README.md", "../index.md"),
        ("../blueprints/x.yaml", "docs/cli.md", "source/blueprints/x.yaml.md"),
        ("../../blueprints/x.yaml", "docs/kernels/README.md", "../source/blueprints/x.yaml.md"),
        ("docs/kernels", "README.md", "kernels/README.md"),
        ("docs/kernels/", "README.md", "kernels/README.md"),
        (".ci/run", "README.md", "source/ci/run"),
        ("SECURITY.md", "README.md", "security.md"),
        # What leads to no file of the repository stays: MkDocs reports what is broken.
        ("docs/gone.md", "README.md", "docs/gone.md"),
        ("../../etc/passwd", "README.md", "../../etc/passwd"),
        ("blueprints", "README.md", "blueprints"),
        ("#here", "README.md", "#here"),
        ("https://semver.org", "README.md", "https://semver.org"),
        ("mailto:a@b.c", "README.md", "mailto:a@b.c"),
        ("/docs/cli.md", "README.md", "/docs/cli.md"),
    ],
)
def test_a_link_leads_to_where_the_site_has_the_file(links, repository, link, path, moved):
    assert (
        links.rewrite(f"see [`x`]({link}), ![a]({link})", path, repository)
        == f"see [`x`]({moved}), ![a]({moved})"
    )


@pytest.mark.parametrize(
    "code",
    [
        "```md\n[x](docs/cli.md)\n```",
        "~~~\n[x](docs/cli.md)\n~~~",
        "````\n```\n[x](docs/cli.md)\n```\n````",
        "`[x](docs/cli.md)`",
        "`` ` [x](docs/cli.md) ``",
        "1. a\n\n   ```\n   [x](docs/cli.md)\n   ```",
    ],
)
def test_code_is_no_link(links, repository, code):
    text = f"[a](docs/cli.md)\n\n{code}\n\n[b](docs/cli.md)"
    assert links.rewrite(text, "README.md", repository) == f"[a](cli.md)\n\n{code}\n\n[b](cli.md)"
    assert links.links(text) == ["docs/cli.md"] * 2


def test_the_site_shows_the_pages_and_what_they_lead_to(links, repository):
    assert links.shown_files(repository) == [
        ".ci/run",
        "README.md",
        "blueprints/x.yaml",
        "docs/cli.md",
        "docs/kernels/README.md",
    ]


def test_a_text_is_shown_as_code_whatever_is_in_it(links):
    assert links.as_page("blueprints/x.yaml", "a: 1\n") == (
        "---\nsearch:\n  exclude: true\n---\n# x.yaml\n\n`blueprints/x.yaml`\n\n```yaml\na: 1\n```\n"
    )
    assert "\n````python\n```\n````\n" in links.as_page("x.py", "```\n")


def test_no_two_files_of_this_repository_have_one_place(links):
    shown = links.shown_files(ROOT)
    assert len({links.address(path) for path in shown}) == len(shown) > 60


NAMES = st.lists(st.sampled_from(["docs", "a", "b", ".ci"]), max_size=3)
ENDS = st.sampled_from(["README.md", "page.md", "x.yaml", "x.npy"])


@given(st.tuples(NAMES, ENDS), st.tuples(NAMES, ENDS), st.sampled_from(["", "#part"]))
def test_a_link_between_any_two_files_leads_from_the_one_s_place_to_the_other_s(
    links, tmp_path_factory, one, two, part
):
    """The law: following the moved link from where the page lies on the site ends where the site has the file."""
    source, found = (posixpath.join(*folders, name) for folders, name in (one, two))
    root = tmp_path_factory.mktemp("repository")
    (root / found).parent.mkdir(parents=True, exist_ok=True)
    (root / found).touch()
    link = posixpath.relpath(found, posixpath.dirname(source) or ".") + part
    moved = links.rewrite(f"[x]({link})", source, root)[4:-1]
    place = posixpath.normpath(
        posixpath.join(posixpath.dirname(links.address(source)), moved.removesuffix(part))
    )
    assert place == links.address(found)
    assert moved.endswith(part)
