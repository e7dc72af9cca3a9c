"""The common part of the two lists, which differ only in the form of an article."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from flask import Response, g, request

from endpoints.responses import json_response
from models import db
from schemas import SORT_COLUMNS, ListQuerySchema
from storage.search import search_parameters
from storage.selects import count_published, select_page

query_schema = ListQuerySchema()
PARAMETERS = tuple(field.data_key or name for name, field in query_schema.fields.items())
REVERSED = {"asc": "desc", "desc": "asc"}


def list_response(columns: tuple[str, ...], render: Callable[[Sequence[Any]], list[Any]]) -> Response:
    """Return a page of the customer's published articles: rows of `columns`, as `render` turns them into JSON.

    Total and page are read in the session's transaction, which sees one state of the database. Raises ValidationError
    for bad parameters.
    """
    query = query_schema.load(request.args.to_dict())
    patterns = search_parameters(query["q"])
    parameters = {"customer_id": g.customer.id, "now": datetime.now(UTC)} | patterns
    total, next_publication = db.session.connection().execute(count_published(len(patterns)), parameters).one()
    rows = _read_page(columns, query, parameters, len(patterns), total) if query["skip"] < total else []
    meta = {"total": total, "take": len(rows), "skip": query["skip"]}
    response = json_response({"data": render(rows), "meta": meta}, next_publication)
    if links := _page_links(query, total):
        response.headers["Link"] = links
    return response


def _read_page(
    columns: tuple[str, ...], query: dict[str, Any], parameters: dict[str, Any], words: int, total: int
) -> Sequence[Sequence[Any]]:
    """Read a page from the nearer end of the list, since skipping rows takes time too."""
    skip, order = query["skip"], query["order"]
    length = min(query["take"], total - skip)
    from_end = skip > total // 2
    parameters = parameters | {"take": length, "skip": total - skip - length if from_end else skip}
    page = select_page(columns, SORT_COLUMNS[query["order_by"]], REVERSED[order] if from_end else order, words)
    rows = db.session.connection().execute(page, parameters).all()
    return rows[::-1] if from_end else rows


def _page_links(query: dict[str, Any], total: int) -> str:
    """Return the Link header (RFC 8288) that names the next and the previous page, if there are any.

    The references are relative to the request, so that they are right behind any proxy. They repeat the parameters of
    the request that are known.
    """
    skip, take = query["skip"], query["take"]
    offsets = {"next": skip + take} if skip + take < total else {}
    if total and 0 < skip < total + take:  # Of the pages past the end, only the first one has a previous page.
        offsets["prev"] = max(0, skip - take)
    arguments = request.args.to_dict() | {"take": take}
    parameters = urlencode({name: arguments[name] for name in PARAMETERS if name in arguments and name != "skip"})
    return ", ".join(f'<?{parameters}&skip={offset}>; rel="{relation}"' for relation, offset in offsets.items())
