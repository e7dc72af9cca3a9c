"""marshmallow schemas for query parameters, articles, previews, sitemap entries and imports."""

from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError, fields, pre_load, validate, validates_schema

from schema_fields import (
    Day,
    Flag,
    Minutes,
    SchemaMarkup,
    StringList,
    Timestamp,
    WholeNumber,
    one_of,
    validate_http_url,
    validate_no_nul,
    validate_xml_text,
)

API_PATH = "/api/public/v1"  # prefix of the endpoints that require a key
MAX_SLUG_LENGTH = 200
MAX_SAFE_INTEGER = 2**53 - 1  # the largest that every JSON parser reads exactly (RFC 8259, 6)

# value of orderBy -> Article column
SORT_COLUMNS = {
    "createdAt": "created_at",
    "publishedAt": "published_at",
    "title": "folded_title",
    "views": "views",
}

QUERY_TEXT_VALIDATORS: list[Callable[[str], Any]] = [
    validate.Length(max=200, error="Must be {max} characters or fewer."),
    validate_no_nul,
]


class ListQuerySchema(Schema):
    """The query parameters of both lists. Unknown parameters are ignored."""

    class Meta:
        unknown = EXCLUDE

    q = fields.String(load_default="", validate=QUERY_TEXT_VALIDATORS)
    take = WholeNumber(1, 100, load_default=50)
    skip = WholeNumber(0, MAX_SAFE_INTEGER, load_default=0)
    order_by = fields.String(data_key="orderBy", load_default="publishedAt", validate=one_of(SORT_COLUMNS))
    order = fields.String(load_default="desc", validate=one_of(("asc", "desc")))
    # not in the specification
    slug = fields.String(validate=QUERY_TEXT_VALIDATORS)
    category = fields.String(validate=QUERY_TEXT_VALIDATORS)
    keyword = fields.String(validate=QUERY_TEXT_VALIDATORS)


class RowSchema(Schema):
    """A schema that dumps mappings, such as database rows. Their keys are the names of its fields."""

    def get_attribute(self, obj: Mapping[str, Any], attr: str, default: Any) -> Any:
        return obj[attr]  # twice as fast as marshmallow's, which also tries attributes and dotted names


class ArticleSchema(RowSchema):
    """The full article.

    Each field is declared here and as a column of `models.Article`; everything else about it is derived.
    """

    id = fields.String(
        validate=[
            validate.Regexp(r"\S{1,64}\Z", error="Must be 1 to 64 characters without whitespace."),
            validate_no_nul,
        ],
    )
    title = fields.String(required=True, validate=validate_xml_text)
    slug = fields.String(
        required=True,
        validate=[
            validate.Regexp(r"[^\s/?#]{1,200}\Z", error="Must be 1 to 200 characters without whitespace, /, ? or #."),
            validate_xml_text,
        ],
    )
    banner_url = fields.String(data_key="bannerUrl", load_default="", validate=validate_http_url)
    keywords = StringList(load_default="[]")
    meta_title = fields.String(data_key="metaTitle", validate=validate_xml_text)
    meta_desc = fields.String(data_key="metaDesc", validate=validate_xml_text)
    published_at = Timestamp(data_key="publishedAt")
    category = fields.String(load_default="", validate=validate_xml_text)
    read_time = Minutes(data_key="readTime")
    content_html = fields.String(data_key="contentHtml", required=True, validate=validate_no_nul)
    schema_markup = SchemaMarkup(data_key="schemaMarkup")


class ArticlePreviewSchema(ArticleSchema):
    """An article without its content: seven fields, in the specification's order."""

    class Meta:
        fields = ("title", "slug", "banner_url", "published_at", "read_time", "category", "keywords")


# where an article came from, and what was decided about it; ignored
FIELDS_OF_3_0_0 = {"origin", "claim", "claimedAt", "edited"}


class ArticleImportSchema(ArticleSchema):
    """An article to import: the full article, plus fields that no endpoint returns.

    `load` returns a dictionary keyed by `Article` column. It has missing and null fields only if they have a default.
    """

    status = fields.String(validate=one_of(("published", "draft", "pending")))
    created_at = Timestamp(data_key="createdAt")
    updated_at = Timestamp(data_key="updatedAt")
    views = WholeNumber(0, MAX_SAFE_INTEGER, strict=True)
    authors = StringList(load_default="[]")
    source = fields.String(validate=[validate.Regexp(r"\S+\Z", error="Must not contain spaces."), validate_xml_text])
    source_key = fields.String(data_key="sourceKey", validate=[validate.Length(min=1), validate_xml_text])
    text_edited = Flag(data_key="textEdited")
    publication_edited = Flag(data_key="publicationEdited")

    @pre_load
    def drop_nulls(self, data: Any, **_kwargs: Any) -> Any:
        """Drop fields that are null, or that only 3.0.0 wrote. Raises ValidationError if the data is not an object."""
        if not isinstance(data, dict):
            raise ValidationError("Must be an object.")
        return {name: value for name, value in data.items() if value is not None and name not in FIELDS_OF_3_0_0}

    @validates_schema
    def require_both(self, data: Any, **_kwargs: Any) -> None:
        """Raise ValidationError if only one of `source` and `sourceKey` is given."""
        if ("source" in data) != ("source_key" in data):
            raise ValidationError("Must be given together with sourceKey.", "source")


# columns from which an article in a response is made; `authors` and `updated_at` are part of its structured data
RESPONSE_COLUMNS = (*ArticleSchema().fields, "authors", "updated_at")


class SitemapEntrySchema(RowSchema):
    """A published slug and the date of its last change."""

    slug = fields.String(data_key="url")
    changed_at = Day(data_key="lastmod")
