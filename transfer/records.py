"""Stored articles as records, which an import accepts."""

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import select

from content.derived import fill_derived_fields
from content.structured_data import Publisher, generate_schema_markup
from models import Article, Customer, db
from schemas import ArticleImportSchema
from storage.queries import BATCH_SIZE
from transfer.rows import FLAGS

schema = ArticleImportSchema()


def export_articles(
    customer: Customer, pks: Collection[int] | None = None, *, all_fields: bool
) -> Iterator[dict[str, Any]]:
    """Yield the customer's articles, or those with these primary keys, ordered by id, as input for the import schema.

    Unless `all_fields`, values that an import would derive are omitted, so that they are derived again after an edit.
    The articles are read in the session's transaction, and held in memory a batch at a time.
    """
    publisher = Publisher(customer.name, customer.site)
    query = select(Article.__table__).where(Article.customer_id == customer.id).order_by(Article.id)
    if pks is not None:
        query = query.where(Article.pk.in_(pks))
    result = db.session.execute(query, execution_options={"yield_per": BATCH_SIZE})
    for batch in result.mappings().partitions():
        for article in map(dict, batch):
            if all_fields:
                article["schema_markup"] = article["schema_markup"] or generate_schema_markup(article, publisher)
            else:
                article |= dict.fromkeys(_derivable_columns(article))  # None, which is omitted
            article |= {flag: article[flag] or None for flag in FLAGS}
            yield {name: value for name, value in schema.dump(article).items() if value is not None}


def _derivable_columns(article: dict[str, Any]) -> set[str]:
    """Return the columns of an article for which an import would derive the same values."""
    derived = fill_derived_fields({"title": article["title"], "content_html": article["content_html"]})
    return {name for name in ("read_time", "meta_title", "meta_desc") if derived[name] == article[name]}
