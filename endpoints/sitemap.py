"""GET /sitemap: every published slug with the date of its last change."""

from datetime import UTC, datetime

from flask import Blueprint, g

from endpoints.caching import Document, cached, render_document
from models import db
from schemas import SitemapEntrySchema
from storage.queries import NEXT_PUBLICATION, access_rule

blueprint = Blueprint("sitemap", __name__)
schema = SitemapEntrySchema(many=True)


@blueprint.get("")
@cached()
def list_slugs() -> Document:
    """Return every published slug with the date of its last change."""
    rule = access_rule()
    now = datetime.now(UTC)
    parameters = {"customer_id": g.key_owner.customer_id, "now": now}
    connection = db.session.connection()
    rows = connection.execute(rule.slugs, parameters).mappings().all()
    next_publication_at = connection.scalar(NEXT_PUBLICATION, parameters)
    return render_document({"data": schema.dump(rows)}, now, next_publication_at)
