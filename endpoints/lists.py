"""Code shared by both lists, which differ only in the schema for an article."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from flask import g, request
from sqlalchemy import RowMapping

from endpoints.caching import Document, render_document
from models import db
from schemas import SORT_COLUMNS, ListQuerySchema
from storage.queries import access_rule, build_conditions, select_page

query_schema = ListQuerySchema()
LIST_PARAMETERS = tuple(field.data_key or name for name, field in query_schema.fields.items())


def render_list(columns: tuple[str, ...], dump: Callable[[Sequence[RowMapping]], list[Any]]) -> Document:
    """Return a page of the customer's visible articles.

    `dump` turns rows with these `columns` into JSON objects. Both queries run in one transaction, so the total and the
    page come from the same snapshot. Raises ValidationError if a query parameter is invalid.
    """
    query = query_schema.load(request.args.to_dict())
    rule = access_rule()
    conditions = build_conditions(query)
    now = datetime.now(UTC)
    parameters = {"customer_id": g.key_owner.customer_id, "now": now}
    connection = db.session.connection()  # faster than the session, which would look for entities in the rows
    count = rule.count.where(*conditions) if conditions else rule.count
    total, next_publication_at = connection.execute(count, parameters).one()
    page = select_page(rule, columns, SORT_COLUMNS[query["order_by"]], query["order"], conditions)
    rows = connection.execute(page, parameters | {"take": query["take"], "skip": query["skip"]}).mappings().all()
    meta = {"total": total, "take": len(rows), "skip": query["skip"]}
    return render_document({"data": dump(rows), "meta": meta}, now, next_publication_at, _page_links(query, total))


def _page_links(query: dict[str, Any], total: int) -> str:
    """Return a Link header (RFC 8288) with the next and previous page, or "" if there are none.

    Links are relative to the request, so they work behind any proxy. They repeat the request's supported parameters.
    """
    skip = query["skip"]
    take = query["take"]
    offsets = {"next": skip + take} if skip + take < total else {}
    if total and 0 < skip < total + take:  # beyond the end, only the first empty page links back
        offsets["prev"] = max(0, skip - take)
    arguments = request.args.to_dict() | {"take": take}
    parameters = urlencode({name: arguments[name] for name in LIST_PARAMETERS if name in arguments and name != "skip"})
    return ", ".join(f'<?{parameters}&skip={offset}>; rel="{relation}"' for relation, offset in offsets.items())
