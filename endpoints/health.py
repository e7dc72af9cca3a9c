"""GET /healthz: whether the articles can be read."""

from flask import Blueprint, Response
from sqlalchemy import select

from cache import current_cache
from models import ApiKey, Article, db

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def check_health() -> Response:
    """Answer 200 where the database can be read; where not, the error handler answers 503."""
    current_cache().version()  # notices another file in the database's place
    for column in (Article.pk, ApiKey.id):
        db.session.scalar(select(column).limit(1))
    return Response('{"status": "ok"}', headers={"Cache-Control": "no-store"}, mimetype="application/json")
