"""Rules that no sequence of imports, commands and days may break. Random sequences try to.

Besides, importing the same again changes nothing, whatever the order of its articles. What a source says about
publication is tested in all combinations by `test_publication.py`.
"""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
import time_machine
from flask import Flask
from helpers import iso, run_command
from sqlalchemy import Row, delete, select, update

from commands.support.lookup import get_customer
from converters.articles import Origin, SourceArticle
from models import Article, db
from transfer import ImportFailedError, SuspiciousImportError
from transfer.plan import ImportOptions
from transfer.report import ImportReport
from transfer.spool import create_spool
from transfer.writer import write_articles

START = datetime(2020, 1, 1, tzinfo=UTC)
NEVER = datetime.max.replace(tzinfo=UTC)
SOURCES = "first", "second"
STEPS = 16
# Few values, so that articles often have the same ones.
DATES = [None, *(START + timedelta(days) for days in (10, 18, 26, 34, 42, 130, 190))]
VALUES: dict[str, list[Any]] = {
    "key": list("123456"),
    "slug": [*"abcdefg", "a-2020-01-19"],
    "title": list("ABCDE"),
    "text": [f"text-{number}" for number in range(1000)],
    "date": DATES,
    "claim": [None, "published", "published", "published", "withheld"],
}
# what changes in a post at once
CHANGES = ["slug", "title", "text", "date", "claim", "key", "key slug"]
CHANGES += ["key slug date", "title text date", "claim text date"]
COMMANDS = "publish", "publish", "at", "unpublish", "edit", "edit", "delete", "pending", "upgrade", "wait"


@dataclass(frozen=True)
class Post:
    """An article in another system."""

    source: str
    key: str
    slug: str
    title: str
    text: str
    date: datetime | None
    claim: str | None
    has_reusable_key: bool  # Markdown and CSV, not WordPress and Ghost

    @property
    def origin(self) -> str:
        return f"{self.source}/{self.key}"

    @property
    def id(self) -> str | None:
        return None if self.has_reusable_key else f"{self.source}-{self.key}"

    @property
    def slugs(self) -> tuple[str, str]:
        """The slug, without and with the date."""
        return self.slug, f"{self.slug}-{self.date:%Y-%m-%d}" if self.date else self.slug

    def convert(self) -> SourceArticle:
        """Return the article as a converter does."""
        fields = {"id": self.id, "slug": self.slug, "title": self.title, "contentHtml": self.text}
        if self.date:
            fields["publishedAt"] = iso(self.date)
        origin = Origin(self.source, self.key, self.has_reusable_key)
        return SourceArticle(self.origin, fields, origin=origin, claim=self.claim)


class Change(NamedTuple):
    """What an import did with one article."""

    old: Row[Any] | None  # as it was stored
    new: Row[Any]
    post: Post | None  # None: the import lacks the article, or leaves its post alone
    options: ImportOptions
    now: datetime
    is_missing: bool  # from a source that lacks it, so that it is withheld


def nothing_becomes_visible_without_publish(change: Change) -> bool:
    return change.options.publish or visible_from(change.new, change.now) >= visible_from(change.old, change.now)


def drafts_stay_drafts(change: Change) -> bool:
    return not change.old or change.old.status != "draft" or change.new.status == "draft"


def articles_withheld_by_their_source_are_hidden_unless_published_here_since(change: Change) -> bool:
    if not change.is_missing and (not change.post or change.post.claim != "withheld"):
        return True
    was_published_here = change.old and (change.old.status, change.old.claim) == ("published", "withheld")
    return (change.new.status == "published") == bool(was_published_here)


def articles_missing_or_left_alone_keep_everything_but_their_status(change: Change) -> bool:
    if change.post:
        return True
    kept = {"status": change.old.status, "claim": change.old.claim} if change.is_missing else {}
    return change.new._asdict() | kept == change.old._asdict()


def texts_are_those_of_the_source_or_edited_here(change: Change) -> bool:
    if not change.post:
        return True
    if change.new.edited:
        return text_of(change.new) == text_of(change.old)
    slugs = {*change.post.slugs, change.old.slug if change.old else ""}
    return text_of(change.new)[1:] == (change.post.title, change.post.text) and change.new.slug in slugs


def own_articles_and_other_posts_keep_their_texts(change: Change) -> bool:
    """An article gets the text of a post only if anything shows that it is the same, or with --take-over."""
    if not change.old or not change.post or change.options.take_over or change.old.edited:
        return True
    return change.old.origin is not None and is_same(change.old, change.post)


