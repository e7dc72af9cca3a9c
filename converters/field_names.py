"""The names that other systems use for the fields of an article."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from schemas import ArticleImportSchema

# As `plain_name` spells them, separated by spaces, by precedence. If a file has several for one field, the first one is
# used. Only of the categories, all are used: the first as the category, the others as keywords.
ALIASES = {
    "title": "name headline posttitle articletitle",
    "slug": "handle",
    "bannerUrl": (
        "image imageurl heroimage heroimageurl hero featureimage featureimageurl featuredimage featuredimageurl "
        "coverimage cover bannerimage banner mainimage images imagesrc"
    ),
    "keywords": "tags tag posttags labels",
    "metaTitle": "seotitle",
    "metaDesc": "metadescription seodescription description excerpt postexcerpt summary postsummary",
    "publishedAt": (
        "pubdate publishdate publishat publishon publishedon publicationdate datepublished postdate date published"
    ),
    "category": "categories section primarytag postcategory",
    "authors": "author",
    "contentHtml": "html body bodyhtml bodytext bodytxt content text postbody postcontent articlebody",
    "status": "state poststatus",
    "createdAt": "created createdon createddate datecreated",
    "updatedAt": (
        "modified modifieddate datemodified lastmod lastmodified lastmodifiedat "
        "updated updateddate updatedon dateupdated lastupdated lastupdatedat lastmodifieddate"
    ),
}
IMPORT_FIELDS = {field.data_key or name: field for name, field in ArticleImportSchema().fields.items()}
# where an article comes from, and what was changed here; see `models.Article`
ORIGIN_FIELDS = {"source", "sourceKey", "textEdited", "publicationEdited"}
# fields that only this service's own formats have
OWN_FIELDS = {"id", *ORIGIN_FIELDS}
FIELD_BY_ALIAS = {alias: field for field in IMPORT_FIELDS for alias in (field.lower(), *ALIASES.get(field, "").split())}


@lru_cache(1024)  # the rows of a table repeat them
def plain_name(name: str) -> str:
    """Return a name in lower case and without punctuation, as the aliases are spelled."""
    return re.sub(r"[\W_]", "", name.lower())  # "Featured image_URL" → "featuredimageurl"


def word_of(value: Any) -> str:
    """Return a value as a word in lower case."""
    return str(value).strip().lower()


class NamedField(NamedTuple):
    """A field as its author wrote it."""

    name: str
    value: Any


NamedFields = dict[str, NamedField]  # by alias


def find_value(fields: Mapping[str, Any], name: str) -> Any:
    """Return the first non-empty value of a field with this plain name, however it is spelled, or None."""
    return next((value for key, value in fields.items() if value and plain_name(key) == name), None)
