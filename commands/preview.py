"""`flask articles preview`: a temporary server that shows drafts as published."""

import os
import secrets
import signal
import sys
import time
from datetime import UTC, datetime

import click
from flask import Flask, current_app
from sqlalchemy import and_, bindparam, case, literal, or_, select, true

from auth import hash_key
from commands.support import params
from commands.support.groups import articles_group
from commands.support.lookup import get_articles, get_customer
from commands.support.programs import start_program, stop_quietly_on_signals
from commands.support.session import command_session
from commands.support.terminal import echo
from models import Article, Customer
from schemas import API_PATH
from serving.listener import base_url, listen
from serving.server import serve_in_thread
from storage.queries import IS_PUBLISHED, AccessRule

HOST = "127.0.0.1"
# Any site could otherwise make its own name resolve to 127.0.0.1, and read the preview in a visitor's browser.
TRUSTED_HOSTS = [HOST, "localhost"]


@articles_group.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--only",
    metavar="SLUG",
    multiple=True,
    help="Of the unpublished articles, show only SLUG as published. Repeatable.",
)
@params.customer_option
def preview(command: tuple[str, ...], only: tuple[str, ...], customer: str | None) -> None:
    """Show drafts as readers will see them.

    Until you press Ctrl+C, a temporary server on this machine shows all articles, with every later change. Those that
    are not published yet appear as if they had been published when the preview started; pending ones keep a date in
    the past. COMMAND, such as the build of a site, gets the server's URL and key in the variables ARTICLES_URL and
    ARTICLES_KEY. The preview stops when COMMAND does, and returns its exit status.
    """
    key = secrets.token_urlsafe(32)
    with command_session(writes=False):
        owner = get_customer(customer)
        get_articles(owner, only)  # raises if one does not exist
        rule = _preview_rule(owner, key, only)
        name = owner.name
    app = current_app._get_current_object()  # type: ignore[attr-defined]  # as Flask's documentation shows
    app.extensions["access_rule"] = rule
    app.config["TRUSTED_HOSTS"] = TRUSTED_HOSTS
    sys.exit(_serve(app, name, key, command))


def _preview_rule(customer: Customer, key: str, only: tuple[str, ...]) -> AccessRule:
    """Return the rule of a preview that starts now: `key` reads the customer's articles as if they were published.

    If `only` has slugs, other articles stay as they are.
    """
    started_at = literal(datetime.now(UTC), Article.published_at.type)
    keeps_date = and_(Article.status != "draft", Article.published_at <= started_at)
    is_key = literal(hash_key(key)) == bindparam("hash")
    is_customer = Customer.id == customer.id, Customer.name == customer.name  # a restore may give the id to another
    owner = select(Customer.id.label("customer_id"), Customer.name, Customer.site, literal(0).label("key_id"))
    return AccessRule(
        key_owner=owner.where(is_key, *is_customer),
        is_visible=or_(IS_PUBLISHED, Article.slug.in_(only)) if only else true(),
        published_at=case((keeps_date, Article.published_at), else_=started_at),
    )


def _serve(app: Flask, customer: str, key: str, command: tuple[str, ...]) -> int:
    """Serve until the command ends or, without one, until Ctrl+C or SIGTERM. Returns the exit status."""
    listener = listen(HOST, 0)
    url = base_url(HOST, listener.getsockname()[1])
    with serve_in_thread(app, listener, app.config["THREADS"]):
        stop_quietly_on_signals()
        for line in (f"Previewing the articles of {customer} (press Ctrl+C to stop)", f"URL: {url}", f"Key: {key}"):
            echo(line, err=bool(command))
        if command:
            return _run(command, ARTICLES_URL=f"{url}{API_PATH}", ARTICLES_KEY=key)
        while True:
            time.sleep(60)


def _run(command: tuple[str, ...], **variables: str) -> int:
    """Run the command with variables added to its environment. Returns its exit status, as a shell would."""
    with start_program(command, env=os.environ | variables) as process:
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        signal.signal(signal.SIGINT, lambda *_: None)  # the terminal sends Ctrl+C to the command as well
        status = process.wait()
    return status if status >= 0 else 128 - status
