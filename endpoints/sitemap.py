"""GET /sitemap: every published slug with the day of its last change."""

from datetime import UTC, datetime

from flask import Blueprint, Response, g

from endpoints.responses import json_response
from models import db
from schemas import SitemapEntrySchema
from storage.selects import NEXT_PUBLICATION, PUBLISHED_SLUGS

blueprint = Blueprint("sitemap", __name__)
schema = SitemapEntrySchema()


@blueprint.get("")
def list_slugs() -> Response:
    """Return every published slug with the day of its last change."""
    parameters = {"customer_id": g.customer.id, "now": datetime.now(UTC)}
    connection = db.session.connection()
    next_publication = connection.scalar(NEXT_PUBLICATION, parameters)
    rows = connection.execute(PUBLISHED_SLUGS, parameters).all()
    return json_response({"data": schema.render(rows)}, next_publication)