RULES = (
    nothing_becomes_visible_without_publish,
    drafts_stay_drafts,
    articles_withheld_by_their_source_are_hidden_unless_published_here_since,
    articles_missing_or_left_alone_keep_everything_but_their_status,
    texts_are_those_of_the_source_or_edited_here,
    own_articles_and_other_posts_keep_their_texts,
)


def visible_from(article: Row[Any] | None, now: datetime) -> datetime:
    return max(article.published_at, now) if article and article.status == "published" else NEVER


def text_of(article: Row[Any]) -> tuple[str, str, str]:
    return article.slug, article.title, article.content_html


def is_same(old: Row[Any], post: Post) -> bool:
    """Return whether a post may be a stored article, and not another one that took the place of a file or row."""
    dates = {old.claimed_at or old.published_at, post.date}
    if old.origin == post.origin and post.has_reusable_key and len(dates) == 2 and None not in dates:
        return old.title == post.title or old.content_html == post.text
    is_from_there = old.origin == "?" or old.origin.startswith(f"{post.source}/")
    has_same_place = old.origin == post.origin or old.id == post.id or old.slug in post.slugs
    return is_from_there and (has_same_place or (old.title == post.title and len(dates) == 1))


@contextmanager
def transaction() -> Iterator[None]:
    """Run the block in a transaction, without checking the database file first as a command does."""
    try:
        with db.session.begin():
            yield
    finally:
        db.session.remove()


class Sequence:
    """A random sequence of imports and commands, and of changes in two sources."""

    def __init__(self, app: Flask, seed: int) -> None:
        self.app = app
        self.random = random.Random(seed)
        self.now = START + timedelta(100)
        self.posts: list[Post] = []
        self.has_reusable_keys = {source: self.chance(0.6) for source in SOURCES}
        self.log = [f"seed {seed}"]
        self.execute(delete(Article))

    def run(self) -> None:
        self.change_sources(6)
        self.import_posts()
        for _ in range(STEPS):
            match self.random.choice("sssaaiii"):
                case "s":
                    self.change_sources(self.random.choice([1, 1, 4]))
                case "a":
                    self.act(self.random.choice(COMMANDS), self.stored_slug())
                case "i":
                    self.import_posts()
            self.now += timedelta(1)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def value(self, name: str) -> Any:
        return self.random.choice(VALUES[name])

    def stored_slug(self) -> str:
        return self.random.choice([row.slug for row in self.articles().values()] or ["a"])

    # Sources

    def change_sources(self, number: int) -> None:
        for _ in range(number):
            posts = self.random.sample(self.posts, len(self.posts))
            match self.random.choice("aaaacccccdddrrm") if posts else "a":
                case "a":
                    posts.append(self.new_post(self.random.choice(SOURCES)))
                case "c":
                    names = self.random.choice(CHANGES).split()
                    posts.append(replace(posts.pop(), **{name: self.value(name) for name in names}))
                case "d":
                    posts.pop()
                case "r":
                    posts = self.rename_posts(posts)
                case "m":  # one source gets the other's posts, as if it were that one under a new name
                    source = self.random.choice(SOURCES)
                    named = self.has_reusable_keys[source]
                    posts = [replace(post, source=source, has_reusable_key=named) for post in posts]
            if len({post.origin for post in posts}) == len(posts):
                self.posts = posts

    def new_post(self, source: str) -> Post:
        names = "key", "slug", "title", "text", "date", "claim"
        return Post(source, *map(self.value, names), has_reusable_key=self.has_reusable_keys[source])

    def rename_posts(self, posts: list[Post]) -> list[Post]:
        """Give each of some posts the name of the next one; the last one gets a new name, or that of the first."""
        chosen = [post for post in posts if post.source == posts[0].source][: self.random.randint(2, 4)]
        last = self.random.choice([self.new_post(posts[0].source), chosen[0]])
        names = [*chosen[1:], last]
        renamed = [replace(post, key=other.key, slug=other.slug) for post, other in zip(chosen, names, strict=True)]
        return [post for post in posts if post not in chosen] + renamed

    # Commands

    def act(self, command: str, slug: str) -> None:
        self.log.append(f"{self.now:%j}: {command} {slug}")
        match command:
            case "at":
                self.run_command("publish", slug, "--at", iso(self.random.choice(DATES[1:])))
            case "edit":
                edited = {"slug": slug, "title": "Mine", "contentHtml": self.value("text")}
                self.write([SourceArticle(slug, edited)], ImportOptions(yes=True))
            case "delete":
                self.run_command("delete", slug, "--yes")
            case "pending":
                self.run_command("publish", "--pending", "--yes")
            case "upgrade":  # from tables without origins and claims
                unknown = update(Article).values(origin="?", claim=None, claimed_at=None, edited=False)
                self.execute(unknown, update(Article).where(Article.status == "pending").values(claim="published"))
            case "wait":
                self.now += timedelta(60)
            case _:
                self.run_command(command, slug)

    def run_command(self, *arguments: str) -> None:
        with time_machine.travel(self.now, tick=False):
            assert run_command(self.app, "articles", *arguments).exit_code in (0, 1)

    # Imports

    def import_posts(self) -> None:
        sources = self.random.choice([SOURCES[:1], SOURCES[1:], SOURCES, SOURCES])
        posts = [post for post in self.posts if post.source in sources]
        publish = self.chance(0.7)
        others = [f"{source}/" for source in SOURCES if source not in sources]
        options = ImportOptions(
            publish=publish,
            unpublish_missing=publish and self.chance(0.4),
            take_over=(self.random.choice([self.stored_slug(), *others]),) if self.chance(0.3) else (),
            yes=self.chance(0.6),
        )
        if posts:
            self.log.append("\n  ".join([f"{self.now:%j}: import {options}", *map(str, posts)]))
            before = self.articles()
            written = self.write([post.convert() for post in posts], options)
            after = self.articles()
            check_import(before, after, posts, options, written, self.now)
            if written is not None:
                self.random.shuffle(posts)
                again = options._replace(take_over=(), yes=True)
                assert self.write([post.convert() for post in posts], again) == written
                assert self.articles() == after

    def articles(self) -> dict[int, Row[Any]]:
        """Return the stored articles by pk."""
        with transaction():
            return {row.pk: row for row in db.session.execute(select(Article.__table__))}

    def execute(self, *statements: Any) -> None:
        with transaction():
            for statement in statements:
                db.session.execute(statement)

    def write(self, articles: list[SourceArticle], options: ImportOptions) -> set[str] | None:
        """Import articles. Return the origins of those that are not left alone, or None if the import is refused."""
        report = ImportReport()
        try:
            with create_spool() as spool:
                spool.add(articles, report)
                with time_machine.travel(self.now, tick=False), transaction():
                    result = write_articles(get_customer(None), spool, report, options)
        except (ImportFailedError, SuspiciousImportError):
            return None
        return {planned.entry.origin for planned in result.articles}


