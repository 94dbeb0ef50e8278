"""Texts that people read have none of the phrases that made readers stop."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READ = ("brainsmith", "docs", "examples", "README.md")
KINDS = (".py", ".md", ".sv", ".svh", ".v", ".cpp", ".hpp", ".h", ".c", ".rs", ".yaml", ".js", ".css")
PHRASES = {
    r"be had": "be allocated, be used",
    r"(?:can|could)(?:not)? be told(?! apart)": "be determined",
    r"says? (?:of \w+ )?what cannot be": "is invalid",
    r"came in or": "was added or",
    r"\bor went\b": "or was removed",
    r"\b(?:is|are|was|were) told\b(?! apart)": "is reported",
    r"\b(?:holds?|held|holding) (?:[\w']+ ){0,4}back\b": "stalls; is not ready",
    r"is too much": "unexpected argument",
    r"the same of its": "likewise; the maximum of",
    r"if one's are not": "if any differs",
    r"\| what (?:it|they) ha(?:s|ve) \|": "features",
    r"do it all\b": "needs only",
    r"\b(?:is|are|was|were) held (?:to|against)\b": "is checked against",
    r"\bis a must\b": "is required",
    r"\bthere where\b": "where",
    r"\bwithout a word\b": "without a message",
    r"(?<!there )\b(?:is|are) (?-i:none)(?=[.;,:])": "is not one; does not exist",
    r"\bcannot be(?=[.;,:])": "is invalid; is not possible",
    r"\b(?:is|are|has|have) none that\b": "does not support; is not one that",
    r"\bat the (?:most|least)\b(?! signif)": "at most; at least",
    r"\bin the place of\b": "in place of; instead of",
    r"\b(?:is|are) not there\b": "does not exist; is missing",
    r"\bin a circle\b": "in a cycle",
    r"\bcan(?:not)? be them\b": "implements these; supports these",
    r"\brun the step \w+ before\b": "run the step ... first",
    r"\bpassed over\b": "skipped; left out",
    r"\bas ever\b": "as usual; as before",
    r"\bfor good\b": "permanently",
    r"\bin silence\b": "silently; without a message",
    r"\bin vain\b": "and was not found",
    r"\b(?:is|are) (?:not )?believed\b": "is valid; is used; is accepted",
    r"\b(?:is|are|was|were) said\b": "is reported; is stated; the message for",
    r"\bbroke off\b": "ended the connection; ended",
    r"\bbefore its time\b": "too early; before it was complete",
    r"\blets? nobody in\b": "requires",
    r"\bnobody (?:serves|is there)\b": "no server is there",
    r"\bof no use without\b": "needs",
    r"\bunits? in common\b": "a common unit",
    r"\b(?:row|image)s? that (?:was|were) an? (?:image|row)\b": "a flattened image",
    r"\bis just being\b": "is being ... at this moment",
    r"\bof whose entries\b": "whose entries",
    r"\b(?:say|says|said) of (?:it|them)sel(?:f|ves)\b": "states about itself",
    r"\b(?:came|comes) of (?!age)": "the result of",
    r"\bsmaller pictures?\b": "a smaller image",
    r"\bthe next whole number\b": "the nearest whole number",
    r"\bstands? for nothing\b": "names nothing",
    r"\b(?-i:_TOLD)\b|\blife_of\b|\b_were\b|\.gone\b|\bdef gone\b": "a name for what it holds",
}
"""As regular expressions: what to say in their place."""


MESSAGES = {
    r"\b[Ii]n front of\b": "before",
    r"(?<!left )(?<![.\"'`_\n])\bbehind\b(?![.\"'`_\[}]| AXI| a checksum| one C| a resource manager)": "after",
    r"\b(?:it|that|which|file|what|weights|values) (?:is|are) no (?!longer\b)": "is not a",
    r"\ba text\b(?! file)": "a string",
    r"; there (?:is|are) \{['\"], ['\"]\.join": "the names are",
    r"\bgives? places\b|\bthe places? of (?:a|the largest) values?\b": "returns indices",
    r"\bstands? (?:under|behind)\b": "belongs under; comes after",
    r"\bout of place\b|\bwhich is there\b": "which is listed too",
}
"""What messages and pages say otherwise, and comments may."""


def literals(path):
    """Yield the literals of a file that are no docstrings, adjacent ones joined, with what f-strings hold in braces."""
    tree = ast.parse(path.read_text("utf-8"))
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inner |= {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    } - {id(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)}
    for node in ast.walk(tree):
        if id(node) in inner:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def shown():
    """Yield the texts that users see: messages, by file, and pages except the changelog, which is history."""
    for path in sorted((ROOT / "brainsmith").rglob("*.py")):
        yield path.relative_to(ROOT), "\n".join(literals(path))
    for path, text in FILES:
        if path.suffix == ".md" and path.name != "changelog.md":
            yield path, text


@pytest.mark.parametrize("phrase", MESSAGES)
def test_no_message_and_no_page_has_a_phrase_that_users_read_twice(phrase):
    sought = re.compile(phrase)
    found = [
        f"{path}: ...{text[max(0, hit.start() - 40) : hit.end() + 20]}..."
        for path, text in SHOWN
        for hit in sought.finditer(text)
    ]
    assert found == [], f"say: {MESSAGES[phrase]}"


def texts():
    """Yield each file's words, comment signs and line breaks left out, so that no phrase hides in two lines."""
    for name in READ:
        place = ROOT / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.suffix in KINDS and path.is_file():
                yield path.relative_to(ROOT), re.sub(r"\s*\n[\s#/*|>]*", " ", path.read_text("utf-8"))


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_text_has_a_hard_phrase(phrase):
    sought = re.compile(phrase, re.IGNORECASE)
    found = [
        f"{path}: ...{text[max(0, hit.start() - 40) : hit.end() + 20]}..."
        for path, text in FILES
        for hit in sought.finditer(text)
    ]
    assert found == [], f"say: {PHRASES[phrase]}"


FILES = list(texts())
SHOWN = list(shown())


@pytest.mark.parametrize(
    "text",
    [
        "memory cannot be had",
        "whose content cannot be told",
        "a command line says what cannot be",
        "a file came in or went",
        "each is told as an error",
        "the driver holds a beat back",
        "the ends hold back",
        "'x' is too much",
        "most: the same of its largest",
        "exit code 1 if one's are not",
        "| model | what it has |",
        "packages and g++ do it all.",
        "a size that is none, or another",
        "a value cannot be, or is missing",
        "shapes are none that a kernel takes",
        "results are held to the signature",
        "then a token is a must",
        "there where PYNQ is",
        "replaced without a word",
        "twice at the most",
        "a node in the place of a group",
        "the file is not there",
        "bundles need each other in a circle",
        "no backend can be them",
        "run the step fold before",
        "a target was passed over",
        "what is said of a step",
        "modules are imported as ever",
        "stalled for good",
        "left out in silence",
        "looked for in vain",
        "the entry is not believed",
        "life_of(target)",
        "scales without a unit in common",
        "it moves a row that was an image",
        "what a library says of itself",
        "what came of a run",
        "0.5 from the next whole number",
    ],
)
def test_the_phrases_are_found(text):
    assert any(re.search(phrase, text, re.IGNORECASE) for phrase in PHRASES)
