"""`flask articles edit` and `new`: change or write an article in an editor."""

import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import click
from flask import current_app

from commands.support import params
from commands.support.editor import edit_text, require_terminal
from commands.support.groups import articles_group
from commands.support.import_result import print_result
from commands.support.lookup import find_articles, get_articles, get_articles_again, get_customer, get_customer_again
from commands.support.session import command_session
from commands.support.terminal import echo
from converters.front_matter import parse_front_matter
from converters.source_articles import ImportProblem, SourceError, SourceOptions, unreadable_problem
from models import Customer
from schema_fields import format_timestamp
from schemas import ArticleImportSchema
from transfer.article_files import EXPORTED_FIELDS, format_article, parse_own_file
from transfer.checks import CheckedArticles, check_articles
from transfer.imports import write_articles
from transfer.plan import ImportOptions
from transfer.records import export_articles
from transfer.report import ImportReport

CHANGED = (
    "The article was changed while the editor was open. Add that change to your text first: "
    "importing it as it is would undo the change."
)
FLAGS = {"textEdited": "text", "publicationEdited": "publication"}

ExportedArticle = dict[str, Any]


def new_slug(value: str) -> str:
    """Parse the slug of an article that does not exist yet."""
    if errors := ArticleImportSchema(only=["slug"]).validate({"slug": value}):
        raise click.BadParameter(errors["slug"][0])
    return value


@articles_group.command()
@click.argument("slug", required=False, type=new_slug)
@params.customer_option
def new(slug: str | None, customer: str | None) -> None:
    """Write a new article in $VISUAL or $EDITOR.

    Fill in the fields at the top of the file, and write Markdown below them. What you save is imported, as a draft
    unless you change its status. Without a SLUG, the title becomes one. Times without a UTC offset are in TIMEZONE.
    """
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
        if slug and find_articles(owner, (slug,)):
            raise click.ClickException(f"{slug!r} exists. To change it: flask articles edit {shlex.quote(slug)}")
    require_terminal()
    original = _blank_article(slug or "")
    # Without quotation marks, the fields are easier to fill in: It's would have to be written as 'It''s'.
    text = format_article(original).replace(b": ''\n", b":\n").removesuffix(b"\n")
    edit_text(text, ".md", lambda path: _create(path, original, owner), customer)


@articles_group.command()
@click.argument("slug")
@params.customer_option
def edit(slug: str, customer: str | None) -> None:
    """Edit the article SLUG in $VISUAL or $EDITOR.

    The file has the article's fields in YAML, then its HTML. What you save is imported. If the article comes from a
    source, imports will leave alone what you change. To let them change it again, set textEdited or publicationEdited
    to false. Times without a UTC offset are in TIMEZONE.
    """
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
        articles = get_articles(owner, (slug,))  # raises if there is no such article
        original = _read_article(owner, articles)
    require_terminal()
    # The origin cannot be changed.
    text = format_article({name: value for name, value in original.items() if name not in ("source", "sourceKey")})
    edit_text(text, ".html", lambda path: _change(path, original, articles, owner), customer)


def _blank_article(slug: str) -> ExportedArticle:
    """Return a new draft. It has all fields of an export, so that imports recognize the file if it is kept."""
    to_fill_in = {"title": "", "slug": slug, "status": "draft", "publishedAt": "", "bannerUrl": "", "category": ""}
    lists: ExportedArticle = {"keywords": [], "authors": []}
    now = format_timestamp(datetime.now(UTC))
    others = {"id": str(uuid4()), "createdAt": now, "updatedAt": now, "views": 0, "contentHtml": ""}
    return to_fill_in | lists | others


def _read_article(owner: Customer, articles: list[Any]) -> ExportedArticle:
    """Return an article as it is exported, with both flags if it comes from a source, so that they can be set."""
    (exported,) = export_articles(owner, [row.pk for row in articles], all_fields=False)
    flags = dict.fromkeys(FLAGS, False) if "source" in exported else {}
    return flags | exported


def _create(path: str, original: ExportedArticle, owner: Customer) -> None:
    """Import a new article. Raises ImportFailedError if the file has problems."""
    report = ImportReport()
    checked = _check_file(path, original, report)
    with command_session(writes=True):
        result = write_articles(get_customer_again(owner), checked, report, ImportOptions())
    echo(f"{result.new[0]}: new")
    print_result(result, report, dry_run=False)


def _change(path: str, original: ExportedArticle, articles: list[Any], owner: Customer) -> None:
    """Import an edited article.

    Raises ImportFailedError if the file has problems, and click.ClickException if the article was changed since it was
    read. Its views may have increased since.
    """
    report = ImportReport()
    checked = _check_file(path, original, report)
    with command_session(writes=True):
        customer = get_customer_again(owner)
        current = _read_article(customer, get_articles_again(customer, articles))
        if format_article(current | {"views": 0}) != format_article(original | {"views": 0}):
            raise click.ClickException(CHANGED)
        result = write_articles(customer, checked, report, ImportOptions(takes_flags=True))
        changed = _read_article(customer, articles)
    print_result(result, report, dry_run=False)
    if yours := [name for flag, name in FLAGS.items() if changed.get(flag) and not original.get(flag)]:
        advice = "To let them change it again, set textEdited or publicationEdited to false."
        echo(f"Imports will now leave its {' and '.join(yours)} alone. {advice}", err=True)


def _check_file(path: str, original: ExportedArticle, report: ImportReport) -> CheckedArticles:
    """Return the article of the saved file, if it is valid. Problems go to the report."""
    options = SourceOptions(site="", zone=current_app.config["TIMEZONE"])
    try:
        fields, content = parse_front_matter(Path(path).read_bytes())
        article = parse_own_file(path, fields, content, options)
    except SourceError as error:
        return check_articles([unreadable_problem(path, error)], report)
    if not article:
        removed = ", ".join(sorted(EXPORTED_FIELDS - fields.keys()))
        return check_articles([ImportProblem(path, f"Restore these fields: {removed}.")], report)
    if article.fields["id"] != original["id"]:
        reason = f"Cannot be changed. Set it back to {original['id']!r}."
        return check_articles([ImportProblem(path, reason, "id")], report)
    if article.fields["views"] == original["views"]:
        del article.fields["views"]  # The views may have increased since.
    return check_articles([article], report)
