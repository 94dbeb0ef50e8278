"""HTML files that need no network: alone, with style and script in them, or as pages of a site. Nothing else may run."""

from __future__ import annotations

import base64
import hashlib

from brainsmith.markup import Child, Markup, tag

# An empty icon: without one a browser asks the server for /favicon.ico.
_ICON = "data:,"


def html_document(title: str, style: str, script: str, *content: Child) -> str:
    """Return a page.

    Args:
        title: What the browser's tab says.
        style: The style sheet.
        script: It runs when all of the page is there.
        content: The body.
    """
    # Even if a text ever escaped its element, the browser would run and load nothing but these two.
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    )
    return _document(title, policy, tag("style", Markup(style)), content, tag("script", Markup(script)))


def served_policy(script: str) -> str:
    """Return the policy under which a server shows a page that somebody else may have written.

    Args:
        script: All that may run in it.
    """
    rules = (
        "default-src 'none'",
        "img-src data:",
        "style-src 'unsafe-inline'",
        f"script-src '{_digest(script)}'",
    )
    return "; ".join([*rules, "form-action 'none'", "base-uri 'none'"])


def site_page(title: str, style: str, script: str, *content: Child, asks_again: bool = False) -> str:
    """Return a page of a site whose pages share a style sheet and a script.

    Args:
        title: What the browser's tab says.
        style: The address of the style sheet, relative to the page.
        script: That of the script, which runs when all of the page is there.
        content: The body.
        asks_again: Whether the script asks the page's server for what is new.
    """
    policy = "default-src 'none'; img-src data:; style-src 'self'; script-src 'self'; form-action 'self'"
    policy += "; connect-src 'self'" if asks_again else ""
    sheet = tag("link", rel="stylesheet", href=style)
    return _document(title, policy, sheet, content, tag("script", src=script))


def _document(title: str, policy: str, style: Markup, content: Child, script: Markup) -> str:
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("link", rel="icon", href=_ICON),
        style,
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', content, script), lang='en')}\n"


def _digest(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
