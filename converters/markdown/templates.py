"""Templates that an import understands: highlighted code, pictures, videos, and the site's own URLs."""

import re
from urllib.parse import quote

# Highlighted code and code of Markdown and HTML. Unclosed code extends to the end of the text, except in a span.
CODE = re.compile(
    r"""
      ^(?P<indent>[ \t>]*)\{%-?\s*highlight\s+["']?(?P<language>[\w+\#.-]+)[^%]*%\}[ \t]*\n
      (?P<code>.*?)(?:^[ \t>]*\{%-?\s*endhighlight\s*-?%\}|\Z)
    | ^[ \t>]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,}).*?(?:^[ \t>]*(?P=fence)[`~]*[ \t\r]*$|\Z)
    | (?<![`\\])(?P<span>`+)(?!`).*?(?<!`)(?P=span)(?!`)
    | <(?P<element>pre|code|script|style)(?=[\s>]).*?(?:</(?P=element)|\Z)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
# {{ site.baseurl }} and {{ "/about/" | url }}, one after the other or alone, at the beginning of a URL
SITE = r"\{\{-?\s*site\.(?:url|baseurl)\s*-?\}\}"
FILTERS = r"(?P<filters>(?:\s*\|\s*(?:url|relative_url|absolute_url)\b)+)"
PATH = rf"""\{{\{{-?\s*["'](?P<path>[^"'{{}}\n]*)["']{FILTERS}\s*-?\}}\}}"""
URL = re.compile(rf"(?:(?<=[(<\"'=])|(?<=\]:\s))(?=\{{\{{)(?P<site>(?:{SITE}){{0,2}})(?:{PATH}(?!\{{)|(?!/?\{{)/?)")
SHORTCODE = re.compile(r"\{\{[<%]\s*(?P<name>figure|youtube)\s(?P<arguments>[^{}]*+)(?<=[>%])\}\}")
ARGUMENT = re.compile(r"""(?:(\w+)\s*=\s*)?(?:"([^"]*)"|([^\s"=]+))""")  # src="a.jpg" or, without a name, "a"
URL_CHARACTERS = "/:?&=#%;,@+~!*$"


def resolve_templates(text: str) -> str:
    """Return Markdown or HTML with its understood templates replaced. Those in code are examples, so they stay."""
    if "{{" not in text and "{%" not in text:
        return text
    parts: list[str] = []
    position = 0
    for code in CODE.finditer(text):
        parts += _resolve(text[position : code.start()]), _fence(code) if code["language"] else code[0]
        position = code.end()
    return "".join([*parts, _resolve(text[position:])])


def _fence(highlighted: re.Match[str]) -> str:
    """Return Jekyll's highlighted code as a fenced block."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`{3,}", highlighted["code"]))])
    indent = highlighted["indent"]
    return f"{indent}{fence}{highlighted['language']}\n{highlighted['code']}{indent}{fence}"


def _resolve(text: str) -> str:
    return SHORTCODE.sub(_resolve_shortcode, URL.sub(_resolve_url, text))


def _resolve_url(url: re.Match[str]) -> str:
    """Return a path instead of the templates at the beginning of a URL."""
    path = url["path"]
    if path is None:
        return "/" if url["site"] else url[0]
    starts_at_root = url["site"] or "_url" in url["filters"]
    return quote(f"/{path.lstrip('/')}" if starts_at_root and "//" not in path else path, safe=URL_CHARACTERS)


def _resolve_shortcode(shortcode: re.Match[str]) -> str:
    """Return Markdown for Hugo's `figure`, a picture with its caption, and for `youtube`, a link."""
    text = shortcode["arguments"][:-1].rstrip().removesuffix("/")
    arguments = {name or "id": quoted or plain for name, quoted, plain in ARGUMENT.findall(text)}
    if shortcode["name"] == "youtube":
        return f"<https://www.youtube.com/watch?v={arguments.get('id', '')}>"
    picture = f"![{arguments.get('alt', '')}](<{arguments.get('src', '')}>)"
    if "link" in arguments:
        picture = f"[{picture}](<{arguments['link']}>)"
    texts = [arguments[name] for name in ("title", "caption") if arguments.get(name)]
    return "<br>".join([picture, *texts])
