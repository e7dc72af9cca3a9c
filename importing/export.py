"""Export: stored articles as records that an import accepts."""

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import select

from importing.derived import fill_derived_fields
from models import Customer, article_table, db
from schemas import ArticleImportSchema
from storage.selects import BATCH_SIZE
from storage.structured_data import fill_schema_markup, normalize_row

schema = ArticleImportSchema()


def export_articles(customer: Customer, slugs: Collection[str] = (), *, all_fields: bool) -> Iterator[dict[str, Any]]:
    """Yield the customer's articles, or those with these slugs, ordered by id, in the form that import takes.

    Values that an import would derive are left out, so that they follow an edit, unless `all_fields`. The articles are
    read in the session's transaction, and held in memory a batch at a time.
    """
    columns = article_table.c
    query = select(article_table).where(columns.customer_id == customer.id).order_by(columns.id)
    if slugs:
        query = query.where(columns.slug.in_(slugs))
    result = db.session.execute(query, execution_options={"yield_per": BATCH_SIZE})
    for batch in result.mappings().partitions():
        articles = [normalize_row(dict(row), customer.name) for row in batch]
        records = schema.render([article[name] for name in schema.columns] for article in articles)
        if all_fields:
            fill_schema_markup(records, [article["updated_at"] for article in articles], customer.name)
        for article, record in zip(articles, records, strict=True):
            left_out = set() if all_fields else _derivable(article)
            names = zip(schema.columns, record, strict=True)
            yield {key: record[key] for name, key in names if name not in left_out and record[key] is not None}


def _derivable(article: dict[str, Any]) -> set[str]:
    """Return the columns of an article that an import would derive to the same values."""
    derived = fill_derived_fields({"title": article["title"], "content_html": article["content_html"]})
    return {name for name in ("read_time", "meta_title", "meta_desc") if derived[name] == article[name]}
