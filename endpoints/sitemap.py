"""GET /sitemap: every published slug with the day of its last change."""

from flask import Blueprint, Response

from endpoints.responses import respond
from models import db, published_slugs
from schemas import SitemapEntrySchema

blueprint = Blueprint("sitemap", __name__)
schema = SitemapEntrySchema()


@blueprint.get("/sitemap")
def list_slugs() -> Response:
    """List every published slug with the day of its last change."""
    return respond(
        (),
        lambda parameters: {
            "data": schema.render(db.session.connection().execute(published_slugs(), parameters).all())
        },
    )
