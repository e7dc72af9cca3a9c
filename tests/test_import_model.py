"""Random sequences of changes in three sources, of imports and of commands, compared with `import_model.py`.

With `--slow`, Hypothesis shortens a sequence for which the service and the model differ; `SEQUENCES=2000` tries more.
"""

import os
import re
import shutil
from copy import deepcopy
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from helpers import LISTS, SITEMAP, iso, json_lines
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from import_model import FEED, Model, Post, Stored
from importer import wordpress

FOLDER, BLOG = "markdown", "wordpress:blog.example.com"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
# few values, so that articles often have the same ones
DATES = [None, *(NOW + timedelta(days) for days in (-20, -10, 5, 30))]
KEYS = st.sampled_from("12345678")
CONTENT = {
    "slug": st.sampled_from([*"abcdef", "a-2025-12-12"]),
    "title": st.sampled_from("ABC"),
    "text": st.sampled_from(["one", "two"]),
    "date": st.sampled_from(DATES),
}
FIELDS = CONTENT | {"claim": st.sampled_from(["", "", "published", "withheld"]), "key": KEYS}
SOURCES = st.sampled_from([FOLDER, FOLDER, BLOG, FEED])
POSTS = st.builds(Post, is_valid=st.just(True), source=SOURCES, **FIELDS)
CHANGEABLE = FIELDS | {"is_valid": st.booleans()}
CHANGES = st.one_of(*(st.fixed_dictionaries({name: values}) for name, values in CHANGEABLE.items()))
CHANGES |= st.fixed_dictionaries({"key": KEYS})  # files are moved often
OPTIONS = st.sets(st.sampled_from(["--publish", "--unpublish-missing", "--skip-invalid", "--yes"]))
OWN = CONTENT | {"text": st.just("mine")}
STATUSES = {"status": st.sampled_from(["draft", "pending", "published"])}
LATER = {"title": "C", "date": DATES[4]}
NUMBERS = st.integers(0, 7)


