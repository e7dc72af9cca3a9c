"""What comes in and goes out: marshmallow schemas for the query string, the API's forms, and the import's."""

import re
from collections import namedtuple
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import orjson
from marshmallow import EXCLUDE, Schema, ValidationError, fields, pre_load, validate
from orjson import Fragment

MAX_QUERY = 200  # characters of a search; longer patterns break database engines
MAX_MINUTES = 1_000_000  # of reading
# Where a browser would leave a script element, or not leave it at its end:
# https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements
WAY_OUT_OF_A_SCRIPT = re.compile("<(?=/script|!--)", re.IGNORECASE | re.ASCII)

# What the API sorts by, and the Article column that has it.
SORT_COLUMNS = {
    "createdAt": "created_at",
    "publishedAt": "published_at",
    "title": "folded_title",
    "views": "views",
}


def timestamp(moment: datetime) -> str:
    """Write an aware datetime in UTC as JavaScript's `toISOString` does: 2026-01-31T09:30:00.000Z."""
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


def read_timestamp(text: Any) -> datetime:
    """Read an ISO 8601 timestamp with its zone; give it in UTC, to the millisecond. Raises ValidationError."""
    try:
        moment = datetime.fromisoformat(text.upper())  # RFC 3339 lets "t" and "z" be small
        if moment.tzinfo:
            moment = moment.astimezone(UTC)
            return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    except (AttributeError, ValueError, OverflowError):  # no string; no timestamp; before year 1 or after 9999 in UTC
        pass
    raise ValidationError("Must be a timestamp with its zone, as in 2026-01-31T09:30:00Z.")


def json_text(value: Any) -> str:
    """Write `value` as JSON. Raises ValidationError where it is nested too deeply.

    The JSON library writes 254 levels. What is refused here leaves four for what a value may stand in.
    """
    try:
        return orjson.dumps([[[[value]]]])[4:-4].decode()
    except TypeError as error:
        raise ValidationError("Must not be nested more than 250 levels deep.") from error


