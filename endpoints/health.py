"""GET /healthz: health check for monitors and containers."""

from flask import Blueprint, Response
from sqlalchemy import select

from models import ApiKey, Article, Customer, db

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def check_health() -> Response:
    """Return 200 if every table can be read. Otherwise the error handler returns a 503."""
    for column in (Article.pk, ApiKey.id, Customer.id):
        db.session.scalar(select(column).limit(1))
    return Response('{"status": "ok"}', headers={"Cache-Control": "no-store"}, mimetype="application/json")
