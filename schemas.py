"""marshmallow schemas: the query string, the full form, the preview, the sitemap entry, and the import form."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import orjson
from marshmallow import EXCLUDE, Schema, ValidationError, fields, pre_load, validate
from orjson import Fragment

MAX_QUERY_LENGTH = 200  # characters of a search; longer patterns break database engines
MAX_READ_TIME_MINUTES = 1_000_000
# What makes a browser leave a script element early, or not at its end:
# https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements
SCRIPT_BREAKOUT = re.compile("<(?=/script|!--)", re.IGNORECASE | re.ASCII)

# The Article column that each sort field of the API stands for.
SORT_COLUMNS = {
    "createdAt": "created_at",
    "publishedAt": "published_at",
    "title": "folded_title",
    "views": "views",
}


def format_timestamp(moment: datetime) -> str:
    """Return an aware datetime in UTC as JavaScript's `toISOString` writes it: 2026-01-31T09:30:00.000Z."""
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


def parse_timestamp(text: Any) -> datetime:
    """Return an ISO 8601 timestamp with a zone as a datetime in UTC, to the millisecond. Raises ValidationError."""
    try:
        moment = datetime.fromisoformat(text.upper())  # RFC 3339 allows "t" and "z"
        if moment.tzinfo:
            moment = moment.astimezone(UTC)  # OverflowError in the first and last hours that datetime has
            return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    except (AttributeError, ValueError, OverflowError):
        pass
    raise ValidationError("Must be a timestamp with its zone, as in 2026-01-31T09:30:00Z.")


def dump_json(value: Any) -> str:
    """Return `value` as JSON text. Raises ValidationError if it is nested too deeply.

    The JSON library writes 254 levels. Four are left for the document that will hold the value.
    """
    try:
        return orjson.dumps([[[[value]]]])[4:-4].decode()
    except TypeError as error:
        raise ValidationError("Must not be nested more than 250 levels deep.") from error


class WholeNumber(fields.Integer):
    """A whole number in a range: in ASCII digits, with or without a sign, or if `strict`, a number of JSON."""

    def __init__(self, minimum: int, maximum: int | None = None, **kwargs: Any) -> None:
        error = f"Must be a whole number, {minimum} {'or more' if maximum is None else f'to {maximum}'}."
        in_range = validate.Range(minimum, maximum, error=error)
        super().__init__(validate=in_range, error_messages={"invalid": error}, **kwargs)

    def _validated(self, value: Any) -> int:
        if not self.strict:
            match = re.fullmatch(r"([+-]?)([0-9]+)", value)
            # Python parses up to 4,300 digits. A number of that many is out of any range, whatever follows.
            value = match and f"{match[1]}{match[2].lstrip('0')[:4300] or 0}"
        return super()._validated(value)


def _no_nul(value: str) -> None:
    if "\0" in value:
        raise ValidationError("Must not hold a NUL character.")


def one_of(choices: Iterable[str]) -> validate.OneOf:
    """Return a validator that allows exactly `choices`, and lists them in its error."""
    return validate.OneOf(tuple(choices), error="Must be one of: {choices}.")


class ListQuerySchema(Schema):
    """The query string of both lists. Unknown parameters are ignored."""

    class Meta:
        unknown = EXCLUDE

    q = fields.String(
        load_default="",
        metadata={
            "description": "Words that must each occur in the title or the slug, in any case, accents or not.",
            "pattern": "^[^\\u0000]*$",
        },
        validate=[validate.Length(max=MAX_QUERY_LENGTH, error="Must be {max} characters or fewer."), _no_nul],
    )
    take = WholeNumber(1, 100, load_default=50, metadata={"description": "How many articles to return."})
    skip = WholeNumber(0, load_default=0, metadata={"description": "How many articles to skip from the start."})
    order_by = fields.String(
        data_key="orderBy",
        load_default="publishedAt",
        validate=one_of(SORT_COLUMNS),
        metadata={"description": "What to sort by. Ties go by id, in the same direction."},
    )
    order = fields.String(
        load_default="desc", validate=one_of(("asc", "desc")), metadata={"description": "The direction of the order."}
    )