class WholeNumber(fields.Field[int]):
    """A whole number written in ASCII digits, with or without a sign, in a range."""

    def __init__(self, minimum: int, maximum: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.minimum, self.maximum = minimum, maximum

    def _deserialize(self, value: str, attr: str | None, data: Any, **kwargs: Any) -> int:
        match = re.fullmatch(r"([+-]?)([0-9]+)", value)
        if match:
            # Python refuses to read more than 4,300 digits. So many are past any end, however they go on.
            number = int(f"{match[1]}{match[2].lstrip('0')[:4300] or 0}")
            if self.minimum <= number and (self.maximum is None or number <= self.maximum):
                return number
        limit = "or more" if self.maximum is None else f"to {self.maximum}"
        raise ValidationError(f"Must be a whole number, {self.minimum} {limit}.")


def _no_nul(value: str) -> None:
    if "\0" in value:
        raise ValidationError("Must not hold a NUL character.")


def one_of(choices: Iterable[str]) -> validate.OneOf:
    """Allow exactly `choices`, and name them where something else is given."""
    return validate.OneOf(tuple(choices), error="Must be one of: {choices}.")


class ListQuerySchema(Schema):
    """The query string of both lists. Unknown parameters are ignored; of a repeated one, the first counts."""

    class Meta:
        unknown = EXCLUDE

    q = fields.String(
        load_default="",
        metadata={
            "description": "Words that must each occur in the title or the slug, in any case, accents or not.",
            "pattern": "^[^\\u0000]*$",
        },
        validate=[validate.Length(max=MAX_QUERY, error="Must be {max} characters or fewer."), _no_nul],
    )
    take = WholeNumber(1, 100, load_default=50, metadata={"description": "How many articles to give."})
    skip = WholeNumber(0, load_default=0, metadata={"description": "How many articles to leave out from the start."})
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
    """A form that database rows are rendered in; its fields are named as their columns.

    A page has hundreds of values, and each costs: this schema lets marshmallow read them from named tuples, and the
    fields below answer `serialize` at once, without marshmallow's general way to an attribute.
    """

    def __init__(self) -> None:
        super().__init__()
        self.columns = tuple(self.fields)
        self._record: Any = namedtuple("_record", self.columns)  # type: ignore[misc]  # its fields are not literals

    def render(self, rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
        """Render rows of `columns`, in that order."""
        rendered: list[dict[str, Any]] = self.dump(map(self._record._make, rows), many=True)
        return rendered


class Column(fields.Field[Any]):
    """A column. It goes out as it is, and its values come in as the type that the column has."""

    def serialize(self, attr: str, obj: Any, accessor: Any = None, **kwargs: Any) -> Any:
        return getattr(obj, attr)


class Text(Column):
    """Text, without the NUL character: PostgreSQL has none, and SQLite's functions end at it."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise ValidationError("Must be a string.")
        _no_nul(value)
        return value


class JsonText(Column):
    """A column that holds JSON text, which goes out as it stands."""

    def serialize(self, attr: str, obj: Any, accessor: Any = None, **kwargs: Any) -> Fragment:
        return Fragment(getattr(obj, attr))


class Keywords(JsonText):
    """An array of strings."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, list) or not all(isinstance(keyword, str) for keyword in value):
            raise ValidationError("Must be an array of strings.")
        for keyword in value:
            _no_nul(keyword)
        return json_text(value)


class SchemaMarkup(JsonText):
    """A schema.org graph in JSON-LD, which a site injects into its pages."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not (
            isinstance(value, dict) and isinstance(value.get("@context"), str) and isinstance(value.get("@graph"), list)
        ):
            raise ValidationError("Must be an object with @context, a string, and @graph, an array.")
        text = json_text(value)
        if WAY_OUT_OF_A_SCRIPT.search(text):
            raise ValidationError("Must not hold </script or <!--, which would break out of the page's script element.")
        return text


class Timestamp(Column):
    """An aware datetime in UTC, to the millisecond; written in the form of JavaScript's `toISOString`."""

    def serialize(self, attr: str, obj: Any, accessor: Any = None, **kwargs: Any) -> str:
        return timestamp(getattr(obj, attr))

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        return read_timestamp(value)


class Day(Column):
    """The UTC date of an aware datetime in UTC, YYYY-MM-DD."""

    def serialize(self, attr: str, obj: Any, accessor: Any = None, **kwargs: Any) -> str:
        moment: datetime = getattr(obj, attr)
        return moment.date().isoformat()


class Minutes(Column):
    """A float; a whole number goes out without a fraction."""

    def serialize(self, attr: str, obj: Any, accessor: Any = None, **kwargs: Any) -> int | float:
        number: float = getattr(obj, attr)
        return int(number) if number.is_integer() else number

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if type(value) not in (int, float) or not 0 <= value < MAX_MINUTES:
            raise ValidationError(f"Must be a number of minutes, at least 0 and under {MAX_MINUTES}.")
        return float(value)


def _web_address(value: str) -> None:
    """Refuse what is neither empty nor an absolute http(s) address."""
    try:
        address = urlsplit(value)
        fine = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:  # no address at all, or no port
        fine = False
    if value and (not fine or re.search(r"[\s\x00-\x1f\x7f]", value)):
        raise ValidationError("Must be an http or https address, or empty.")


class ArticleSchema(RowSchema):
    """The full form."""

    id = Text(
        metadata={"description": "Unique among the customer's articles."},
        validate=validate.Regexp(r"\S{1,64}\Z", error="Must have 1 to 64 characters and no white space."),
    )
    title = Text(required=True, metadata={"description": "The article's title."})
    slug = Text(
        required=True,
        metadata={"description": "For the article's address on the site; unique among the customer's articles."},
        validate=validate.Regexp(
            r"[^\s/?#]{1,200}\Z", error="Must have 1 to 200 characters, and no white space, /, ? or #."
        ),
    )
    banner_url = Text(
        data_key="bannerUrl",
        load_default="",
        validate=_web_address,
        metadata={"description": "Address of a picture, or empty."},
    )
    keywords = Keywords(load_default="[]", metadata={"description": "May be empty."})
    meta_title = Text(data_key="metaTitle", metadata={"description": "For the page's title element."})
    meta_desc = Text(data_key="metaDesc", metadata={"description": "For the page's meta description."})
    published_at = Timestamp(data_key="publishedAt", metadata={"description": "Since when it is published, in UTC."})
    category = Text(load_default="", metadata={"description": "Name of the category, or empty."})
    read_time = Minutes(data_key="readTime", metadata={"description": "Minutes of reading."})
    content_html = Text(data_key="contentHtml", required=True, metadata={"description": "The body, in HTML."})
    schema_markup = SchemaMarkup(
        data_key="schemaMarkup", metadata={"description": "Structured data of schema.org, for the page, in JSON-LD."}
    )


class ArticlePreviewSchema(ArticleSchema):
    """The preview: seven fields of the full form, in an order of its own."""

    class Meta:
        fields = ("title", "slug", "banner_url", "published_at", "read_time", "category", "keywords")


class ArticleImportSchema(ArticleSchema):
    """What an import takes: the full form, and what no endpoint gives away.

    Loads an article as a dictionary by `Article` column, without those that the article leaves out and that have no
    default. A field that is null is one that is left out.
    """

    status = Text(validate=one_of(("published", "draft")))
    created_at = Timestamp(data_key="createdAt")
    updated_at = Timestamp(data_key="updatedAt")
    views = fields.Integer(
        strict=True, validate=validate.Range(0, 2**53, error="Must be a whole number, {min} to {max}.")
    )

    @pre_load
    def leave_out_nulls(self, data: Any, **_kwargs: Any) -> Any:
        if not isinstance(data, dict):
            raise ValidationError("Must be an object.")
        return {name: value for name, value in data.items() if value is not None}


class SitemapEntrySchema(RowSchema):
    """A slug and the day of its last change."""

    slug = Text(data_key="url", metadata={"description": "An article's slug."})
    changed_at = Day(data_key="lastmod", metadata={"description": "The UTC day of its last change."})
