"""Decide what an import does, from what it gives and what is stored, before anything is written.

1. Match each imported article to a stored one (`transfer.matching`).
2. Decide which article gets which slug (`transfer.slugs`).
3. Decide about publication (`transfer.publication`), also of articles that the sources no longer contain.
4. Stop if that would hide, or leave alone, suspiciously many articles.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from converters.articles import Note
from models import UNKNOWN_ORIGIN
from transfer.matching import match_articles
from transfer.origins import source_of
from transfer.planned import PlannedArticle, StoredArticle, load_stored
from transfer.publication import (
    Publication,
    assume_source_date,
    follow_own_format,
    follow_source,
    return_to_import,
    withhold,
)
from transfer.report import ImportReport, append_sentence, shorten
from transfer.slugs import resolve_slugs
from transfer.spool import Spool

MAX_TITLE_LENGTH = 255  # characters, as in Ghost
LONG_TITLE = f"Must be at most {MAX_TITLE_LENGTH} characters long."
MIN_SUSPICIOUS = 3  # articles; fewer never stop an import
SUSPICIOUS_SHARE = 0.25  # of the articles; more stop an import
SOURCE_NAME_ADVICE = "If you meant to import another folder, table or site, give it a name with --source."
TAKE_OVER_ADVICE = "If the source has another name or address now, add --take-over OLD/."


class ImportOptions(NamedTuple):
    """The options of an import that concern the stored articles."""

    dry_run: bool = False
    publish: bool = False
    skip_invalid: bool = False
    unpublish_missing: bool = False
    take_over: tuple[str, ...] = ()
    yes: bool = False  # go on, whatever the reasons to stop
    confirmed: str = ""  # go on despite these reasons


@dataclass
class ImportPlan:
    """What an import does."""

    articles: list[PlannedArticle]  # to write, unless they are unchanged
    left_alone: list[tuple[str, Note]]  # slugs, and why nothing of these articles is written
    withheld: dict[int, Publication]  # of stored articles that the sources no longer contain, by pk
    stored: list[StoredArticle]

    @cached_property
    def by_stored_pk(self) -> dict[int, PlannedArticle]:
        """The articles that are stored already."""
        return {article.stored.pk: article for article in self.articles if article.stored}

    def publications(self) -> dict[str, Publication]:
        """Return the publication of each of the customer's articles after the import, by slug."""
        others = [article for article in self.stored if article.pk not in self.by_stored_pk]
        after = {article.slug: self.withheld.get(article.pk, article.publication) for article in others}
        return after | {article.slug: article.publication for article in self.articles}


def plan_import(
    customer_id: int, spool: Spool, report: ImportReport, options: ImportOptions, now: datetime
) -> ImportPlan:
    """Decide what an import does. Articles with problems go to the report, and are not part of the plan."""
    stored = load_stored(customer_id)
    articles = match_articles(spool, stored, options.take_over, report)
    _reject_long_titles(articles)
    resolve_slugs(articles, stored, spool)
    for article in articles:
        article.publication = _decide_publication(article, options, now)
        if article.problem:
            report.reject(article.problem._replace(where=spool.locate(article.entry)))
    return ImportPlan(
        [article for article in articles if article.is_active],
        [(article.slug, article.left_alone) for article in articles if article.left_alone],
        _find_withheld(articles, stored, spool, options),
        stored,
    )


def find_stop_reasons(plan: ImportPlan, now: datetime) -> str:
    """Return why an import should stop, because it would hide or leave alone suspiciously many articles.

    The text has a line for each reason, and may be empty.
    """
    return "\n".join([*_reasons_of_hidden(plan, now), *_reasons_of_left_alone(plan)])


def _reject_long_titles(articles: list[PlannedArticle]) -> None:
    """Reject titles that are too long, unless they are stored already."""
    for article in articles:
        title = article.entry.title
        is_stored = article.stored is not None and article.stored.title == title
        if len(title) > MAX_TITLE_LENGTH and not is_stored:
            article.reject(LONG_TITLE, "title", title)


def _decide_publication(article: PlannedArticle, options: ImportOptions, now: datetime) -> Publication:
    entry = article.entry
    stored = article.stored
    before = stored.publication if stored else None
    if entry.source:
        if stored and stored.origin in (None, UNKNOWN_ORIGIN):
            before = assume_source_date(stored.publication, now)
        return follow_source(entry.claim, entry.date, before, now, publish=options.publish)
    if stored and stored.origin is None and not entry.claim:
        before = return_to_import(stored.publication)
    return follow_own_format(entry.status, entry.date, entry.claim, before, now)


def _find_withheld(
    articles: list[PlannedArticle], stored: list[StoredArticle], spool: Spool, options: ImportOptions
) -> dict[int, Publication]:
    """Return the new publication of stored articles that are withheld because the sources lack them, by pk.

    Articles in the trash of WordPress are withheld in any case. --unpublish-missing also withholds:

    - if the import has sources: their articles that it lacks
    - if it has only formats of this service: the articles without an origin that it lacks
    """
    present = {article.stored.pk for article in articles if article.stored}
    sources = {*spool.sources, *filter(None, map(source_of, spool.trashed))}
    if sources:
        sources |= {name.removesuffix("/") for name in options.take_over if name.endswith("/")}
    withheld = {}
    for article in stored:
        is_missing = options.unpublish_missing and (article.source in sources if sources else article.origin is None)
        is_trashed = article.origin in spool.trashed
        if article.origin == UNKNOWN_ORIGIN:
            is_trashed = article.id in spool.trashed_ids
        if article.pk not in present and (is_missing or is_trashed):
            withheld[article.pk] = withhold(article.publication)
    return withheld


def _reasons_of_hidden(plan: ImportPlan, now: datetime) -> Iterator[str]:
    """Yield a line for each source of which the import would hide suspiciously many articles."""
    # by source, or None for articles without one
    public: Counter[str | None] = Counter()
    hidden: defaultdict[str | None, list[str]] = defaultdict(list)
    for article in plan.stored:
        planned = plan.by_stored_pk.get(article.pk)
        before = article.publication
        after = planned.publication if planned else plan.withheld.get(article.pk, before)
        source = (planned and planned.entry.source) or article.source
        if before.status != "published" or (article.origin == UNKNOWN_ORIGIN and not source):
            continue
        public[source] += 1
        if after.status != "published" or (before.is_visible(now) and not after.is_visible(now)):
            hidden[source].append(article.slug)
    for source, slugs in hidden.items():
        if _is_suspicious(len(slugs), public[source]):
            whose = f"from {source}" if source else "without a source"
            total = f"{public[source]} published and scheduled articles {whose}"
            reason = f"{len(slugs)} of {total} would be hidden: {shorten(slugs)}"
            yield append_sentence(reason, SOURCE_NAME_ADVICE)


def _reasons_of_left_alone(plan: ImportPlan) -> Iterator[str]:
    """Yield a line if suspiciously many articles of the import would be left alone."""
    total = len(plan.left_alone) + len(plan.articles)
    if _is_suspicious(len(plan.left_alone), total):
        slugs = [slug for slug, _ in plan.left_alone]
        reason = f"{len(slugs)} of {total} articles would be left alone: {shorten(slugs)}"
        yield append_sentence(reason, TAKE_OVER_ADVICE)


def _is_suspicious(count: int, total: int) -> bool:
    return count >= MIN_SUSPICIOUS and count > total * SUSPICIOUS_SHARE