def check_import(
    before: dict[int, Row[Any]],
    after: dict[int, Row[Any]],
    posts: list[Post],
    options: ImportOptions,
    written: set[str] | None,
    now: datetime,
) -> None:
    """Check what holds for an import as a whole, and the rules for each article."""
    present = {post.origin: post for post in posts}
    if written is None:
        days = Counter((post.slug, post.date) for post in present.values())
        assert not options.yes or options.take_over or max(days.values()) > 1, "refused without a reason"
        assert after == before, "a refused import has written something"
        return
    origins = {row.origin for row in after.values()}
    assert before.keys() <= after.keys(), "an import deletes nothing"
    assert written <= origins, "whatever is not left alone is stored"
    left_alone = present.keys() - written
    slugs = {row.slug for row in after.values()}
    assert all(present[origin].slug in slugs or origin in origins for origin in left_alone), "nothing is in its way"
    sources = {post.source for post in posts} | {name.partition("/")[0] for name in options.take_over if "/" in name}
    for pk, new in after.items():
        post = present[new.origin] if new.origin in written else None
        is_from_them = str(new.origin).partition("/")[0] in sources
        is_missing = options.unpublish_missing and is_from_them and new.origin not in written | left_alone
        change = Change(before.get(pk), new, post, options, now, is_missing)
        for rule in RULES:
            assert rule(change), f"{rule.__name__}: {change}"


def check_sequences(app: Flask, seeds: range) -> None:
    with app.app_context():
        for seed in seeds:
            sequence = Sequence(app, seed)
            try:
                sequence.run()
            except Exception as error:
                raise AssertionError("\n".join(sequence.log)) from error


@pytest.mark.usefixtures("key")
def test_rules_hold_in_random_sequences(app):
    check_sequences(app, range(15))


@pytest.mark.slow
@pytest.mark.usefixtures("key")
def test_rules_hold_in_many_random_sequences(app):
    check_sequences(app, range(15, 300))
