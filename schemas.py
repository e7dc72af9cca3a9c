"""marshmallow schemas: the query string, the full form, the preview, the sitemap entry, and the import form."""

from collections.abc import Iterable, Sequence
from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError, fields, pre_load, validate

from field_types import (
    Day,
    Keywords,
    Minutes,
    SchemaMarkup,
    Text,
    Timestamp,
    WholeNumber,
    one_of,
    validate_http_url,
    validate_no_nul,
)

MAX_QUERY_LENGTH = 200  # characters of a search; longer patterns break database engines

# The Article column that each sort field of the API stands for.
SORT_COLUMNS = {
    "createdAt": "created_at",
    "publishedAt": "published_at",
    "title": "folded_title",
    "views": "views",
}


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
        validate=[validate.Length(max=MAX_QUERY_LENGTH, error="Must be {max} characters or fewer."), validate_no_nul],
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
