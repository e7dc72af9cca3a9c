"""GET /healthz: whether the articles can be read."""

from flask import Blueprint, Response
from sqlalchemy import select

from models import Article, db

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def check_health() -> Response:
    """Answer 200 where the database can be read; where not, the error handler answers 503."""
    db.session.scalar(select(Article.pk).limit(1))
    return Response('{"status": "ok"}', headers={"Cache-Control": "no-store"}, mimetype="application/json")
