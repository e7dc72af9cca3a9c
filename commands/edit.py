"""`flask articles edit` and `new`: change or write an article in an editor."""

import shlex
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import click
from flask import current_app
from marshmallow import missing

from commands.support import params
from commands.support.editor import edit_text, require_terminal
from commands.support.groups import articles_group
from commands.support.lookup import find_articles, get_articles, get_articles_again, get_customer, get_customer_again
from commands.support.session import command_session
from commands.support.terminal import echo
from content.text import printable
from converters.field_names import ORIGIN_FIELDS
from converters.front_matter import parse_front_matter
from converters.source_articles import ImportProblem, SourceError
from converters.values import set_slug
from models import PUBLICATION_STATES, Customer
from schema_fields import format_timestamp
from schemas import ArticleImportSchema
from transfer import ImportFailedError
from transfer.article_files import format_article, parse_article_file
from transfer.checks import CheckedArticles, check_articles
from transfer.imports import report_notes, write_articles
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
        _require_free_slug(owner, slug or "")
    require_terminal()
    original = _blank_article(slug or "")
    # Without quotation marks, the fields are easier to fill in: It's would have to be written as 'It''s'.
    text = format_article(original).replace(b": ''\n", b":\n").removesuffix(b"\n")
    created = edit_text(text, ".md", lambda path, saved: _create(path, saved, original, owner), customer)
    echo(created or "Nothing was created.")


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
    text = _format_for_editor(original)
    changed = edit_text(text, ".html", lambda path, saved: _change(path, saved, original, articles, owner), customer)
    echo(changed or f"{slug}: unchanged")


def _require_free_slug(owner: Customer, slug: str) -> None:
    """Raise ImportFailedError if the customer has an article with this slug."""
    if find_articles(owner, (slug,)):
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


def _read_article(owner: Customer, articles: list[Any]) -> ExportedArticle:
    """Return an article as it is exported, with both flags if it comes from a source, so that they can be set."""
    (exported,) = export_articles(owner, [row.pk for row in articles], all_fields=False)
    flags = dict.fromkeys(FLAGS, False) if "source" in exported else {}
    return flags | exported


def _format_for_editor(article: ExportedArticle) -> bytes:
    """Return an article as a file. Its origin is left out, since it cannot be changed."""
    return format_article({name: value for name, value in article.items() if name not in ("source", "sourceKey")})


def _create(path: str, text: bytes, original: ExportedArticle, owner: Customer) -> str:
    """Import a new article. Returns what was created, to print. Raises ImportFailedError if the text has problems."""
    report = ImportReport()
    checked = _check(path, text, original, report, is_new=True)
    with command_session(writes=True):
        customer = get_customer_again(owner)
        for article in checked.valid:
            _require_free_slug(customer, article.row["slug"])
        result = write_articles(customer, checked, report, ImportOptions())
    report_notes(result, report, dry_run=False)
    for line in report.note_lines():
        echo(line, err=True)
    (state,) = (state for state in PUBLICATION_STATES if result.counts[state])
    return f"{result.new[0]}: created ({state})"


def _change(path: str, text: bytes, original: ExportedArticle, articles: list[Any], owner: Customer) -> str:
    """Import an edited article. Returns what has changed, to print.

    Raises ImportFailedError if the text has problems, and click.ClickException if the article was changed since it was
    read. Its views may have increased since.
    """
    report = ImportReport()
    checked = _check(path, text, original, report, is_new=False)
    with command_session(writes=True):
        customer = get_customer_again(owner)
        current = _read_article(customer, get_articles_again(customer, articles))
        if current | {"views": 0} != original | {"views": 0}:
            raise click.ClickException(CHANGED)
        result = write_articles(customer, checked, report, ImportOptions(takes_flags=True))
        changed = _read_article(customer, articles)
    report_notes(result, report, dry_run=False)
    for line in report.note_lines():
        echo(line, err=True)
    if yours := [name for flag, name in FLAGS.items() if changed.get(flag) and not original.get(flag)]:
        advice = "To let them change it again, set textEdited or publicationEdited to false."
        echo(f"Imports will now leave its {' and '.join(yours)} alone. {advice}", err=True)
    slug = original["slug"]
    if changed["slug"] != slug:
        return f"{slug}: renamed to {changed['slug']}. Its old URL no longer works: redirect it on your site."
    return f"{slug}: {'changed' if result.counts['changed'] else 'unchanged'}"


def _check(path: str, text: bytes, original: ExportedArticle, report: ImportReport, *, is_new: bool) -> CheckedArticles:
    """Return the article of a text, if it is valid. Problems go to the report."""
    try:
        fields, content = parse_front_matter(text)
        article = parse_article_file(path, fields, content, current_app.config["TIMEZONE"])
    except SourceError as error:
        place = f"the file, line {error.line}" if error.line else "the file"
        return check_articles([ImportProblem(place, str(error))], report)
    article.where = "the file"
    if article.fields.setdefault("id", original["id"]) != original["id"]:
        reason = f"Cannot be changed. Set it back to {original['id']!r}."
        report.fatal.append(ImportProblem("the file", reason, "id"))
    if article.fields.get("views") == original["views"]:
        del article.fields["views"]  # The views may have increased since.
    if is_new:
        for name in ORIGIN_FIELDS:
            article.fields.pop(name, None)
        if not article.fields.get("slug") and isinstance(article.fields.get("title"), str):
            article.fields.pop("slug", None)
            set_slug(article)
    return check_articles([article], report)
