"""Normalize articles of other systems: from their authors' field names and values to the import form's.

Each value that is used is taken out of what the source has. Whatever remains is reported.
"""

import re
from datetime import UTC, datetime
from typing import Any
from unicodedata import category, combining, normalize
from unicodedata import name as character_name
from urllib.parse import urljoin

from content.urls import change_urls, complete_url
from converters.dates import parse_date
from converters.front_matter import JSON_FIELDS, parse_scalars
from converters.markup import note_markup
from converters.records import DATES, FIELD_BY_ALIAS, Mistake, SourceArticle, SourceOptions, plain_name

TRUE, FALSE = ("true", "yes", "on", "y", "1"), ("false", "no", "off", "n", "0")
SWITCH = "Must be true or false (or yes, no, on, off, y, n, 1, 0)."
TEXT = "Must be text, not a list or fields of its own."
EXPIRY_DATES = "expirydate", "unpublishdate"  # Hugo
# names of what decides whether readers see an article
PUBLICATION = {
    "draft",
    *EXPIRY_DATES,
    *(a for a, field in FIELD_BY_ALIAS.items() if field in ("publishedAt", "status")),
}
IMAGE_KEYS = "src", "url", "feature", "image", "path"
MAX_TITLE_SLUG = 170  # leaves room for a post's number
JOINERS = "\u200c\u200d"  # part of the spelling in Persian, Sinhala and others
DROPPED = "Fields that articles here do not have"


def normalize_article(
    where: str, fields: dict[str, Any], options: SourceOptions, *, date: str = "", slug: str = "", folder: str = ""
) -> SourceArticle:
    """Return an article of another system in the import form.

    `fields` has the source's names; None, "" and empty lists are missing values. `date` and `slug` are used if the
    fields have none. `folder` is the folder of the article below the site's URL.
    """
    article = SourceArticle(where, {})
    unused = _Fields(article, fields)
    _take_status(article, unused, options)
    _take_categories(article, unused)
    for field in dict.fromkeys(FIELD_BY_ALIAS.values()):
        if field not in article.fields:
            unused.take(field)
    unused.drop_rest()
    if date:
        article.fields.setdefault("publishedAt", date)
    _normalize_values(article, options)
    _default_status(article, is_own_name="publishedAt" in fields)
    _set_slug(article, slug)
    _complete_urls(article, urljoin(f"{options.site.rstrip('/')}/", folder) if options.site else "")
    note_markup(article)
    return article


def _default_status(article: SourceArticle, *, is_own_name: bool) -> None:
    """Publish an article with a date, as other systems do unless a switch makes it a draft."""
    if "publishedAt" in article.fields and not is_own_name:
        article.fields.setdefault("status", "published")
    if not {"publishedAt", "status"} & article.fields.keys() and not article.mistakes:
        article.note("Without a date, and therefore drafts if they are new")


class _Fields:
    """The fields of a source that have not been used yet."""

    def __init__(self, article: SourceArticle, fields: dict[str, Any]) -> None:
        self.article = article
        self.values: dict[str, tuple[str, Any]] = {}  # by plain name: the author's name, and the value
        for name, value in fields.items():
            if value in (None, "", [], {}) and name != "contentHtml":
                continue
            if plain_name(name) in self.values:
                self._repeat(*self.values[plain_name(name)], name, value)
            else:
                self.values[plain_name(name)] = name, value

    def _repeat(self, first: str, first_value: Any, name: str, value: Any) -> None:
        """Drop the second spelling of a name, or reject it if it could change who sees the article."""
        if plain_name(name) not in PUBLICATION:
            self.article.drop(DROPPED, name)
        elif value != first_value:
            reason = f"The same field is also there as {first}. Remove one of them."
            self.article.mistakes.append(Mistake(self.article.where, reason, name, value))

    def pop(self, alias: str) -> tuple[str, Any]:
        """Take a value out; return the author's name of it, and the value, or None."""
        return self.values.pop(alias, (alias, None))

    def take(self, field: str) -> None:
        """Give the article one of the import form's fields, if the source has it by any name."""
        for alias, name in FIELD_BY_ALIAS.items():
            # The other aliases of a slug are for hints alone: they hold URLs.
            if name == field and alias in self.values and (field != "slug" or alias == "slug"):
                self.article.names[field], self.article.fields[field] = self.pop(alias)
                return

    def drop_rest(self) -> None:
        for name, _ in self.values.values():
            self.article.drop(DROPPED, name[:80])


