"""GET /healthz: health check for monitors and containers."""

from flask import Blueprint, Response
from sqlalchemy import func, select

from models import ApiKey, Article, Customer, db
from schemas import RESPONSE_COLUMNS, SORT_COLUMNS
from storage.changes import change_detector

blueprint = Blueprint("health", __name__)

ARTICLE_COLUMNS = {"pk", "customer_id", "status", "search_text", *RESPONSE_COLUMNS, *SORT_COLUMNS.values()}
# in the order in which an upgrade locks the tables, so that a check and an upgrade cannot deadlock
READ_COLUMNS = (
    (Customer.id, Customer.name, Customer.site),
    (ApiKey.id, ApiKey.customer_id, ApiKey.hash, ApiKey.expires_on, ApiKey.revoked_at),
    tuple(getattr(Article, name) for name in sorted(ARTICLE_COLUMNS)),
)


@blueprint.get("/healthz")
def check_health() -> Response:
    """Return 200 if the columns that requests need can be read. Otherwise, the error handler returns a 503."""
    change_detector().version()  # like every request; raises StorageError while the database cannot be read
    for columns in READ_COLUMNS:
        first_row = select(*columns).limit(1).subquery()
        db.session.execute(select(func.count()).select_from(first_row))
    return Response('{"status": "ok"}', headers={"Cache-Control": "no-store"}, mimetype="application/json")
