"""`flask articles edit` and `new`: change or write an article in an editor."""

import shlex
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import uuid4

import click
from flask import current_app
from marshmallow import missing
from sqlalchemy import select

from commands.support import params
from commands.support.editor import edit_text
from commands.support.groups import articles_group
from commands.support.lookup import get_articles, get_customer, get_customer_again
from commands.support.session import command_session
from commands.support.terminal import echo
from content.text import printable
from converters.articles import ImportProblem, SourceArticle
from converters.field_names import ORIGIN_FIELDS
from converters.front_matter import parse_front_matter
from converters.values import set_slug
from fields import format_timestamp
from models import PUBLICATION_STATES, Article, Customer, db
from schemas import ArticleImportSchema
from transfer import ImportFailedError
from transfer.article_files import format_article, own_article
from transfer.export import export_articles
from transfer.plan import ImportOptions
from transfer.report import ImportReport
from transfer.spool import create_spool
from transfer.writer import report_notes, write_articles

CHANGED = (
    "The article was changed while the editor was open. Add that change to your text first: "
    "importing it as it is would undo the change."
)
GONE = "The article was deleted or renamed while the editor was open. Importing your text would undo that."

ExportedArticle = dict[str, Any]


def new_slug(value: str) -> str:
    """Parse the slug of an article that does not exist yet."""
    slug = params.text(value)
    if errors := ArticleImportSchema(only=["slug"]).validate({"slug": slug}):
        raise click.BadParameter(errors["slug"][0])
    return slug


@articles_group.command()
@click.argument("slug", required=False, type=new_slug)
@params.customer_option
def new(slug: str | None, customer: str | None) -> None:
    """Write a new article in $VISUAL or $EDITOR.

    Fill in the fields at the top of the file, and write HTML below them. What you save is imported, as a draft unless
    you change its status; if it has an error, you can open the editor again. Without a SLUG, the title is used. Times
    without a UTC offset are in TIMEZONE.
    """
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
        _require_free_slug(owner, slug or "")
    original = _blank_article(slug or "")
    # Without quotation marks, the fields are easier to fill in: It's would have to be written as 'It''s'.
    text = _format(original).replace(b": ''\n", b":\n").removesuffix(b"\n")
    echo(edit_text(text, partial(_import, original, owner, is_new=True), customer) or "Nothing was created.")


@articles_group.command()
@click.argument("slug", type=params.text)
@params.customer_option
def edit(slug: str, customer: str | None) -> None:
    """Edit the article SLUG in $VISUAL or $EDITOR.

    The file has the article's fields in YAML, then its HTML. What you save is imported; if it has an error, you can
    open the editor again. Times without a UTC offset are in TIMEZONE.
    """
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
        get_articles(owner, (slug,))  # raises if there is no such article
        original = _read_article(owner, slug)
    saved = edit_text(_format(original), partial(_import, original, owner, is_new=False), customer)
    echo(saved or f"{slug}: unchanged")


def _require_free_slug(owner: Customer, slug: str) -> None:
    """Raise ImportFailedError if the customer has an article with this slug."""
    if _read_article(owner, slug):
        command = shlex.join(["flask", "articles", "edit", slug, "--customer", owner.name])
        reason = f"There is already an article with the slug '{slug}'. Choose another slug, or edit that article:"
        raise ImportFailedError(printable(f"{reason} {command}"))


def _blank_article(slug: str) -> ExportedArticle:
    """Return a new draft. It has all fields of an export, so that imports recognize the file if it is kept."""
    to_fill_in = {"title": "", "slug": slug, "status": "draft", "publishedAt": ""}
    defaults = {name: field.load_default for name, field in ArticleImportSchema().fields.items()}
    optional = {name: default for name, default in defaults.items() if default is not missing}
    empty: ExportedArticle = ArticleImportSchema(only=optional.keys()).dump(optional)
    now = format_timestamp(datetime.now(UTC))
    others = {"id": str(uuid4()), "createdAt": now, "updatedAt": now, "views": 0, "contentHtml": ""}
    return to_fill_in | empty | others


def _read_article(owner: Customer, slug: str) -> ExportedArticle:
    """Return the article as it is exported, or an empty dictionary if it does not exist."""
    articles = list(export_articles(owner, (slug,), all_fields=False))
    return articles[0] if articles else {}


def _format(article: ExportedArticle) -> bytes:
    """Return the article as a file for the editor."""
    return format_article({name: value for name, value in article.items() if name not in ORIGIN_FIELDS})


def _import(original: ExportedArticle, owner: Customer, text: bytes, *, is_new: bool) -> str:
    """Replace the article with the text, or add it. Returns what has changed, to print.

    Raises ImportFailedError if the text has problems, and click.ClickException if the article was changed since it was
    read. Its views may have increased since.
    """
    report = ImportReport()
    articles = _parse(text, original, report, is_new=is_new)
    with create_spool() as spool:
        spool.add(articles, report)
        with command_session(writes=True):
            customer = get_customer_again(owner)
            if is_new:
                for entry in spool.entries:
                    _require_free_slug(customer, entry.slug)
            else:
                _require_unchanged(customer, original)
            result = write_articles(customer, spool, report, ImportOptions())
            article = Article.customer_id == customer.id, Article.id == original["id"]
            becomes_edited = not original.get("edited") and db.session.scalar(select(Article.edited).where(*article))
        report_notes(result, spool, report)
    for line in report.note_lines():
        echo(line, err=True)
    if becomes_edited:
        advice = "To take the source's text again: flask articles import --take-over SLUG."
        echo(f"From now on, imports leave its text alone. {advice}", err=True)
    return _describe(result.counts, original["slug"], articles[0].fields["slug"])


def _require_unchanged(customer: Customer, original: ExportedArticle) -> None:
    """Raise click.ClickException if an article is not stored as it was, apart from its views."""
    current = _read_article(customer, original["slug"])
    if not current:
        raise click.ClickException(GONE)
    if _format(current | {"views": 0}) != _format(original | {"views": 0}):
        raise click.ClickException(CHANGED)


def _describe(counts: Counter[str], old_slug: str, slug: str) -> str:
    """Return a line about what has changed."""
    if counts["new"]:
        (state,) = (state for state in PUBLICATION_STATES if counts[state])
        return f"{slug}: created ({state})"
    if slug != old_slug:
        return f"{old_slug}: renamed to {slug}. Its old URL no longer works: redirect it on your site."
    return f"{slug}: {'changed' if counts['changed'] else 'unchanged'}"


def _parse(text: bytes, original: ExportedArticle, report: ImportReport, *, is_new: bool) -> list[SourceArticle]:
    """Return the edited article, or nothing if it cannot be read. Problems go to the report."""
    articles = []
    with report.catch("the file"):
        article = own_article("the file", *parse_front_matter(text), current_app.config["TIMEZONE"])
        if article.fields.setdefault("id", original["id"]) != original["id"]:
            report.stop(ImportProblem("the file", f"Cannot be changed. Set it back to {original['id']!r}.", "id"))
        if article.fields.get("views") == original["views"]:
            del article.fields["views"]  # The views may have increased since.
        # Without its claim, an article would no longer be treated as missing.
        article.fields |= dict.fromkeys(ORIGIN_FIELDS) | {"claim": original.get("claim")}
        if is_new and not article.fields.get("slug") and isinstance(article.fields.get("title"), str):
            article.fields.pop("slug", None)
            set_slug(article)
        articles.append(article)
    return articles
