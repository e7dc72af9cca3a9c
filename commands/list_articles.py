"""`flask articles list`."""

from datetime import UTC, datetime
from typing import Any

import click
import orjson
from flask import current_app

from commands.support import params
from commands.support.groups import articles_group
from commands.support.lookup import get_customer
from commands.support.session import command_session
from commands.support.terminal import echo, format_local
from models import PUBLICATION_STATES, Article, db, publication_state
from schemas import ArticleImportSchema
from storage.queries import ARTICLE_SUMMARIES, build_conditions

# with --json, besides the state
JSON_COLUMNS = "published_at", "slug", "title", "source", "source_key", "text_edited", "publication_edited"
JSON_SCHEMA = ArticleImportSchema(only=JSON_COLUMNS)


@articles_group.command("list")
@click.option("--state", type=click.Choice(PUBLICATION_STATES), help="Only articles in this state.")
@click.option("--search", metavar="WORDS", default="", help="Only articles with all these words.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
@params.customer_option
def list_articles(state: str | None, search: str, as_json: bool, customer: str | None) -> None:
    """List articles, one per line.

    Drafts come first, then pending articles, then all others, newest first. Each line has the state, the time of
    publication in TIMEZONE (with --json in UTC), the slug and the title. Articles from a source also show its name, and
    what is yours: imports leave that alone. --search looks for words in titles and slugs.
    """
    now = datetime.now(UTC)
    zone = current_app.config["TIMEZONE"]
    with command_session(writes=False):
        owner = get_customer(customer)
        matches = ARTICLE_SUMMARIES.where(Article.customer_id == owner.id, *build_conditions({"q": search}))
        order = Article.status, Article.published_at.desc().nulls_last(), Article.id.desc()
        for row in db.session.execute(matches.order_by(*order)):
            row_state = publication_state(row.status, row.published_at, now)
            if state not in (None, row_state):
                continue
            if as_json:
                click.echo(orjson.dumps({"state": row_state} | JSON_SCHEMA.dump(row._mapping)))
            else:
                date = format_local(row.published_at, zone) if row.published_at else "-"
                echo(row_state, date, row.slug, row.title, *_format_source(row))


def _format_source(row: Any) -> list[str]:
    """Return the source of an article that has one, and what is yours, as a cell of a line."""
    flags = {"text": row.text_edited, "publication": row.publication_edited}
    yours = ", ".join(name for name, is_set in flags.items() if is_set)
    return [f"{row.source} (yours: {yours})" if yours else row.source] if row.source else []