class RowSchema(Schema):
    """A form in which database rows are rendered. Its fields are named after their columns."""

    def __init__(self) -> None:
        super().__init__()
        self.columns = tuple(self.fields)
        self._members = [(field.data_key or name, field._serialize) for name, field in self.fields.items()]

    def render(self, rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
        """Return rows of `columns`, in that order, as dictionaries that the JSON library can dump.

        A page has hundreds of values: `dump` would look each of them up by its name.
        """
        return [
            {name: serialize(value, name, row) for (name, serialize), value in zip(self._members, row, strict=True)}
            for row in rows
        ]


class Text(fields.String):
    """Text without the NUL character, which PostgreSQL cannot store and which ends strings in SQLite's functions."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise ValidationError("Must be a string.")
        _no_nul(value)
        return value


class JsonText(fields.Field[str]):
    """A column that holds JSON text, rendered without parsing it."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Fragment:
        return Fragment(value)


class Keywords(JsonText):
    """An array of strings."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, list) or not all(isinstance(keyword, str) for keyword in value):
            raise ValidationError("Must be an array of strings.")
        for keyword in value:
            _no_nul(keyword)
        return dump_json(value)


class SchemaMarkup(JsonText):
    """A schema.org graph in JSON-LD, which sites inject into their pages."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not (
            isinstance(value, dict) and isinstance(value.get("@context"), str) and isinstance(value.get("@graph"), list)
        ):
            raise ValidationError("Must be an object with @context, a string, and @graph, an array.")
        text = dump_json(value)
        if SCRIPT_BREAKOUT.search(text):
            raise ValidationError("Must not hold </script or <!--, which would break out of the page's script element.")
        return text


class Timestamp(fields.AwareDateTime):
    """An aware datetime in UTC, to the millisecond."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return format_timestamp(value) if value else None

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        return parse_timestamp(value)


class Day(fields.Date):
    """The UTC date of an aware datetime in UTC, YYYY-MM-DD."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str:
        return str(value.date())


class Minutes(fields.Float):
    """A number of minutes. A whole number is rendered without a fraction."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> int | float:
        return int(value) if value.is_integer() else value

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if type(value) not in (int, float) or not 0 <= value < MAX_READ_TIME_MINUTES:
            raise ValidationError(f"Must be a number of minutes, at least 0 and under {MAX_READ_TIME_MINUTES}.")
        return float(value)


def validate_http_url(value: str) -> None:
    """Raise ValidationError for text that is neither empty nor an absolute http(s) URL."""
    try:
        url = urlsplit(value)
        is_valid = url.scheme in ("http", "https") and url.hostname and url.port != 0
    except ValueError:  # not a URL, or not a port
        is_valid = False
    if value and (not is_valid or re.search(r"[\s\x00-\x1f\x7f]", value)):
        raise ValidationError("Must be an http or https URL, or empty.")


class ArticleSchema(RowSchema):
    """The full form."""

    id = Text(
        metadata={"description": "Unique among the customer's articles."},
        validate=validate.Regexp(r"\S{1,64}\Z", error="Must have 1 to 64 characters and no white space."),
    )
    title = Text(required=True, metadata={"description": "The article's title."})
    slug = Text(
        required=True,
        metadata={"description": "For the article's URL on the site; unique among the customer's articles."},
        validate=validate.Regexp(
            r"[^\s/?#]{1,200}\Z", error="Must have 1 to 200 characters, and no white space, /, ? or #."
        ),
    )
    banner_url = Text(
        data_key="bannerUrl",
        load_default="",
        validate=validate_http_url,
        metadata={"description": "URL of the banner image, or empty."},
    )
    keywords = Keywords(load_default="[]", metadata={"description": "May be empty."})
    meta_title = Text(data_key="metaTitle", metadata={"description": "For the page's title element."})
    meta_desc = Text(data_key="metaDesc", metadata={"description": "For the page's meta description."})
    published_at = Timestamp(data_key="publishedAt", metadata={"description": "Since when it is published, in UTC."})
    category = Text(load_default="", metadata={"description": "Name of the category, or empty."})
    read_time = Minutes(data_key="readTime", metadata={"description": "Minutes of reading.", "minimum": 0})
    content_html = Text(data_key="contentHtml", required=True, metadata={"description": "The body, in HTML."})
    schema_markup = SchemaMarkup(
        data_key="schemaMarkup", metadata={"description": "Structured data of schema.org, for the page, in JSON-LD."}
    )


class ArticlePreviewSchema(ArticleSchema):
    """The preview: seven fields of the full form, in the order of the specification."""

    class Meta:
        fields = ("title", "slug", "banner_url", "published_at", "read_time", "category", "keywords")


class ArticleImportSchema(ArticleSchema):
    """The import form: the full form, and the fields that no endpoint shows.

    Loads an article as a dictionary by `Article` column. Columns that the article leaves out and that have no default
    are missing from it. A null field counts as left out.
    """

    status = Text(validate=one_of(("published", "draft")))
    created_at = Timestamp(data_key="createdAt")
    updated_at = Timestamp(data_key="updatedAt")
    views = WholeNumber(0, 2**53, strict=True)

    @pre_load
    def drop_nulls(self, data: Any, **_kwargs: Any) -> Any:
        if not isinstance(data, dict):
            raise ValidationError("Must be an object.")
        return {name: value for name, value in data.items() if value is not None}


class SitemapEntrySchema(RowSchema):
    """A slug and the day of its last change."""

    slug = Text(data_key="url", metadata={"description": "An article's slug."})
    changed_at = Day(data_key="lastmod", metadata={"description": "The UTC day of its last change."})
