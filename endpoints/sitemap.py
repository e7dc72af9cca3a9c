"""GET /sitemap: every published slug with the day of its last change."""

from datetime import UTC, datetime

from flask import Blueprint, Response, g

from endpoints.responses import json_response
from models import db, published_slugs
from schemas import SitemapEntrySchema

blueprint = Blueprint("sitemap", __name__)
schema = SitemapEntrySchema()


@blueprint.get("/sitemap")
def list_slugs() -> Response:
    """List every published slug with the day of its last change."""
    rows = db.session.execute(published_slugs(), {"customer_id": g.customer_id, "now": datetime.now(UTC)}).all()
    return json_response({"data": schema.render(rows)})
