"""Folders in the navigation of mkdocs.yml."""


def test_a_folder_stands_for_its_pages_that_are_not_named(tool):
    nav = [
        {"Start": "index.md"},
        {"Kernels": ["kernels/README.md", "kernels/"]},
        {"More": [{"Deep": ["ref/"]}, "ref/b.md"]},
    ]
    pages = [
        "index.md",
        "kernels/README.md",
        "kernels/b.md",
        "kernels/a.md",
        "ref/a.b.md",
        "ref/a.md",
        "ref/b.md",
        "left.md",
    ]
    made = tool("site_navigation").navigation(nav, pages)
    assert made == [
        {"Start": "index.md"},
        {"Kernels": ["kernels/README.md", "kernels/a.md", "kernels/b.md"]},
        {"More": [{"Deep": ["ref/a.md", "ref/a.b.md"]}, "ref/b.md"]},
    ]
    assert list(tool("site_navigation").named_pages(made)) == [
        *(
            "index.md",
            "kernels/README.md",
            "kernels/a.md",
            "kernels/b.md",
            "ref/a.md",
            "ref/a.b.md",
            "ref/b.md",
        ),
    ]