class Sequence(RuleBasedStateMachine):
    def __init__(self, importer, client):
        super().__init__()
        self.importer, self.client = importer, client
        self.model, self.now, self.posts = Model(), NOW, []
        if slugs := list(importer.articles()):
            self.run("delete", *slugs, "--yes")

    def run(self, *arguments):
        """Run a command, and return whether it succeeds."""
        with time_machine.travel(self.now, tick=False):
            result = self.importer.run(*arguments)
        assert result.exit_code == 0 or isinstance(result.exception, SystemExit), result.exception
        self.output = result.output
        return result.exit_code == 0

    # In the sources

    @initialize(posts=st.lists(POSTS, min_size=3, max_size=8))
    def start(self, posts):
        for post in posts:
            self.write(post)

    @rule(post=POSTS)
    def write(self, post):
        if post.source == BLOG:  # its posts state whether they are published, and if so, since when
            claim = "published" if post.publishes else "withheld"
            post = post._replace(claim=claim, date=post.date or (DATES[1] if post.publishes else None))
        self.posts = [p for p in self.posts if (p.source, p.key) != (post.source, post.key)] + [post]

    @rule(number=NUMBERS, changes=CHANGES, is_copied=st.booleans())
    def change(self, number, changes, is_copied):
        if number < len(self.posts):
            post = self.posts[number]
            if not is_copied:
                self.posts.remove(post)
            self.write(post._replace(**changes))

    @rule(changes=st.sampled_from([{"claim": "withheld"}, {"claim": "published"}, {"date": DATES[1]}, LATER]))
    def change_all(self, changes):
        for post in self.posts:
            self.write(post._replace(**changes))

    @rule(number=NUMBERS, other=NUMBERS, name=st.sampled_from(["key", "slug"]))
    def swap(self, number, other, name):
        if max(number, other) < len(self.posts) and self.posts[number].source == self.posts[other].source:
            first, second = self.posts[number], self.posts[other]
            self.write(first._replace(**{name: getattr(second, name)}))
            self.write(second._replace(**{name: getattr(first, name)}))

    # Imports

    @rule(others=st.sets(st.sampled_from(["--publish", "--yes"])))
    def night(self, others):
        self.import_posts([FOLDER, BLOG], set(), {"--unpublish-missing"} | others)

    @rule(
        sources=st.sampled_from([[FOLDER], [BLOG], [FOLDER, BLOG], [FEED]]),
        left_out=st.sets(NUMBERS, max_size=2),
        options=OPTIONS,
        is_dry_run=st.sampled_from([False] * 5 + [True]),
    )
    def import_posts(self, sources, left_out, options, is_dry_run=False):
        """Import some posts, and again in another order."""
        posts = [post for number, post in enumerate(self.posts) if post.source in sources and number not in left_out]
        posts = [post._replace(key="") if post.source == BLOG and not post.is_valid else post for post in posts]
        if posts and is_dry_run:
            self.run("import", *self.write_sources(posts), *options, "--dry-run")
            self.compare()
        elif posts and self.compare_import(posts, options):
            self.compare_import(posts[::-1], options | {"--yes"})

    def compare_import(self, posts, options):
        expected = deepcopy(self.model)
        always = {"--publish"} if posts[0].source == FEED else set()
        succeeds = expected.import_posts(posts, options | always, self.now)
        assert self.run("import", *self.write_sources(posts), *options) == succeeds, self.output
        self.model = expected if succeeds else self.model
        self.compare()
        return succeeds

    def write_sources(self, posts):
        """Return the posts as arguments of `import`."""
        shutil.rmtree(self.importer.folder / "folder", ignore_errors=True)
        posts = [post if post.is_valid else post._replace(title="long" * 99) for post in posts]
        if posts[0].source == FEED:
            return [{"feed.jsonl": json_lines(map(feed_record, posts))}, "--source", FEED]
        files = {f"folder/{post.key}.md": markdown(post) for post in posts if post.source == FOLDER}
        items = [wordpress_item(post) for post in posts if post.source == BLOG]
        return [files | ({"blog.xml": wordpress(*items)} if items else {})]

    # Here

    @rule(command=st.sampled_from(["publish", "unpublish", "delete"]), number=NUMBERS, at=CONTENT["date"])
    def act(self, command, number, at):
        if number >= len(self.model.articles):
            return
        article = self.model.articles[number]
        options = {"publish": ["--at", iso(at)] if at else [], "unpublish": [], "delete": ["--yes"]}
        assert self.run(command, article.slug, *options[command]), self.output
        if command == "publish":
            self.model.publish(article, at, self.now)
        elif command == "unpublish":
            article.status, article.publication_edited = "draft", True
        else:
            self.model.articles.remove(article)
        self.compare()

    @rule(days=st.sampled_from([1, 10]))
    def publish_pending_and_wait(self, days):
        assert self.run("publish", "--pending", "--yes"), self.output
        self.model.publish_pending()
        self.now += timedelta(days)
        self.compare()

    @rule(values=st.fixed_dictionaries(OWN, optional=STATUSES | {"id": KEYS}))
    def save(self, values, exported=None):
        """Import an article in a format of this service: a new one, or an exported one with other values."""
        expected = deepcopy(self.model)
        succeeds = expected.save(values, self.now)
        names = {"text": "contentHtml", "date": "publishedAt"}
        record = {names.get(name, name): iso(v) if name == "date" else v for name, v in values.items() if v}
        lines = json_lines([(exported or {}) | record])
        assert self.run("import", {"own.jsonl": lines}, "--yes") == succeeds, self.output
        self.model = expected if succeeds else self.model
        self.compare()

    @rule(number=NUMBERS, changes=st.fixed_dictionaries({}, optional=OWN | STATUSES))
    def edit(self, number, changes):
        if number < len(self.model.articles):
            article = self.model.articles[number]
            self.save({"id": article.id} | changes, self.importer.articles()[article.slug])

    def compare(self):
        """Compare what is stored, and what the endpoints show, with the model."""
        stored = {slug: to_stored(record) for slug, record in self.importer.articles().items()}
        for article in self.model.articles:
            article.id = article.id or getattr(stored.get(article.slug), "id", None)
        assert stored == {article.slug: article for article in self.model.articles}, self.output
        published = [a for a in self.model.articles if a.status == "published" and a.date <= self.now]
        with time_machine.travel(self.now, tick=False):
            for path in LISTS:
                shown = {(a["slug"], a["title"], a["publishedAt"]) for a in self.client.get(path).get_json()["data"]}
                assert shown == {(a.slug, a.title, iso(a.date)) for a in published}
            entries = self.client.get(SITEMAP).get_json()["data"]
        assert [entry["url"] for entry in entries] == sorted(a.slug for a in published)


def markdown(post):
    lines = {"published": ["published: true"], "withheld": ["draft: true"], "": []}[post.claim]
    lines += [f"date: {iso(post.date)}"] if post.date else []
    return "\n".join(["---", f"title: {post.title}", f"slug: {post.slug}", *lines, "---", post.text])


def wordpress_item(post):
    date = f"{post.date:%Y-%m-%d %H:%M:%S}" if post.date else "0000-00-00 00:00:00"
    item = {"post_id": post.key, "post_name": post.slug, "title": post.title, "content": post.text}
    return item | {"post_date_gmt": date, "status": "publish" if post.publishes else "draft"}


def feed_record(post):
    record = {"id": post.key, "slug": post.slug, "title": post.title, "contentHtml": post.text}
    record |= {"published": {"status": "published"}, "withheld": {"status": "draft"}, "": {}}[post.claim]
    return record | ({"publishedAt": iso(post.date)} if post.date else {})


def to_stored(record):
    """Return an exported article in the form of the model."""
    date = datetime.fromisoformat(record["publishedAt"]) if "publishedAt" in record else None
    text = re.sub(r"<.*?>|\s", "", record["contentHtml"])
    origin = record.get("source"), record.get("sourceKey")
    flags = record.get("textEdited", False), record.get("publicationEdited", False)
    return Stored(record["slug"], record["title"], text, record["status"], date, *origin, *flags, record["id"])


def check_sequences(importer, client, number, **options):
    relaxed = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
    options = settings(max_examples=number, stateful_step_count=30, **relaxed, **options)
    run_state_machine_as_test(lambda: Sequence(importer, client), settings=options)


def test_random_sequences_follow_the_model(importer, client):
    check_sequences(importer, client, 10, phases=[Phase.generate])


@pytest.mark.slow
def test_more_random_sequences_follow_the_model(importer, client):
    check_sequences(importer, client, int(os.environ.get("SEQUENCES", "300")))
