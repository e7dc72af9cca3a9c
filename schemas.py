"""What comes in over HTTP and how it goes out: marshmallow schemas for the query string and the API's forms."""

import re
from collections import namedtuple
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError, fields, validate
from orjson import Fragment

MAX_QUERY = 200  # characters of a search; longer patterns break database engines

# What the API sorts by, and the Article column that has it.
SORT_COLUMNS = {
    "createdAt": "created_at",
    "publishedAt": "published_at",
    "title": "folded_title",
    "views": "views",
}


def timestamp(moment: datetime) -> str:
    """Write an aware datetime in UTC as JavaScript's `toISOString` does: 2026-01-31T09:30:00.000Z."""
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


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


def _one_of(choices: Any) -> validate.OneOf:
    return validate.OneOf(tuple(choices), error="Must be one of: {choices}.")


class ListQuerySchema(Schema):
    """The query string of both lists. Unknown parameters are ignored; of a repeated one, the first counts."""

    class Meta:
        unknown = EXCLUDE

    q = fields.String(
        load_default="",
        validate=[validate.Length(max=MAX_QUERY, error="Must be {max} characters or fewer."), _no_nul],
    )
    take = WholeNumber(1, 100, load_default=50)
    skip = WholeNumber(0, load_default=0)
    order_by = fields.String(data_key="orderBy", load_default="publishedAt", validate=_one_of(SORT_COLUMNS))
    order = fields.String(load_default="desc", validate=_one_of(("asc", "desc")))


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


class Rendered(fields.Field[Any]):
    """A column, as it is."""

    def serialize(self, attr: str, obj: Any, accessor: Any = None, **kwargs: Any) -> Any:
        return getattr(obj, attr)


class RenderedJson(Rendered):
    """A column that holds JSON text, which goes out as it stands."""

    def serialize(self, attr: str, obj: Any, accessor: Any = None, **kwargs: Any) -> Fragment:
        return Fragment(getattr(obj, attr))


class RenderedTimestamp(Rendered):
    """An aware datetime in UTC, in the form of JavaScript's `toISOString`."""

    def serialize(self, attr: str, obj: Any, accessor: Any = None, **kwargs: Any) -> str:
        return timestamp(getattr(obj, attr))


class RenderedDate(Rendered):
    """The UTC date of an aware datetime in UTC, YYYY-MM-DD."""

    def serialize(self, attr: str, obj: Any, accessor: Any = None, **kwargs: Any) -> str:
        moment: datetime = getattr(obj, attr)
        return moment.date().isoformat()


class RenderedNumber(Rendered):
    """A float; a whole number goes out without a fraction."""

    def serialize(self, attr: str, obj: Any, accessor: Any = None, **kwargs: Any) -> int | float:
        number: float = getattr(obj, attr)
        return int(number) if number.is_integer() else number


class ArticleSchema(RowSchema):
    """The full form."""

    id = Rendered()
    title = Rendered()
    slug = Rendered()
    banner_url = Rendered(data_key="bannerUrl")
    keywords = RenderedJson()
    meta_title = Rendered(data_key="metaTitle")
    meta_desc = Rendered(data_key="metaDesc")
    published_at = RenderedTimestamp(data_key="publishedAt")
    category = Rendered()
    read_time = RenderedNumber(data_key="readTime")
    content_html = Rendered(data_key="contentHtml")
    schema_markup = RenderedJson(data_key="schemaMarkup")


class ArticlePreviewSchema(ArticleSchema):
    """The preview: seven fields of the full form, in an order of its own."""

    class Meta:
        fields = ("title", "slug", "banner_url", "published_at", "read_time", "category", "keywords")


class SitemapEntrySchema(RowSchema):
    """A slug and the day of its last change."""

    slug = Rendered(data_key="url")
    changed_at = RenderedDate(data_key="lastmod")
