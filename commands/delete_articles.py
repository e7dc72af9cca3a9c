"""`flask articles delete`."""

import click
from sqlalchemy import delete

from commands.support import params
from commands.support.groups import articles_group
from commands.support.lookup import MAX_NAMES, get_articles, get_articles_again, get_customer, get_customer_again
from commands.support.session import command_session
from commands.support.terminal import confirm, echo, format_article_count
from models import Article, db
from transfer.report import shorten


@articles_group.command("delete")
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True)
@params.customer_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete_articles(slugs: tuple[str, ...], customer: str | None, yes: bool) -> None:
    """Delete articles permanently. If one does not exist, none is deleted."""
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
        articles = get_articles(owner, slugs)
    count = format_article_count(len(articles))
    if imported := [article.slug for article in articles if article.source]:
        advice = "To hide them instead: flask articles unpublish."
        echo(f"The next import from their source brings these back: {shorten(imported, MAX_NAMES)}. {advice}", err=True)
    confirm(f"This permanently deletes {count}.", yes)
    with command_session(writes=True):
        pks = [article.pk for article in get_articles_again(get_customer_again(owner), articles)]
        db.session.execute(delete(Article).where(Article.pk.in_(pks)))
    echo(f"Deleted {count}.")
