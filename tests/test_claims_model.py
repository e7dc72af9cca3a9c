"""The service against a model of it: random changes in two sources, imports, commands and days that pass."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import pytest
import time_machine
from claims_model import Article, Model, Post, RefusedError
from flask import Flask
from helpers import iso, run_command
from sqlalchemy import delete, select, update

import models
from commands.support.lookup import get_customer
from converters.records import Origin, SourceArticle
from models import db
from transfer import BrakeError, ImportFailedError
from transfer.notes import KEPT_SLUG, OTHER_ARTICLE, SLUG_TAKEN
from transfer.plan import ImportOptions
from transfer.report import ImportReport
from transfer.spool import create_spool
from transfer.writer import write_articles

FIRST_DAY = datetime(2020, 1, 1, tzinfo=UTC)
SOURCES = "first", "second"
# Few values, so that articles often have the same ones.
VALUES: dict[str, list[Any]] = {
    "key": list("123456"),
    "slug": [*"abcdefg", "a-2020-01-19"],
    "title": list("ABCDE"),
    "text": [f"text-{number}" for number in range(1000)],
    "date": [None, *range(10, 50, 8), 130, 190],
    "claim": [None, "published", "published", "published", "withheld"],
    "status": ["draft", "pending", "published"],
    "is_in_trash": [False, True],
}
# what changes in a post at once
CHANGES = (
    *("slug", "title", "text", "date", "claim", "is_in_trash", "key slug", "key"),
    *("title text date", "claim text date", "key slug date"),
)
STEPS = 16


@contextmanager
def transaction() -> Iterator[None]:
    """Run the block in a transaction, without checking the database file first as a command does."""
    try:
        with db.session.begin():
            yield
    finally:
        db.session.remove()


def time_of(day: int | None) -> datetime | None:
    return None if day is None else FIRST_DAY + timedelta(days=day)


def day_of(time: datetime | None) -> int | None:
    return None if time is None else (time - FIRST_DAY).days


class Service:
    """The commands of the model, in the service."""

    def __init__(self, app: Flask) -> None:
        self.app = app
        self.now = 0

    def articles(self) -> list[Article]:
        with transaction():
            rows = db.session.execute(select(models.Article.__table__)).all()
        return [
            Article(
                *(row.slug, row.title, row.content_html, row.id, row.status, day_of(row.published_at)),
                *(row.origin, row.claim, day_of(row.claimed_at), row.edited),
            )
            for row in rows
        ]

    def clear(self) -> None:
        with transaction():
            db.session.execute(delete(models.Article))

    def upgrade(self) -> None:
        is_pending = models.Article.status == "pending"
        with transaction():
            unknown = {"origin": "?", "claim": None, "claimed_at": None, "edited": False}
            db.session.execute(update(models.Article).values(unknown))
            db.session.execute(update(models.Article).where(is_pending).values(claim="published"))

    def publish(self, slug: str, at: int | None = None) -> None:
        self.run("publish", slug, *([] if at is None else ["--at", iso(time_of(at))]))

    def unpublish(self, slug: str) -> None:
        self.run("unpublish", slug)

    def publish_pending(self) -> None:
        self.run("publish", "--pending", "--yes")

    def delete(self, slug: str) -> None:
        self.run("delete", slug, "--yes")

    def edit(self, slug: str, /, **changes: Any) -> None:
        def change(filename: str) -> None:
            front_matter, content = Path(filename).read_text().removeprefix("---\n").split("---\n")
            given = {"slug": changes.get("slug"), "title": changes.get("title"), "status": changes.get("status")}
            if "date" in changes:
                given["publishedAt"] = iso(time_of(changes["date"]))
            lines = [line for line in front_matter.splitlines() if not given.get(line.partition(":")[0])]
            lines += [f"{name}: {value}" for name, value in given.items() if value]
            Path(filename).write_text("\n".join(["---", *lines, "---", changes.get("text", content)]))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(click, "edit", change)
            self.run("edit", slug)

    def import_posts(self, posts: list[Post], options: ImportOptions) -> tuple[set[str], set[str]]:
        report = self.import_articles([source_article(post) for post in posts], options)
        left_alone: set[str] = set()
        kept_slugs: set[str] = set()
        for note, slugs in report._names_by_note.items():
            if note in (SLUG_TAKEN, OTHER_ARTICLE):
                left_alone |= set(slugs)
            elif note.kind == KEPT_SLUG.kind:
                kept_slugs.add(note.detail)
        return left_alone, kept_slugs

    def import_records(self, records: list[Article], options: ImportOptions) -> None:
        self.import_articles([own_article(record) for record in records], options)

    def import_articles(self, articles: list[SourceArticle], options: ImportOptions) -> ImportReport:
        report = ImportReport()
        try:
            with create_spool() as spool:
                spool.add(articles, report)
                with self.travel(), transaction():
                    write_articles(get_customer(None), spool, report, options)
        except (ImportFailedError, BrakeError) as error:
            raise RefusedError from error
        return report

    def run(self, *arguments: str) -> None:
        with self.travel():
            result = run_command(self.app, "articles", *arguments)
        if result.exit_code:
            assert result.exit_code == 1
            assert isinstance(result.exception, SystemExit)
            raise RefusedError

    @contextmanager
    def travel(self) -> Iterator[None]:
        with time_machine.travel(time_of(self.now), tick=False):
            yield


def source_article(post: Post) -> SourceArticle:
    fields = {"id": post.id, "slug": post.slug, "title": post.title, "contentHtml": post.text}
    if post.date is not None:
        fields["publishedAt"] = iso(time_of(post.date))
    origin = Origin(post.source, post.key, post.has_named_key)
    return SourceArticle(post.origin, fields, origin=origin, claim=post.claim, is_withdrawn=post.is_in_trash)


def own_article(record: Article) -> SourceArticle:
    names = {"text": "contentHtml", "date": "publishedAt", "claimed_at": "claimedAt"}
    fields = {names.get(name, name): value for name, value in vars(record).items()}
    for name in ("publishedAt", "claimedAt"):
        fields[name] = iso(time_of(fields[name])) if fields[name] is not None else None
    return SourceArticle(record.slug, fields)


class Sequence:
    """A random sequence of commands, each run in the model and in the service, and of changes in two sources."""

    def __init__(self, service: Service, seed: int) -> None:
        self.random = random.Random(seed)
        self.service = service
        self.model = Model()
        self.posts: list[Post] = []
        self.has_named_keys = {source: self.chance(0.6) for source in SOURCES}
        self.log: list[str] = []
        service.clear()

    def run(self) -> None:
        self.change_sources(6)
        self.import_posts()
        for _ in range(STEPS):
            match self.random.choice("sssaaiiir"):
                case "s":
                    self.change_sources(self.random.choice([1, 1, 4]))
                case "a":
                    self.act()
                case "i":
                    self.import_posts()
                case "r":
                    self.import_records()
            self.model.now += 1

    def both(self, name: str, *arguments: Any, **changes: Any) -> bool:
        """Run a command in the model and in the service, and compare the results. Return whether it was accepted."""
        self.log.append(f"day {self.model.now}: {name} {arguments} {changes or ''}")
        self.service.now = self.model.now
        changed = deepcopy(self.model)
        expected = _run(changed, name, *arguments, **changes)
        assert _run(self.service, name, *arguments, **changes) == expected
        if expected != "refused":
            self.model = changed
        stored = {article.slug: article for article in self.service.articles()}
        for article in self.model.articles:
            if not article.id and article.slug in stored:
                article.id = stored[article.slug].id
        assert stored == {article.slug: article for article in self.model.articles}
        return expected != "refused"

    def both_change_nothing(self, name: str, *arguments: Any) -> None:
        before = deepcopy(self.model.articles)
        assert self.both(name, *arguments)
        assert self.model.articles == before

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def value(self, name: str) -> Any:
        return self.random.choice(VALUES[name])

    # Sources

    def change_sources(self, number: int) -> None:
        for _ in range(number):
            posts = list(self.posts)
            self.random.shuffle(posts)
            match self.random.choice("aaaacccccddrrm") if posts else "a":
                case "a":
                    posts.append(self.new_post(self.random.choice(SOURCES)))
                case "c":
                    posts.append(self.change_post(posts.pop()))
                case "d":
                    posts.pop()
                case "r":
                    posts = self.rename_posts(posts)
                case "m":
                    posts = self.move_posts(posts)
            origins = {post.origin for post in posts}
            if len(origins) == len(posts):  # otherwise, the import would be refused
                self.posts = posts

    def new_post(self, source: str) -> Post:
        names = "key", "slug", "title", "text", "date", "claim"
        return Post(source, *map(self.value, names), has_named_key=self.has_named_keys[source])

    def change_post(self, post: Post) -> Post:
        names = self.random.choice(CHANGES).split()
        changed = replace(post, **{name: self.value(name) for name in names})
        return replace(changed, is_in_trash=changed.is_in_trash and not post.has_named_key)

    def rename_posts(self, posts: list[Post]) -> list[Post]:
        """Give each of some posts the name of the next one; the last one gets a new name, or that of the first."""
        chosen = [post for post in posts if post.source == posts[0].source][: self.random.randint(2, 4)]
        last = self.random.choice([self.new_post(posts[0].source), chosen[0]])
        names = [*chosen[1:], last]
        renamed = [replace(post, key=other.key, slug=other.slug) for post, other in zip(chosen, names, strict=True)]
        return [post for post in posts if post not in chosen] + renamed

    def move_posts(self, posts: list[Post]) -> list[Post]:
        """Move all posts to one source, as if it were the other one under a new name."""
        source = self.random.choice(SOURCES)
        return [replace(post, source=source, has_named_key=self.has_named_keys[source]) for post in posts]

    # Commands

    def act(self) -> None:
        slug = self.stored_slug()
        match self.random.choice(
            ["publish", "publish", "at", "unpublish", "edit", "edit", "delete", "pending", "upgrade", "wait"]
        ):
            case "at":
                self.both("publish", slug, self.random.choice([30, 130, 190]))
            case "edit":
                name = self.random.choice(["slug", "title", "text", "status", "date"])
                self.both("edit", slug, **{name: self.value(name) or 20})
            case "pending":
                self.both("publish_pending")
            case "upgrade":
                self.both("upgrade")
            case "wait":
                self.model.now += 60
            case name:
                self.both(name, slug)

    def stored_slug(self) -> str:
        return self.random.choice([article.slug for article in self.model.articles] or ["a"])

    def import_posts(self) -> None:
        sources = self.random.choice([SOURCES[:1], SOURCES[1:], SOURCES, SOURCES])
        # A source with nothing but trash is refused before it gets that far.
        known = {post.source for post in self.posts if not post.is_in_trash}
        posts = [post for post in self.posts if post.source in known.intersection(sources)]
        others = [f"{source}/" for source in SOURCES if source not in sources]
        publish = self.chance(0.7)
        options = ImportOptions(
            publish=publish,
            unpublish_missing=publish and self.chance(0.4),
            take_over=(self.random.choice([self.stored_slug(), *others]),) if self.chance(0.3) else (),
            yes=self.chance(0.6),
        )
        if posts and self.both("import_posts", posts, options):
            self.random.shuffle(posts)
            self.both_change_nothing("import_posts", posts, options._replace(take_over=(), yes=True))

    def import_records(self) -> None:
        """Import an export over its articles, or new and changed records."""
        records = deepcopy(self.model.articles)
        if self.chance(0.3):
            self.both_change_nothing("import_records", records, ImportOptions(yes=True))
            return
        records = [self.change_record(record) for record in records if self.chance(0.7)]
        slug = self.value("slug")
        new = Article(slug, "A", "x", id=self.random.choice([None, f"id-{slug}"]))
        if self.chance(0.5):
            records.append(self.change_record(new))
        options = ImportOptions(unpublish_missing=bool(records) and self.chance(0.5), yes=self.chance(0.6))
        self.both("import_records", records, options)

    def change_record(self, record: Article) -> Article:
        changes = {name: self.value(name) for name in ("slug", "title", "date", "status") if self.chance(0.3)}
        for names in ("id", "status", "date", "origin edited", "claim", "claimed_at"):
            if self.chance(0.3):
                changes |= dict.fromkeys(names.split())
        return replace(record, **changes)


def _run(target: Any, name: str, *arguments: Any, **changes: Any) -> Any:
    try:
        return getattr(target, name)(*arguments, **changes)
    except RefusedError:
        return "refused"


def compare(service: Service, seeds: range) -> None:
    for seed in seeds:
        sequence = Sequence(service, seed)
        try:
            sequence.run()
        except Exception as error:
            raise AssertionError("\n".join([f"seed {seed}:", *sequence.log])) from error


@pytest.fixture
def service(app: Flask, key: str) -> Iterator[Service]:
    with app.app_context():
        yield Service(app)


def test_imports_and_commands_do_what_the_model_does(service):
    compare(service, range(15))


@pytest.mark.slow
def test_imports_and_commands_do_what_the_model_does_in_many_sequences(service):
    compare(service, range(15, 300))
