"""The rules of imports in the plainest way: which stored article a post is, its slug, its publication, what is yours.

`test_import_model.py` compares the model with the service.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

FEED = "feed"  # the name of a source in a format of this service
NEVER = datetime.max.replace(tzinfo=UTC)


class Post(NamedTuple):
    """An article in a source. The key of an invalid one may be unknown, which is an empty text."""

    source: str
    key: str
    slug: str
    title: str
    text: str
    date: datetime | None
    claim: str  # "published", "withheld" or ""
    is_valid: bool = True

    @property
    def publishes(self) -> bool:
        return self.claim == "published" or (self.claim == "" and self.date is not None)


@dataclass
class Stored:
    """An article as it should be stored."""

    slug: str = ""
    title: str = ""
    text: str = ""
    status: str = ""
    date: datetime | None = None
    source: str | None = None
    key: str | None = None
    text_edited: bool = False
    publication_edited: bool = False
    id: str | None = None  # unknown until it has been read

    def same_as(self, post: Post) -> set[str]:
        """Return which of slug, title and date are those of a post."""
        has_slug = re.fullmatch(rf"{post.slug}(-\d{{4}}-\d\d-\d\d)?", self.slug) is not None
        same = {"slug": has_slug, "title": post.title == self.title, "date": post.date == self.date is not None}
        return {name for name, is_same in same.items() if is_same}

    def may_be(self, post: Post, attempt: int) -> bool:
        """Return whether a post that has another key may be this article; each attempt asks for less."""
        same = self.same_as(post)
        if attempt == 1:
            return len(same) == 3
        if attempt == 2:
            return "title" in same and len(same) == 2
        return "slug" in same and self.status == "draft" and not self.text_edited and not self.publication_edited

    def is_replaced_by(self, post: Post) -> bool:
        same = self.same_as(post)
        has_new_date = "date" not in same and None not in (post.date, self.date)
        return not self.text_edited and "title" not in same and ("slug" not in same or has_new_date)


Matches = dict[Post, Stored | None]


class Model:
    """What is stored, and the rules that change it. If an import fails, the model must not be used any more."""

    def __init__(self) -> None:
        self.articles: list[Stored] = []

    def find(self, **values: Any) -> Stored | None:
        return next((a for a in self.articles if all(getattr(a, k) == v for k, v in values.items())), None)

    def import_posts(self, posts: list[Post], options: set[str], now: datetime) -> bool:
        """Import posts, and return whether that succeeds."""
        valid = [post for post in posts if post.is_valid]
        missing = self.find_missing(posts)
        matches = self.match(valid, missing)
        slugs, errors = self.choose_slugs(matches)
        if "--skip-invalid" not in options and (errors or len(valid) < len(posts)):
            return False
        before = [replace(article) for article in self.articles]
        replaced = [post for post in slugs if (article := matches[post]) and article.is_replaced_by(post)]
        for post, slug in slugs.items():
            self.follow(post, matches[post], slug, "--publish" in options, now)
        for article in missing:
            if "--unpublish-missing" in options and article not in matches.values() and not article.publication_edited:
                article.status = "draft"
        total = len(matches) - len(errors)
        parts = [(total - len(slugs), total), (len(replaced), total), *self.count_hidden(before, now)]
        return "--yes" in options or all(part <= max(2, whole / 4) for part, whole in parts)

    def find_missing(self, posts: list[Post]) -> list[Stored]:
        """Return the stored articles of these sources that are not among the posts."""
        origins = {(post.source, post.key) for post in posts}
        unknown = {post.source for post in posts if not post.key}
        sources = {post.source for post in posts} - unknown
        return [a for a in self.articles if a.source in sources and (a.source, a.key) not in origins]

    def match(self, posts: list[Post], missing: list[Stored]) -> Matches:
        """Return the stored article of each post, None if it is new."""
        matches = {post: self.find(source=post.source, key=post.key) for post in posts}
        own = {post: self.find(source=None, id=post.key) for post in posts if post.source == FEED}
        matches |= {post: article for post, article in own.items() if article}
        for attempt in 1, 2, 3:
            new = [post for post in posts if matches[post] is None]
            left = [a for a in missing if a not in matches.values()]
            pairs = [(p, a) for p in new for a in left if a.source == p.source and a.may_be(p, attempt)]
            for post, article in pairs:
                if sum(p is post for p, _ in pairs) == sum(a is article for _, a in pairs) == 1:
                    matches[post] = article
        return matches

    def choose_slugs(self, matches: Matches) -> tuple[dict[Post, str], set[Post]]:
        """Return the slugs of the posts that are written, and the posts that are errors. The others are left alone."""
        wanted = {post: a.slug if a and a.text_edited else post.slug for post, a in matches.items()}
        others = {a.slug for a in self.articles if a not in matches.values()}
        slugs = {post: wanted[post] for post, a in matches.items() if a}

        def loses(post: Post) -> bool:
            rivals = [p for p in slugs if slugs[p] == slugs[post]]
            best = min(rivals, key=lambda p: rank(p, matches[p], slugs[p]))
            return slugs[post] != matches[post].slug and (slugs[post] in others or post != best)

        while losers := [post for post in slugs if loses(post)]:
            slugs |= {post: matches[post].slug for post in losers}
        sharing = {slug: [p for p in matches if wanted[p] == p.slug == slug] for slug in wanted.values()}
        new = sorted((p for p in matches if p not in slugs), key=lambda p: rank(p, None, p.slug))
        errors = {post for post in new if is_repeated(post, sharing[post.slug], matches)}
        new = [post for post in new if post not in errors and not (post.source == FEED and self.find(id=post.key))]
        for post in new:
            if post.slug not in others | set(slugs.values()):
                slugs[post] = post.slug
        for post in new:
            if post not in slugs and any(slugs.get(p) == post.slug for p in sharing[post.slug]):
                dated_slug = f"{post.slug}-{post.date:%Y-%m-%d}"
                if dated_slug not in others | set(slugs.values()):
                    slugs[post] = dated_slug
        return slugs, errors

    def follow(self, post: Post, article: Stored | None, slug: str, publish: bool, now: datetime) -> None:
        """Write a post in everything that is not yours."""
        if article is None:
            article = Stored(id=post.key if post.source == FEED else None)
            self.articles.append(article)
        article.source, article.key = post.source, post.key
        if not article.text_edited:
            article.slug, article.title, article.text = slug, post.title, post.text
        if article.publication_edited:
            return
        date = post.date or article.date
        if post.claim == "withheld":
            article.status, article.date = "draft", date
        elif not post.publishes:
            article.status = "published" if article.status == "published" else "pending"
        elif article.status == "published":
            is_earlier = max(date, now) < max(article.date, now)
            article.date = date if publish or not is_earlier else article.date
        else:
            article.status, article.date = ("published", date or now) if publish else ("pending", date)

    def count_hidden(self, before: list[Stored], now: datetime) -> list[tuple[int, int]]:
        """Return how many published and scheduled articles of each source are hidden now, of how many."""
        public, hidden = Counter(), Counter()
        for old, new in zip(before, self.articles, strict=False):  # new articles come last
            if old.source and old.status == "published":
                public[old.source] += 1
                hidden[old.source] += new.status == "draft" or old.date <= now < new.date
        return [(hidden[source], public[source]) for source in public]

    def publish(self, article: Stored, at: datetime | None, now: datetime) -> None:
        is_scheduled = article.status == "published" and article.date > now
        article.publication_edited |= at is not None or article.status == "draft" or is_scheduled
        if at is None and article.date and (article.date <= now or article.status == "pending"):
            at = article.date
        article.status, article.date = "published", at or now

    def publish_pending(self) -> None:
        for article in self.articles:
            if article.status == "pending" and article.date:
                article.status = "published"

    def save(self, values: dict[str, Any], now: datetime) -> bool:
        """Import an article in a format of this service, without a source; return whether that succeeds."""
        article = self.find(id=values["id"]) if "id" in values else self.find(slug=values["slug"])
        holder = self.find(slug=values.get("slug"))
        if holder and holder != article:
            return False
        if article is None:
            article = Stored(status="published" if values["date"] else "draft")
            self.articles.append(article)
        before = replace(article)
        for name, value in values.items():
            setattr(article, name, value or getattr(article, name))
        if article.status == "published":
            article.date = article.date or now
        if article.source:
            article.text_edited |= any(getattr(article, n) != getattr(before, n) for n in ("slug", "title", "text"))
            article.publication_edited |= (article.status, article.date) != (before.status, before.date)
        return True


def rank(post: Post, article: Stored | None, slug: str) -> tuple[Any, ...]:
    """Return a sort key of posts that want the same slug."""
    place = 2 if article is None else slug != article.slug  # new, renamed, or neither
    return place, not post.publishes, post.date or NEVER, post.source, post.key


def is_repeated(post: Post, sharing: list[Post], matches: Matches) -> bool:
    """Return whether a new post has a slug that others share, and no date that distinguishes it."""
    is_first = post == min(sharing, key=lambda p: rank(p, matches[p], p.slug))
    has_twin = sum(p.date == post.date for p in sharing) > 1
    return has_twin or not (post.date or is_first)
