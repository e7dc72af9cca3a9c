"""What the two lists share. They differ in the schema that renders an article."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from flask import g, request
from sqlalchemy import RowMapping

from endpoints.caching import Rendered, render
from models import db
from schemas import SORT_COLUMNS, ListQuerySchema
from storage.queries import count_published, filter_parameters, select_page

query_schema = ListQuerySchema()
PARAMETERS = tuple(field.data_key or name for name, field in query_schema.fields.items())


def render_list(columns: tuple[str, ...], dump: Callable[[Sequence[RowMapping]], list[Any]]) -> Rendered:
    """Return a page of the customer's published articles: rows of these columns, dumped as JSON.

    `dump` differs because the full list also generates structured data. Both queries run in the session's transaction,
    so they see the same snapshot. Raises ValidationError for bad parameters.
    """
    query = query_schema.load(request.args.to_dict())
    filters = filter_parameters(query)
    names, dialect = tuple(filters), db.engine.dialect.name
    parameters = filters | {"customer_id": g.customer.id, "now": datetime.now(UTC)}
    total, next_at = db.session.execute(count_published(names, dialect), parameters).one()
    rows: Sequence[RowMapping] = []
    if query["skip"] < total:
        page = select_page(columns, SORT_COLUMNS[query["order_by"]], query["order"], names, dialect)
        parameters |= {"take": query["take"], "skip": query["skip"]}
        rows = db.session.execute(page, parameters).mappings().all()
    meta = {"total": total, "take": len(rows), "skip": query["skip"]}
    return render({"data": dump(rows), "meta": meta}, next_at, _page_links(query, total))


def _page_links(query: dict[str, Any], total: int) -> str:
    """Return the Link header (RFC 8288) for the next and the previous page, or an empty string.

    The references are relative to the request, so they hold behind any proxy. They repeat the request's known
    parameters.
    """
    skip, take = query["skip"], query["take"]
    offsets = {"next": skip + take} if skip + take < total else {}
    if total and 0 < skip < total + take:  # only the first page past the end has a previous one
        offsets["prev"] = max(0, skip - take)
    arguments = request.args.to_dict() | {"take": take}
    parameters = urlencode({name: arguments[name] for name in PARAMETERS if name in arguments and name != "skip"})
    return ", ".join(f'<?{parameters}&skip={offset}>; rel="{relation}"' for relation, offset in offsets.items())
