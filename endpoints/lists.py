"""What the two lists share: they differ only in the form of an article."""

from datetime import UTC, datetime

from flask import Response, g, request
from orjson import Fragment

from endpoints.responses import json_response
from models import MAX_OFFSET, db, published_page, published_total, search_words, word_parameters
from schemas import SORT_COLUMNS, ListQuerySchema, RowSchema

query_schema = ListQuerySchema()


def answer_list(schema: RowSchema) -> Response:
    """Answer a list request with a page of the customer's published articles in the form of `schema`.

    The session's transaction gives the total and the page one state of the database.
    """
    query = query_schema.load(request.args)
    words = search_words(query["q"])
    parameters = {"customer_id": g.customer_id, "now": datetime.now(UTC), **word_parameters(words)}
    total = db.session.scalar(published_total(len(words)), parameters)

    page = published_page(schema.columns, SORT_COLUMNS[query["order_by"]], query["order"], len(words))
    parameters |= {"take": query["take"], "skip": min(query["skip"], MAX_OFFSET)}
    data = schema.render(db.session.execute(page, parameters).all())

    # A skip may have more digits than the JSON library's integers.
    meta = {"total": total, "take": len(data), "skip": Fragment(str(query["skip"]))}
    return json_response({"data": data, "meta": meta})
