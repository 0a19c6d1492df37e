"""Words of people and models within a Markdown document of ours: quoted, readable, and unable to leave their place.

Nothing quoted is raw HTML, a remote picture, a definition that other text could refer to, or a fence or heading that the document's own would be taken for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.engine.text import one_line, printable

# --- One line of ours

_INLINE = re.compile(r"[\\`\[\]<>~|]|&(?=#?\w+;)|\*(?=\S)|(?<=\S)\*")
_UNDERSCORES = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_MARKED = re.compile(r"^(?:[*+-](?=\s|$|-)|#{1,6}(?=\s|$)|=+\s*$|:(?=-))")


def _each(match: re.Match[str]) -> str:
    return "".join("\\" + sign for sign in match.group())


def _signs(line: str) -> str:
    """Every sign that would mean something within a line."""
    return _UNDERSCORES.sub(_each, _INLINE.sub(_each, line))


def _begin(line: str) -> str:
    """A mark that would make the line a list, a heading or a rule."""
    return _MARKED.sub(lambda match: "\\" + match.group(), _NUMBERED.sub(r"\1\\\2", line))


def inline(text: str) -> str:
    """A text on one line, as it is: no emphasis, link, code or list comes of it."""
    return _begin(_signs(one_line(text)))


def heading(level: int, text: str) -> str:
    """A heading of the document; `text` is escaped."""
    return f"{'#' * level} {_signs(one_line(text)).replace('#', chr(92) + '#') or '…'}"


# --- What was said

# A fence, however far it is indented or right behind the mark of a list: it is written anew at the margin, where it is one for certain.
_FENCE = re.compile(r"^([ \t]*(?:(?:[*+-]|\d{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})[ \t]*([^`]*)$")
_TICKS = re.compile(r"`+")
# Tags, comments and addresses in angle brackets; an even number of backslashes before it escapes nothing.
_TAG = re.compile(r"(?<!\\)((?:\\\\)*)<(?=[A-Za-z/!?])")
_PICTURE = re.compile(r"(?<!\\)((?:\\\\)*)!(?=\[)")
_ELSEWHERE = re.compile(r"\]\((?!\s*(?:https?://|mailto:))", re.IGNORECASE)
_DEFINITION = re.compile(r"\]:")
_CALLOUT = re.compile(r"^(\s*)\[(?=!)")
_FENCE_WITHIN = re.compile(r"^([ \t]*(?:(?:[>*+-]|\d{1,9}[.)])[ \t]*)*)(`{3,}|~{3,})")
_INDENT = re.compile(r"^[ \t]+")
_HEADING = re.compile(r"^( {0,3})#{1,6}(?=[ \t]|$)")
_UNDERLINE = re.compile(r"^( {0,3})(=+|-+)(?=[ \t]*$)")


def said(text: str) -> Iterator[str]:
    """The lines of what a person wrote, as plain text with its line breaks; what they fenced, or indented as one does with code, stays as it is."""
    for is_code, info, lines in _parts(text):
        if is_code or any(line.startswith(("  ", "\t")) for line in lines):
            yield from _fenced(lines, info)
        else:
            for line, after in zip(lines, [*lines[1:], ""], strict=True):
                broken = _begin(_signs(line.strip()))
                yield broken + "  " if broken and after.strip() else broken


def answered(text: str) -> Iterator[str]:
    """The lines of an answer, which is Markdown: without what a page wouldn't show of it, its headings below all of ours."""
    for is_code, info, lines in _parts(text):
        if is_code:
            yield from _fenced(lines, info)
            continue
        before = ""
        for line in lines:
            before = _harmless(line, before)
            yield before


def _harmless(line: str, before: str) -> str:
    line = _INDENT.sub(lambda match: match.group().expandtabs(4), line)  # behind the mark of the quotation a tab would be narrower
    line = _TAG.sub(r"\1\\<", line)
    line = _PICTURE.sub(r"\1\\!", line)
    line = _ELSEWHERE.sub(r"]\\(", line)
    line = _DEFINITION.sub(r"]\\:", line)
    line = _CALLOUT.sub(r"\1\\[", line)
    line = _FENCE_WITHIN.sub(lambda match: match[1] + "".join("\\" + sign for sign in match[2]), line)
    line = _HEADING.sub(r"\1######", line)
    return _UNDERLINE.sub(r"\1\\\2", line) if before.strip() else line


def _parts(text: str) -> Iterator[tuple[bool, str, list[str]]]:
    """The text as runs of lines: whether they were fenced, as what, and they themselves."""
    plain: list[str] = []
    code: list[str] = []
    opened: re.Match[str] | None = None
    for line in printable(text).split("\n"):
        if opened is None:
            opened = _FENCE.match(line)
            if opened is None:
                plain.append(line)
                continue
            if opened[1].strip():
                plain.append(opened[1].rstrip())
            if plain:
                yield False, "", plain
            plain, code = [], []
        elif len(mark := line.strip()) >= len(opened[2]) and set(mark) == {opened[2][0]}:
            yield True, opened[3], code
            opened = None
        else:
            code.append(re.sub(rf"^[ \t]{{0,{len(opened[1])}}}", "", line))
    if opened is not None:
        yield True, opened[3], code
    if plain:
        yield False, "", plain


def _fenced(lines: list[str], info: str) -> Iterator[str]:
    """Code in a fence longer than any within."""
    longest = max((len(run) for line in lines for run in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    language = re.sub(r"[^\w+#.-]", "", (info.split() or [""])[0])[:40]
    yield fence + language
    yield from lines
    yield fence


def quote(lines: Iterator[str]) -> str:
    """Lines as a quotation, with the blank line after it that ends it."""
    return "".join(f"> {line}".rstrip(" ") + ("  " if line.endswith("  ") else "") + "\n" for line in lines) + "\n"
