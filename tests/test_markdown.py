"""What is quoted in a Markdown document stays in its quotation and comes to nothing that a page of ours wouldn't show; plain text reads as it was written."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memory.present.markdown import answered, heading, inline, quote, said

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
AFTER = "### Turn 2\n"

# What breaks documents: marks at the beginning of lines, fences, tags, definitions, escapes, blanks.
PIECES = [
    "```", "````", "~~~", "```js", "<", ">", "<b>", "</div>", "<!--", "-->", "<?", "<script>alert(1)</script>", "![", "[", "]", "](", ")",
    "](javascript:alert(1))", "](https://x.org)", "![p](https://x.org/p.png)", "[a]: javascript:x", "[a]:", ":", "[!NOTE]", "[^1]: f", "#",
    "## Kitchen", "===", "---", "***", "- ", "* ", "+ ", "1. ", "1) ", "> ", "|", "|---|", "a | b", "\\", "\\\\", "`", "``", "_", "__", "*", "**",
    "~", "&lt;", "&#60;", "&", "\n", "\n\n", "\r\n", "\u2028", "    ", "\t", " ", "  ", "a", "word", "ß", "你好", "مرحبا", "🌿", "\u202e", "\x00",
    "https://x.org/a_b", "<https://x.org>", "<javascript:x>", "$$", "</blockquote>", ":::", "{.x}",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=24).map("".join) | st.text(max_size=80)


def read(document):
    """The tokens and what links could refer to."""
    env = {}
    return READER.parse(document, env), env


def every(tokens):
    for token in tokens:
        yield token
        yield from every(token.children or [])


def assert_stays(document):
    """One quotation and our own heading after it, nothing live within."""
    tokens, env = read(document)
    top = [token.type for token in tokens if token.level == 0]
    assert top == ["blockquote_open", "blockquote_close", "heading_open", "heading_close"]
    assert env.get("references", {}) == {}
    for token in every(tokens):
        assert token.type not in {"html_block", "html_inline", "image"}
        if token.type == "link_open":
            assert re.match(r"https?://|mailto:", str(token.attrs["href"]), re.IGNORECASE)
        if token.type == "heading_open" and token.level > 0:
            assert token.tag == "h6" or token.level > 1, "no heading of a quotation is one of ours"


@given(TEXTS)
def test_an_answer_stays_in_its_quotation(text):
    assert_stays(quote(answered(text)) + AFTER)


@given(TEXTS)
def test_what_a_person_wrote_stays_in_its_quotation(text):
    assert_stays(quote(said(text)) + AFTER)


@given(TEXTS)
def test_one_line_is_one_paragraph_or_one_item_of_plain_text(text):
    tokens, _ = read(f"- {inline(text)}\n\n" + heading(2, text) + "\n")
    assert [token.type for token in tokens if token.level == 0] == ["bullet_list_open", "bullet_list_close", "heading_open", "heading_close"]
    assert {token.type.removesuffix("_open").removesuffix("_close") for token in tokens} <= {"bullet_list", "list_item", "paragraph", "heading", "inline"}
    assert {token.type for token in every(tokens) if token.type != "inline" and not token.block} <= {"text", "text_special"}


def plain(tokens):
    """The words of paragraphs as a reader sees them."""
    found = []
    for token in tokens:
        if token.type == "inline":
            found.append("".join("\n" if one.type in {"hardbreak", "softbreak"} else one.content for one in token.children))
    return "\n".join(found)


LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Zs", "Zl", "Zp"]) | st.just(" "), max_size=30), max_size=6)


@given(LINES)
def test_plain_text_reads_as_it_was_written_line_by_line(lines):
    text = "\n".join(line.strip(" ") for line in lines)
    if re.search(r"^\s*(?:(?:[*+-]|\d{1,9}[.)])\s+)*(?:`{3,}|~{3,})", text, re.MULTILINE):
        return
    tokens, _ = read(quote(said(text)))
    assert plain(tokens).split() == text.split()
    kinds = {token.type.removesuffix("_open").removesuffix("_close") for token in every(tokens)}
    assert kinds <= {"blockquote", "paragraph", "inline", "text", "text_special", "hardbreak", "softbreak"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two things:\n\n1. *Hood*, 2 < 3\n2. `code`", "Two things:\n\n1. *Hood*, 2 < 3\n2. `code`"),
        ("# Steps\nText\n===", "###### Steps\nText\n\\==="),
        ("1. Do this:\n   ```bash\n   ls <dir>\n   ```\n2. Done", "1. Do this:\n```bash\nls <dir>\n```\n2. Done"),
        ("- ```js\n  a\n  ```\nafter", "-\n```js\na\n```\nafter"),
        ("\t# Steps\n\t---", "    # Steps\n    ---"),
        ("````md\n```js\n````", "````md\n```js\n````"),
        ("~~~\n```\n", "````\n```\n\n````"),
        ("See ![cat](https://x.org/c.png) and [this](javascript:x)", "See \\![cat](https://x.org/c.png) and [this]\\(javascript:x)"),
    ],
)
def test_an_answer_keeps_its_form(text, expected):
    assert "\n".join(answered(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Budget is €21,500 (2 * 3, a_b, 50% < 60%)", "Budget is €21,500 (2 * 3, a_b, 50% \\< 60%)"),
        ("one\ntwo\n\nthree", "one  \ntwo\n\nthree"),
        ("- milk\n1. egg\n# no", "\\- milk  \n1\\. egg  \n\\# no"),
        ("def f():\n    return 1", "```\ndef f():\n    return 1\n```"),
        ("See:\n```py\nx = 1\n```", "See:\n```py\nx = 1\n```"),
    ],
)
def test_what_a_person_wrote_keeps_its_lines(text, expected):
    assert "\n".join(said(text)) == expected
