"""Articles of other systems, made to fit the form that an import takes."""

import re
from datetime import UTC, datetime, tzinfo
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urljoin

from importing.derived import decode_references
from importing.errors import LocatedRecord, SourceLocation, SourceOptions
from importing.hints import FIELD_BY_ALIAS, plain_name
from storage.search import fold

DATES = {"publishedAt", "createdAt", "updatedAt"}
MISSING: tuple[Any, ...] = (None, "", [])
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
ENGLISH_DATE = re.compile(  # as in Jul 08 2022, and in RFC 2822
    r"(?:[A-Z][a-z]+,? )?(?:\d\d? [A-Z][a-z]+|[A-Z][a-z]+ \d\d?,?) \d{4}"
    r"( \d\d:\d\d(?::\d\d)?(?: (?:[+-]\d{4}|GMT|UTC))?)?"
)
DOTTED_DATE = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})")  # day, month and year, as in a spreadsheet
TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
URL_ATTRIBUTE = re.compile(
    r"""(<(?:a|audio|iframe|img|source|video)\s(?:[^<>]*?\s)??(?:href|src)\s?=\s?["'])([^"'<>]*)""", re.IGNORECASE
)
ABSOLUTE_URL = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|\{", re.IGNORECASE)  # or a template's
# Two patterns, since one that could begin with either bracket takes seven times as long.
SHORTCODE = re.compile(r"\[(?:/[a-z]|[a-z][\w-]*\s[^\[\]<>]*=|gallery\])")
TEMPLATE = re.compile(r"\{(?:%|\{(?:<|&lt;|%))")
MAX_SLUG_LENGTH = 190  # characters of a slug from a title, so that a number fits behind it


def fit_article(
    location: SourceLocation, fields: dict[str, Any], options: SourceOptions, date: str = "", folder: str = ""
) -> LocatedRecord:
    """Return the location of an article, with what was lost, and its record in the form that an import takes.

    `fields` has the source's names; None and "" are missing. The location's slug and `date` count if the fields have
    none. `folder` is that of the article, below the site's URL.
    """
    record, lines, notes = _rename(location, fields)
    if date:
        record.setdefault("publishedAt", date)
    _fit_publication(record, notes, options.zone, is_own="publishedAt" in fields)
    _fit_texts(record, location.slug or "")
    _fit_urls(record, notes, urljoin(f"{options.site.rstrip('/')}/", folder) if options.site else "")
    return location._replace(slug=record["slug"], lines=lines, notes=notes, matches_slug=True), record


def _rename(location: SourceLocation, values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, int], list[str]]:
    """Return an article's fields, and their lines, by the import form's names. Return notes about those left out."""
    fields = {name: value for name, value in values.items() if value not in MISSING or name == "contentHtml"}
    names = {plain_name(name): name for name in fields}
    record: dict[str, Any] = _pop_draft(fields, names)
    lines, notes = {}, [*location.notes]
    if "categories" in names:
        categories = _texts(fields[names.pop("categories")])
        record["category"] = _text(categories)
        notes += ["Left out: categories after the first"] if len(categories) > 1 else []
    for alias, field in FIELD_BY_ALIAS.items():
        if alias in names and field not in record and (alias == "slug" or field != "slug"):  # a URL is no slug
            name = names.pop(alias)
            record[field], lines[field] = fields[name], location.lines.get(name, 0)
    return record, lines, notes + [f"Left out: {name}" for name in names.values()]


def _pop_draft(fields: dict[str, Any], names: dict[str, str]) -> dict[str, str]:
    """Return the status that one of two switches gives: `draft`, or Jekyll's `published`, which is a date elsewhere."""
    draft, published = (_text(fields.get(names.get(name, ""))).lower() for name in ("draft", "published"))
    names.pop("draft", None)
    if published in (*TRUE, *FALSE):
        names.pop("published")
    return {"status": "draft"} if draft in TRUE or published in FALSE else {}


def _fit_publication(record: dict[str, Any], notes: list[str], zone: tzinfo, *, is_own: bool) -> None:
    """Fit the dates and the status. If the date has the form's own name, the form's rules for the status hold too."""
    for field in record.keys() & DATES:
        record[field] = fit_date(_text(record[field]), zone)
    if "publishedAt" in record and not is_own:
        record.setdefault("status", "published")
    if not {"publishedAt", "status"} & record.keys():
        notes.append("No date: drafts, if they are new")


def fit_date(text: str, zone: tzinfo) -> str:
    """Return a date as a timestamp with its zone, and text that is not a date as it is.

    A day without a time begins at its midnight in the zone or in UTC, whichever is later, so that it is the same day in
    both: sites show that of `publishedAt`, which is in UTC.
    """
    english = ENGLISH_DATE.fullmatch(text)
    try:
        if english:
            moment = parsedate_to_datetime(text if english[1] else f"{text} 00:00")
        else:
            iso = DOTTED_DATE.sub(lambda date: f"{date[3]}-{date[2]:0>2}-{date[1]:0>2}", text).replace(" UTC", "Z")
            moment = datetime.fromisoformat(re.sub(r" (?=[+-]\d|Z)", "", iso))
    except ValueError:
        return text
    if moment.tzinfo:
        return moment.isoformat()
    local = moment.replace(tzinfo=zone)
    return (local if ":" in text else max(local, moment.replace(tzinfo=UTC))).isoformat()


def _fit_texts(record: dict[str, Any], slug: str) -> None:
    if "title" in record:
        record["title"] = " ".join(decode_references(TAG.sub("", _text(record["title"]))).split())
    if "category" in record:
        record["category"] = _text(record["category"])
    if "keywords" in record:
        record["keywords"] = _texts(record["keywords"])
    words = re.findall(r"\w+", fold(record.get("title", "")))
    slug = _text(record.get("slug")) or slug or "-".join(words)[:MAX_SLUG_LENGTH] or _text(record.get("id"))
    record["slug"] = re.sub(r"[\s/?#]+", "-", slug.strip(" /"))


def _fit_urls(record: dict[str, Any], notes: list[str], base: str) -> None:
    """Complete the URLs in the content and that of the banner."""
    html = record.get("contentHtml")
    if isinstance(html, str):
        record["contentHtml"] = URL_ATTRIBUTE.sub(lambda match: match[1] + _fit_url(match[2], base), html)
        if SHORTCODE.search(html) or TEMPLATE.search(html):
            notes.append("Shortcodes or templates, which stay as text")
    banner = _text(record.pop("bannerUrl", ""))
    url = re.sub("^//", "https://", banner and _fit_url(banner, base))
    if url.startswith(("http://", "https://")):
        record["bannerUrl"] = url
    elif url:
        notes.append("Left out: banners without a whole URL. Name your site with --site")


def _fit_url(url: str, base: str) -> str:
    url = url.strip().replace(" ", "%20")
    try:
        return url if not base or ABSOLUTE_URL.match(url) else urljoin(base, url)
    except ValueError:  # no URL at all
        return url


def _text(value: Any) -> str:
    """Return the first text in a value: of a list, or of what an image or a category has besides its name."""
    if isinstance(value, dict):
        value = [value[name] for name in ("src", "url", "image", "path", "name") if name in value]
    if isinstance(value, list):
        return _text(value[0]) if value else ""
    return "" if value is None else str(value)


def _texts(value: Any) -> list[str]:
    """Return the texts of a list, or of a text with commas."""
    return [
        text
        for item in (value if isinstance(value, list) else _text(value).split(","))
        if (text := _text(item).strip())
    ]