def _take_status(article: SourceArticle, unused: _Fields, options: SourceOptions) -> None:
    """Make an article a draft if a switch, or Hugo's date of expiry, keeps it from readers."""
    name, draft = unused.pop("draft")
    is_draft = _read_switch(article, name, draft)
    name, published = unused.values.get("published", ("", None))
    # In Jekyll it is a switch, elsewhere a date.
    if _spells_switch(published):
        is_draft = _read_switch(article, *unused.pop("published")) is False or is_draft
    elif published is not None and unused.values.keys() & {"date", "pubdate", "publishdate", "publishedat"}:
        _read_switch(article, *unused.pop("published"))
    for alias in EXPIRY_DATES:
        name, expiry = unused.values.get(alias, ("", None))
        if expiry is not None and _has_passed(article, name, expiry, options):
            unused.pop(alias)
            is_draft = True
            article.note("Saved as drafts because they have expired", name)
    if is_draft:
        article.fields["status"] = "draft"


def _spells_switch(value: Any) -> bool:
    return value is not None and str(value).strip().lower() in (*TRUE, *FALSE)


def _read_switch(article: SourceArticle, name: str, value: Any) -> bool | None:
    """Return whether a switch is on, or None without a value or with one that is a mistake."""
    if value is None:
        return None
    if not _spells_switch(value):
        article.names["status"] = name
        article.reject("status", SWITCH, value)
        return None
    return str(value).strip().lower() in TRUE


def _has_passed(article: SourceArticle, name: str, value: Any, options: SourceOptions) -> bool:
    try:
        return parse_date(str(value), options.zone) <= datetime.now(UTC)
    except ValueError as error:
        article.names["expiryDate"] = name
        article.reject("expiryDate", str(error), value)
        return False


def _take_categories(article: SourceArticle, unused: _Fields) -> None:
    """Use the first of several categories as the category."""
    alias = "category" if "category" in unused.values else "categories"
    if alias not in unused.values or (alias == "category" and not isinstance(unused.values[alias][1], list)):
        return
    article.names["category"], value = unused.pop(alias)
    categories = _read_texts(article, "category", value)
    if categories:
        article.fields["category"] = categories[0]
        for name in categories[1:]:
            article.drop("Categories after the first", name)


def _normalize_values(article: SourceArticle, options: SourceOptions) -> None:
    """Parse the values of an article's fields. A value that is not understood is a mistake."""
    for field, value in list(article.fields.items()):
        if field in DATES:
            _normalize_date(article, field, value, options)
        elif field == "keywords":
            article.fields[field] = _read_texts(article, field, value) or []
        elif field == "bannerUrl":
            article.fields[field] = _read_image(article, article.names.get(field, field), value)
        elif field in JSON_FIELDS:
            article.fields.update(parse_scalars({field: value}))
        elif isinstance(value, list | dict):
            article.reject(field, TEXT, value)
        else:
            article.fields[field] = str(value)
    if "title" in article.fields:
        article.fields["title"] = re.sub(r"\s*\n\s*", " ", article.fields["title"].strip())


def _normalize_date(article: SourceArticle, field: str, value: Any, options: SourceOptions) -> None:
    try:
        article.fields[field] = parse_date(str(value), options.zone).isoformat()
    except ValueError as error:
        article.reject(field, str(error), value)


def _read_texts(article: SourceArticle, field: str, value: Any) -> list[str]:
    """Return the texts of a list, or of a text with commas."""
    items = value if isinstance(value, list) else [value] if isinstance(value, dict) else str(value).split(",")
    if any(isinstance(item, list | dict) for item in items):
        article.reject(field, "Must be a list of texts, or a text with commas.", value)
        return []
    return [text for item in items if item is not None and (text := str(item).strip())]


