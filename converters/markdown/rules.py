"""Rules for markdown-it: components, highlighted code, task lists and heading ids."""

import re
from collections import Counter
from itertools import pairwise
from unicodedata import category

from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

BRACES = r"\{[^{}]*+\}"  # {…}
for _ in range(3):  # {…{…{…{…}…}…}…}
    BRACES = rf"\{{(?:[^{{}}]++|{BRACES})*+\}}"
# <Buy on={() => go("a > b")}>
COMPONENT_TAG = re.compile(rf"""<[a-zA-Z][\w.:-]*+(?=[\s{{/>])(?:[^<>{{}}"']++|"[^"]*+"|'[^']*+'|{BRACES})*+>""")
TEXT_IN_ID = ("text", "text_special", "code_inline")  # text_special: escaped characters
KEPT_IN_ID = ("Nd", "Pc")  # decimal digits, and connectors such as the underscore
# {#id}, {#id .class} or {.class} at the end of a heading, as Hugo and Pandoc accept them
HEADING_ATTRIBUTES = re.compile(r"\s*\{:?\s*([#.][^\s{}]+(?:\s+[#.][^\s{}]+)*)\s*\}\s*\Z")
# Jekyll's {% highlight python %} and Hugo's {{< highlight python >}}
HIGHLIGHT = re.compile(r"""(?:\{%-?|\{\{[<%])\s*highlight\s+["']?([\w+#.-]+)[^}]*\}?\}[ \t]*""")
END_OF_HIGHLIGHT = re.compile(r"(?:\{%-?\s*endhighlight\s*-?%\}|\{\{[<%]\s*/\s*highlight\s*[>%]\}\})[ \t]*\Z")
TASK = re.compile(r"\[[ xX]\]\s")  # [x] done
CHECKBOX = '<input class="task-list-item-checkbox" {}disabled="disabled" type="checkbox">'


def add_heading_ids(state: StateCore) -> None:
    """Set the id of each heading: the one in braces, otherwise a unique one from its text, as on GitHub."""
    headings = [
        (token, inline.children or []) for token, inline in pairwise(state.tokens) if token.type == "heading_open"
    ]
    for heading, texts in headings:
        _take_attributes(heading, texts)
    taken = {heading.attrGet("id") for heading, _ in headings}
    repeated: Counter[str] = Counter()
    for heading, texts in headings:
        if heading.attrGet("id"):
            continue
        own_id = _heading_id("".join(token.content for token in texts if token.type in TEXT_IN_ID))
        id = own_id
        while id in taken:
            repeated[own_id] += 1
            id = f"{own_id}-{repeated[own_id]}"
        taken.add(id)
        heading.attrSet("id", id)


def _take_attributes(heading: Token, texts: list[Token]) -> None:
    """Move an id and classes in braces from the end of a heading to its tag."""
    match = HEADING_ATTRIBUTES.search(texts[-1].content[-200:]) if texts and texts[-1].type == "text" else None
    if not match:
        return
    texts[-1].content = texts[-1].content.removesuffix(match[0])
    for attribute in match[1].split():
        if attribute.startswith("#"):
            heading.attrSet("id", attribute[1:])
        else:
            heading.attrJoin("class", attribute[1:])


def parse_component(state: StateInline, silent: bool) -> bool:
    """Parse a tag with props in braces, which Markdown would take for text."""
    match = COMPONENT_TAG.match(state.src, state.pos)
    if not match or "{" not in match[0]:
        return False
    if not silent:
        state.push("html_inline", "", 0).content = match[0]
    state.pos = match.end()
    return True


def parse_highlight(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a highlighted block of Jekyll or Hugo as a fence. An unclosed block stays text, which is reported."""
    if not state.src.startswith("{", state.bMarks[start] + state.tShift[start]):  # for speed
        return False
    first = state.getLines(start, start + 1, state.blkIndent, False)
    opening = HIGHLIGHT.match(first)
    if not opening or state.is_code_block(start) or _is_known_as_unclosed(state, start, end):
        return False
    lines = [first[opening.end() :]]
    closing = END_OF_HIGHLIGHT.search(lines[0])
    while not closing and start + len(lines) < end:
        line = start + len(lines)
        lines.append(state.getLines(line, line + 1, state.blkIndent, False))
        closing = END_OF_HIGHLIGHT.search(lines[-1])
    if not closing:
        state.env["unclosed"] = (start, end)
        return False
    if not silent:
        lines[-1] = lines[-1][: closing.start()]
        token = state.push("fence", "code", 0)
        token.info = opening[1]
        token.map = [start, start + len(lines)]
        token.content = "\n".join(lines).strip("\n") + "\n"
        state.line = start + len(lines)
    return True


def _is_known_as_unclosed(state: StateBlock, start: int, end: int) -> bool:
    """Return whether these lines were searched for a closing tag before. Otherwise, the time would be quadratic."""
    unclosed_from, unclosed_to = state.env.get("unclosed", (end, start))
    return bool(unclosed_from <= start < end <= unclosed_to)


def _heading_id(title: str) -> str:
    """Return the id that GitHub gives a heading: https://github.com/gjtorikian/html-pipeline."""
    title = title.strip().lower()
    kept = (char for char in title if char in " -" or category(char)[0] in "LM" or category(char) in KEPT_IN_ID)
    return "".join(kept).replace(" ", "-")


def add_checkboxes(state: StateCore) -> None:
    """Render `[ ]` and `[x]` at the beginning of list items as checkboxes.

    The task list plugin of mdit-py-plugins takes quadratic time.
    """
    lists: list[Token] = []
    for index, token in enumerate(state.tokens):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            lists.append(token)
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
        elif token.type == "list_item_open":
            text = _task_text(state.tokens[index + 1 : index + 3])
            if text:
                _add_checkbox(text)
                token.attrSet("class", "task-list-item")
                lists[-1].attrSet("class", "contains-task-list")


def _task_text(item: list[Token]) -> Token | None:
    """Return the text of a task, given the two tokens that follow the beginning of a list item."""
    is_task = [token.type for token in item] == ["paragraph_open", "inline"] and TASK.match(item[1].content)
    return item[1] if is_task and (item[1].children or [item[1]])[0].type == "text" else None


def _add_checkbox(task: Token) -> None:
    """Replace the brackets at the beginning of a task with a checkbox."""
    checkbox = Token("html_inline", "", 0)
    checkbox.content = CHECKBOX.format("" if task.content.startswith("[ ]") else 'checked="checked" ')
    task.children = [checkbox, *(task.children or [])]
    task.children[1].content = task.children[1].content[len("[ ]") :]
