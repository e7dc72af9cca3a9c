"""What the two lists share: they differ only in the form of an article."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from flask import Response, request
from orjson import Fragment

from endpoints.responses import respond
from models import db, published_page, published_total
from schemas import SORT_COLUMNS, ListQuerySchema, RowSchema
from search import search_words, word_parameters

query_schema = ListQuerySchema()
PARAMETERS = [field.data_key or name for name, field in query_schema.fields.items()]


@lru_cache(1000)
def read_query(*values: str | None) -> tuple[tuple[str, ...], int, int, str, str]:
    """Give the words of the search, take, skip, orderBy and order of a list request. Raises ValidationError.

    `values` are those of `PARAMETERS`, None for what is not given. Most requests ask what others have asked.
    """
    query = query_schema.load(
        {name: value for name, value in zip(PARAMETERS, values, strict=True) if value is not None}
    )
    return tuple(sorted(search_words(query["q"]))), query["take"], query["skip"], query["order_by"], query["order"]


def answer_list(schema: RowSchema) -> Response:
    """Answer a list request with a page of the customer's published articles in the form of `schema`."""
    query = read_query(*map(request.args.get, PARAMETERS))
    words, take, skip, order_by, order = query

    def render(parameters: dict[str, Any]) -> dict[str, Any]:
        """Read the total and the page in the session's transaction, which gives them one state of the database."""
        parameters |= word_parameters(words)
        total = db.session.connection().scalar(published_total(len(words)), parameters) or 0
        rows = read_page(total, parameters) if skip < total else []
        # A skip may have more digits than the JSON library's integers.
        meta = {"total": total, "take": len(rows), "skip": Fragment(str(skip))}
        return {"data": schema.render(rows), "meta": meta}

    def read_page(total: int, parameters: dict[str, Any]) -> Sequence[Sequence[Any]]:
        """Read the page from the nearer end of the list, since what is skipped costs too."""
        length = min(take, total - skip)
        from_end = skip > total // 2
        parameters |= {"take": length, "skip": total - skip - length if from_end else skip}
        direction = {"asc": "desc", "desc": "asc"}[order] if from_end else order
        page = published_page(schema.columns, SORT_COLUMNS[order_by], direction, len(words))
        rows = db.session.connection().execute(page, parameters).all()
        return rows[::-1] if from_end else rows

    return respond(query, render)
