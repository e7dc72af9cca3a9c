"""Decide what an import does, from what it gives and what is stored, before anything is written.

1. Match each imported article to a stored one (`transfer.matching`).
2. Decide which article gets which slug (`transfer.slug_assignment`).
3. Decide about publication (`transfer.publication`), also of articles that the sources no longer contain.
4. Find reasons to stop (`find_stop_reasons`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from content.text import printable
from converters.source_articles import ImportProblem, Origin, SourceArticle
from transfer.checks import CheckedArticles, locate
from transfer.matching import Matches, StoredArticle, has_appended_date, load_stored, match_articles
from transfer.publication import Publication, follow_own_format, follow_source, stored_publication
from transfer.report import shorten, shorten_line
from transfer.slug_assignment import SlugAssignment

MAX_TITLE_LENGTH = 255  # characters, as in Ghost
LONG_TITLE = f"Must be at most {MAX_TITLE_LENGTH} characters long."
MIN_SUSPICIOUS = 3  # articles; fewer never stop an import
SUSPICIOUS_SHARE = 0.25  # of the articles; more stop an import
SOURCE_NAME_ADVICE = "If you meant to import another folder, table or site, give it a name with --source."

RENAMED_ADVICE = "If the source has another name or address now, import it under its old one: --source NAME."


class ImportOptions(NamedTuple):
    """The options of an import that concern the stored articles."""

    dry_run: bool = False
    publish: bool = False
    skip_invalid: bool = False
    unpublish_missing: bool = False
    yes: bool = False  # go on, whatever the reasons to stop
    takes_flags: bool = False  # the flags that an article gives apply to a stored one too


@dataclass
class ImportPlan:
    """What an import does."""

    now: datetime
    stored: list[StoredArticle]  # all of the customer's articles
    matches: Matches  # the stored articles of imported ones that are not new
    slugs: dict[SourceArticle, str]  # after the import, of the articles to write
    left_alone: dict[SourceArticle, str]  # and the title of the stored article that has their slug or id
    problems: list[ImportProblem]
    publications: dict[SourceArticle, Publication]
    withdrawn: dict[int, Publication]  # of stored articles missing from their sources or withheld without text, by pk


def plan_import(customer_id: int, checked: CheckedArticles, options: ImportOptions, now: datetime) -> ImportPlan:
    """Decide what happens to each article of an import, and to the stored ones. Reads the customer's articles."""
    stored = load_stored(customer_id)
    matches, problems = match_articles(checked, stored)
    for article in checked.valid:
        title = article.row["title"]
        is_stored = article in matches and matches[article].title == title
        if len(title) > MAX_TITLE_LENGTH and not is_stored:
            problems[article] = ImportProblem(locate(article), LONG_TITLE, article.names.get("title", "title"), title)
    left_alone = _find_taken_ids(checked.valid, matches, stored)
    candidates = [article for article in checked.valid if article not in problems and article not in left_alone]
    assignment = SlugAssignment(candidates, matches, stored)
    slugs = {article: assignment.slugs[article] for article in candidates if article in assignment.slugs}
    publications = {article: _decide_publication(article, matches.get(article), options, now) for article in slugs}
    return ImportPlan(
        now=now,
        stored=stored,
        matches=matches,
        slugs=slugs,
        left_alone=left_alone | assignment.left_alone,
        problems=[*problems.values(), *assignment.problems.values()],
        publications=publications,
        withdrawn=_find_withdrawn(checked, stored, matches, options, now),
    )


def _find_taken_ids(
    articles: list[SourceArticle], matches: Matches, stored: list[StoredArticle]
) -> dict[SourceArticle, str]:
    """Return the new articles whose ids belong to stored ones, and the titles of the stored ones."""
    titles = {row.id: row.title for row in stored}
    new = [article for article in articles if article.origin and article not in matches]
    return {article: titles[article.row["id"]] for article in new if article.row.get("id") in titles}


def _decide_publication(
    article: SourceArticle, stored: StoredArticle | None, options: ImportOptions, now: datetime
) -> Publication:
    date = article.row.get("published_at")
    if not article.origin:
        return follow_own_format(article.row.get("status"), date, stored, now)
    return follow_source(article.claim, date, stored, now, publish=options.publish or article.is_own_format)


def _find_withdrawn(
    checked: CheckedArticles, stored: list[StoredArticle], matches: Matches, options: ImportOptions, now: datetime
) -> dict[int, Publication]:
    """Return the new publication of stored articles that are withheld although the import does not have their text.

    They are in the trash of WordPress, for example. With --unpublish-missing, they may also be missing from their
    source.
    """
    withheld = {article.origin for article in checked.withdrawn}
    matched = {row.pk for row in matches.values()}
    withdrawn = {}
    for row in stored:
        origin = Origin(row.source, row.source_key)
        is_missing = options.unpublish_missing and row.pk not in matched and checked.is_missing(origin)
        if is_missing or origin in withheld:
            withdrawn[row.pk] = follow_source("withheld", None, row, now, publish=False)
    return withdrawn


def find_stop_reasons(plan: ImportPlan) -> str:
    """Return why an import should stop, because it would hide, leave alone or replace suspiciously many articles.

    The text has a line for each reason, and may be empty.
    """
    total = len(plan.slugs) + len(plan.left_alone)
    left_alone = [article.row["slug"] for article in plan.left_alone]
    replaced = [
        stored.slug
        for article, stored in plan.matches.items()
        if article in plan.slugs and article.origin and not stored.text_edited and _is_replaced(article, stored)
    ]
    lines = [
        *_reasons_of_hidden(plan),
        _reason(left_alone, total, "articles would be left alone", RENAMED_ADVICE),
        _reason(replaced, total, "articles would be replaced by others", SOURCE_NAME_ADVICE),
    ]
    return "\n".join(filter(None, lines))


def _reasons_of_hidden(plan: ImportPlan) -> Iterator[str]:
    """Yield a line for each source of which the import would hide suspiciously many articles."""
    after = dict(plan.withdrawn)
    after |= {plan.matches[article].pk: new for article, new in plan.publications.items() if article in plan.matches}
    public: Counter[str] = Counter()
    hidden: defaultdict[str, list[str]] = defaultdict(list)
    for row in plan.stored:
        if not row.source or row.status != "published":
            continue
        public[row.source] += 1
        before = stored_publication(row)
        new = after.get(row.pk, before)
        disappears = before.is_visible(plan.now) and not new.is_visible(plan.now)
        if new.status != "published" or disappears:
            hidden[row.source].append(row.slug)
    for source, slugs in hidden.items():
        what = f"published and scheduled articles from {source} would be hidden"
        yield _reason(slugs, public[source], what, SOURCE_NAME_ADVICE)


def _is_replaced(article: SourceArticle, stored: StoredArticle) -> bool:
    """Return whether an article differs from the stored one in its title, and in its slug or its date."""
    slug = article.row["slug"]
    date = article.row.get("published_at")
    has_new_slug = stored.slug != slug and not has_appended_date(stored.slug, slug)
    has_new_date = date and stored.published_at and date != stored.published_at
    return stored.title != article.row["title"] and bool(has_new_slug or has_new_date)


def _reason(slugs: list[str], total: int, what: str, advice: str) -> str:
    """Return a line that names articles if they are suspiciously many, otherwise ""."""
    if len(slugs) < MIN_SUSPICIOUS or len(slugs) <= total * SUSPICIOUS_SHARE:
        return ""
    return printable(shorten_line(f"{len(slugs)} of {total} {what}: {shorten(slugs)}", advice))
