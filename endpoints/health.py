"""GET /healthz: whether the articles can be read."""

from flask import Blueprint, Response
from sqlalchemy import select

from models import ApiKey, Article, Customer, db

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def check_health() -> Response:
    """Return 200 if the database can be read. If not, the error handler returns 503."""
    for column in (Article.pk, ApiKey.id, Customer.id):
        db.session.scalar(select(column).limit(1))
    return Response('{"status": "ok"}', headers={"Cache-Control": "no-store"}, mimetype="application/json")