def _read_image(article: SourceArticle, name: str, value: Any) -> str:
    """Return the URL of an image: a text, the first one of a list, or below a key such as `src`."""
    if isinstance(value, list):
        if len(value) > 1:
            article.drop(DROPPED, f"{name} after the first")
        return _read_image(article, name, value[0]) if value else ""
    if not isinstance(value, dict):
        return "" if value is None else str(value).strip()
    key = next((key for key in IMAGE_KEYS if value.get(key)), None)
    for other, rest in value.items():
        if other != key and rest not in (None, "", [], {}):
            article.drop(DROPPED, f"{name}.{other}")
    return _read_image(article, f"{name}.{key}", value[key]) if key else ""


def _set_slug(article: SourceArticle, name: str) -> None:
    """Set the given slug, else the one of the file's name, else one from the title."""
    title = article.fields.get("title", "")
    slug = normalize_slug(article.fields.get("slug", "")) or normalize_slug(name) or slug_from_title(title)
    if slug:
        article.fields["slug"] = slug
    elif title and not any(mistake.field == article.names.get("slug", "slug") for mistake in article.mistakes):
        article.reject("slug", f"The title {title[:80]!r} has no letter or digit to make a slug from. Add a slug.")


def normalize_slug(text: str) -> str:
    """Return text as a slug."""
    return normalize("NFC", re.sub(r"[\s/?#]+", "-", text.strip(" /")))


def slug_from_title(title: str, number: str = "") -> str:
    """Return a slug of the title's words and, behind them, the number.

    Latin letters lose their accents. Other letters, and the marks that belong to them, stay as they are.
    """
    words: list[str] = [""]
    for character in _without_latin_accents(title.lower()):
        if category(character)[0] in "LN" or character == "_" or (words[-1] and _extends_word(character)):
            words[-1] += character
        elif words[-1]:
            words.append("")
    slug = _shorten("-".join(word.strip(JOINERS) for word in words if word))
    return normalize("NFC", f"{slug}-{number}".strip("-"))


def _extends_word(character: str) -> bool:
    # Variation selectors and enclosing marks belong to emoji.
    is_emoji = "\ufe00" <= character <= "\ufe0f" or category(character) == "Me"
    return character in JOINERS or (category(character)[0] == "M" and not is_emoji)


def _without_latin_accents(text: str) -> str:
    """Return decomposed text in which Latin letters have no marks."""
    kept, base = [], ""
    for character in normalize("NFD", text):
        if not combining(character):
            base = character
        elif character_name(base, "").startswith("LATIN"):
            continue
        kept.append(character)
    return normalize("NFC", "".join(kept))


def _shorten(slug: str) -> str:
    """Return the beginning of a long slug, which ends after a word if possible and never inside a character."""
    if len(slug) <= MAX_TITLE_SLUG:
        return slug
    end = slug.rfind("-", 0, MAX_TITLE_SLUG + 1)
    if end < 1:
        end = MAX_TITLE_SLUG
        while end > 1 and category(slug[end])[0] == "M":
            end -= 1
    return slug[:end]


def _complete_urls(article: SourceArticle, base: str) -> None:
    """Complete the URLs in the content and that of the banner."""
    unbuilt: list[str] = []

    def complete(attribute: str, url: str) -> str:
        if attribute != "href" and url.startswith("../"):
            unbuilt.append(url)
            return url
        return url if attribute == "href" and is_source_file(url) else complete_url(url, base)

    banner, html = article.fields.pop("bannerUrl", ""), article.fields.get("contentHtml")
    url = re.sub("^//", "https://", complete("src", banner)) if banner else ""
    if url.startswith(("http://", "https://")):
        article.fields["bannerUrl"] = url
    elif url:
        article.drop("Banners without an absolute URL (write it, or set --site or SITE_URL)", banner[:80])
    if isinstance(html, str):
        article.fields["contentHtml"] = change_urls(html, complete)
    if unbuilt:
        article.note("Pictures whose path begins with ../ and which only your site's build can find")


def is_source_file(url: str) -> bool:
    """Return whether a URL is the relative path of a file that a site is built from, and not of one of its pages."""
    return bool(re.match(r"(?![a-z][a-z0-9+.-]*:|//)[^?#]*\.(?:mdx?|markdown)(?:[?#]|\Z)", url, re.IGNORECASE))
