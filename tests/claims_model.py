"""A model of origins and claims: what imports and commands do with the articles of one customer.

`test_claims_model.py` runs the same commands here and in the service. The model has no database, and its dates are
numbers of days. After a command that raises RefusedError, the caller has to restore the articles.
"""

import re
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import date, timedelta

from transfer.plan import ImportOptions

FIRST_DAY = date(2020, 1, 1)
UNKNOWN = "?"  # the origin of articles from before there were origins


class RefusedError(Exception):
    """A mistake, or a brake that nobody released."""


@dataclass
class Article:
    """A stored article, or a record in a format of this service, which lacks the fields that are None."""

    slug: str
    title: str
    text: str
    id: str | None = None
    status: str | None = None
    date: int | None = None
    origin: str | None = None  # None: an article of the customer's own
    claim: str | None = None
    claimed_at: int | None = None
    edited: bool | None = None

    @property
    def source(self) -> str | None:
        return self.origin.partition("/")[0] if self.origin not in (None, UNKNOWN) else None

    @property
    def source_date(self) -> int | None:
        return self.date if self.claimed_at is None else self.claimed_at

    @property
    def content(self) -> tuple[str, str, str]:
        return self.slug, self.title, self.text


@dataclass(frozen=True)
class Post:
    """An article in another system."""

    source: str
    key: str
    slug: str
    title: str
    text: str
    date: int | None
    claim: str | None
    has_named_key: bool  # Markdown and CSV, not WordPress and Ghost
    is_in_trash: bool = False

    @property
    def origin(self) -> str:
        return f"{self.source}/{self.key}"

    @property
    def dated_slug(self) -> str | None:
        return None if self.date is None else f"{self.slug}-{FIRST_DAY + timedelta(self.date)}"

    @property
    def id(self) -> str | None:
        return None if self.has_named_key else f"{self.source}-{self.key}"


class Model:
    """The articles of one customer, and the commands that change them."""

    def __init__(self) -> None:
        self.now = 100
        self.articles: list[Article] = []

    def publish(self, slug: str, at: int | None = None) -> None:
        article = self.get(slug)
        keeps_date = article.date is not None and (article.date <= self.now or article.status == "pending")
        if at is not None or not keeps_date:
            article.date = self.now if at is None else at
        article.status = "published"

    def unpublish(self, slug: str) -> None:
        self.get(slug).status = "draft"

    def publish_pending(self) -> None:
        for article in self.articles:
            if article.status == "pending" and article.claim == "published":
                article.status = "published"
                self.date_published(article, by_source=True)

    def edit(self, slug: str, /, **changes: object) -> None:
        """Change the `slug`, `title`, `text`, `status` or `date`."""
        article = self.get(slug)
        before = article.content
        for name, value in changes.items():
            setattr(article, name, value)
        article.edited = article.edited or (article.origin is not None and article.content != before)
        self.date_published(article)
        self._refuse_repeated_values()

    def delete(self, slug: str) -> None:
        self.articles.remove(self.get(slug))

    def upgrade(self) -> None:
        """Upgrade the tables from a version without origins and claims."""
        for article in self.articles:
            article.origin = UNKNOWN
            article.claim = "published" if article.status == "pending" else None
            article.claimed_at = None
            article.edited = False

    def import_posts(self, posts: list[Post], options: ImportOptions) -> tuple[set[str], set[str]]:
        """Import from other systems.

        Returns the slugs of posts that are left alone, and the slugs that stored articles want but cannot have.
        """
        return _PostImport(self, posts, options).run()

    def import_records(self, records: list[Article], options: ImportOptions) -> None:
        """Import records in formats of this service."""
        before = deepcopy(self.articles)
        for name in ("id", "slug", "origin"):
            values = [getattr(record, name) for record in records if getattr(record, name) not in (None, UNKNOWN)]
            _refuse_if(len(set(values)) < len(values))
        matches = self._match_records(records)
        for number, record in enumerate(records):
            if number in matches:
                self._update(matches[number], record, options)
            else:
                status = record.status or ("draft" if record.date is None else "published")
                self.articles.append(replace(record, status=status, edited=bool(record.edited)))
                self.date_published(self.articles[-1])
        self._refuse_repeated_values()
        present = {record.slug for record in records}
        for article in self.articles:
            if options.unpublish_missing and article.origin is None and article.slug not in present:
                _withhold(article)
        _brake_hiding(self, before, options)

    def _match_records(self, records: list[Article]) -> dict[int, Article]:
        """Return the stored articles by the numbers of their records."""
        tests: list[Callable[[Article, Article], bool]] = [
            lambda article, record: article.id == record.id,
            lambda article, record: article.source is not None and article.origin == record.origin,
            lambda article, record: record.id is None and article.slug == record.slug,
        ]
        matches: dict[int, Article] = {}
        for fits in tests:
            for number, record in enumerate(records):
                free = [article for article in self.articles if article not in matches.values()]
                fitting = [article for article in free if fits(article, record)]
                if number not in matches and fitting:
                    matches[number] = fitting[0]
        return matches

    def _update(self, article: Article, record: Article, options: ImportOptions) -> None:
        if options.unpublish_missing and article.origin == UNKNOWN and record.origin is None:
            article.origin = None
        if article.origin is None and article.claim == "withheld" and record.claim is None:
            article.claim = None  # It is not missing any longer.
        article.edited = article.origin is not None and (article.edited or article.content != record.content)
        article.slug, article.title, article.text = record.content
        becomes_published = article.status == "pending" and record.date is not None
        article.status = record.status or ("published" if becomes_published else article.status)
        article.date = article.date if record.date is None else record.date
        self.date_published(article)

    def date_published(self, article: Article, *, by_source: bool = False) -> None:
        """Date an article that was published without a date, so now. `by_source`: nobody set that date here."""
        if article.status == "published" and article.date is None:
            article.date = self.now
            article.claimed_at = self.now if by_source else article.claimed_at

    def _refuse_repeated_values(self) -> None:
        slugs = [article.slug for article in self.articles]
        origins = [article.origin for article in self.articles if article.source]
        _refuse_if(len(set(slugs)) < len(slugs) or len(set(origins)) < len(origins))

    def get(self, slug: str) -> Article:
        found = [article for article in self.articles if article.slug == slug]
        _refuse_if(not found)
        return found[0]


@dataclass(eq=False)
class _Planned:
    """A post, with the stored article that it is, if any."""

    post: Post
    slug: str  # that the article will have
    stored: Article | None = None
    displaced: Article | None = None  # has the post's origin, but is another article
    is_left_alone: bool = False

    @property
    def has_dated_slug(self) -> bool:
        """Whether an earlier import appended a date, which stays, to the post's slug."""
        return bool(self.stored and re.fullmatch(rf"{self.post.slug}-\d{{4}}-\d\d-\d\d", self.stored.slug))

    @property
    def is_settled(self) -> bool:
        return self.stored is not None and self.stored.slug == self.slug


class _PostImport:
    """An import from other systems."""

    def __init__(self, model: Model, posts: list[Post], options: ImportOptions) -> None:
        self.model = model
        self.options = options
        self.before = deepcopy(model.articles)
        self.planned = [_Planned(post, post.slug) for post in posts if not post.is_in_trash]
        self.trash = {post.origin for post in posts if post.is_in_trash}
        self.sources = {post.source for post in posts}
        self.taken_sources = {item.removesuffix("/") for item in options.take_over if item.endswith("/")}
        self.kept_slugs: set[str] = set()

    def run(self) -> tuple[set[str], set[str]]:
        self.match()
        self.resolve_slugs()
        left_alone = [planned.slug for planned in self.planned if planned.is_left_alone]
        _brake(len(left_alone), len(self.planned), self.options)
        for planned in self.planned:
            if not planned.is_left_alone:
                self.write(planned)
        self.withhold_missing()
        _brake_hiding(self.model, self.before, self.options)
        return set(left_alone), self.kept_slugs

    # Matching

    def match(self) -> None:
        by_origin = {article.origin: article for article in self.model.articles}
        for planned in self.planned:
            stored = by_origin.get(planned.post.origin)
            if stored and _is_other_article(stored, planned.post):
                planned.displaced = stored
            else:
                planned.stored = stored
        self.adopt(lambda stored, post: stored.id == post.id)
        posts = [planned.post for planned in self.unmatched()]
        places = Counter((post.source, post.title, post.date) for post in posts)
        self.match_each(
            self.lacking(),
            lambda stored, post: _is_moved(stored, post) and places[post.source, post.title, post.date] == 1,
        )
        for planned in self.by_age():
            self.match_one(planned, self.lacking(), _has_dated_slug_and_system)
            self.match_one(planned, self.lacking(), _has_same_slug_and_system)
        # An article cannot move to a place that is taken.
        while blocked := [planned for planned in self.planned if planned.stored and self.has_taken_place(planned)]:
            for planned in blocked:
                planned.stored = None
        for planned in self.planned:
            if self.has_taken_place(planned):
                planned.is_left_alone = True
                planned.stored = planned.displaced
        self.adopt(lambda stored, post: stored.slug == post.slug and _has_same_date(stored, post))
        self.adopt(lambda stored, post: stored.slug == post.slug and stored.title == post.title)
        for item in self.options.take_over:
            self.take_over_source(item.removesuffix("/")) if item.endswith("/") else self.take_over_slug(item)

    def adopt(self, fits: Callable[[Article, Post], bool]) -> None:
        self.match_each([article for article in self.model.articles if article.origin == UNKNOWN], fits)

    def lacking(self) -> list[Article]:
        """Return the articles of the sources whose origins the import lacks, or has for other articles."""
        origins = {planned.post.origin for planned in self.planned if not planned.displaced}
        from_sources = [article for article in self.model.articles if article.source in self.sources]
        return [article for article in from_sources if article.origin not in origins]

    def match_each(self, candidates: list[Article], fits: Callable[[Article, Post], bool]) -> None:
        """Match unmatched posts, the oldest first, with the only one that fits."""
        for planned in self.by_age():
            self.match_one(planned, candidates, fits)

    def match_one(self, planned: _Planned, candidates: list[Article], fits: Callable[[Article, Post], bool]) -> None:
        fitting = [stored for stored in candidates if self.is_free(stored) and fits(stored, planned.post)]
        if len(fitting) == 1 and not planned.stored:
            planned.stored = fitting[0]

    def by_age(self) -> list[_Planned]:
        return sorted(self.unmatched(), key=_age)

    def unmatched(self) -> list[_Planned]:
        return [planned for planned in self.planned if not planned.stored]

    def is_free(self, stored: Article) -> bool:
        return all(planned.stored is not stored for planned in self.planned)

    def has_taken_place(self, planned: _Planned) -> bool:
        """Return whether another article is stored in the post's place, and has not moved."""
        return planned.displaced is not None and self.is_free(planned.displaced)

    def take_over_source(self, source: str) -> None:
        candidates = [article for article in self.model.articles if article.source == source]
        _refuse_if(not candidates)
        # Another blog may have given a post's number to another post.
        for planned in self.by_age():
            if not planned.post.has_named_key:
                self.match_one(planned, candidates, lambda stored, post: stored.slug == post.dated_slug)
                self.match_one(planned, candidates, lambda stored, post: stored.slug == post.slug)
        self.match_each(candidates, _has_same_key)
        same = [article for article in candidates if self.is_free(article)]
        for planned in self.by_age():
            for slug in (planned.post.dated_slug, planned.post.slug):
                self.match_one(
                    planned,
                    [article for article in same if article.slug == slug],
                    lambda stored, post: not _is_other_article(stored, post),
                )

    def take_over_slug(self, slug: str) -> None:
        stored = self.model.get(slug)
        matched = [planned for planned in self.planned if planned.stored is stored]
        wanting = [planned for planned in self.planned if planned.post.slug == slug]
        new = [planned for planned in self.by_age() if planned.post.slug == slug]
        new += [planned for planned in self.by_age() if planned.post.dated_slug == slug]
        _refuse_if(not matched and not wanting and not new)
        chosen = (matched or new or wanting)[0]
        _refuse_if(chosen.stored not in (None, stored))
        chosen.stored = stored
        chosen.is_left_alone = False
        stored.edited = False

    # Slugs

    def resolve_slugs(self) -> None:
        """Let stored articles keep their slugs, and leave new ones alone, until every slug has one article."""
        for planned in self.planned:
            stays = planned.is_left_alone or planned.has_dated_slug
            if planned.stored and (planned.stored.edited or stays):
                planned.slug = planned.stored.slug
        active = [planned for planned in self.planned if not planned.is_left_alone]
        wanted = {planned.slug for planned in active}
        for slug in {planned.post.slug for planned in active}:
            of_slug = [planned for planned in active if planned.post.slug == slug]
            group = [planned for planned in of_slug if planned.slug == slug or planned.has_dated_slug]
            if len(group) > 1:
                self.share_slug(group, wanted)
        while loser := self.find_loser():
            if loser.stored:
                self.kept_slugs.add(loser.slug)
                loser.slug = loser.stored.slug
            else:
                loser.is_left_alone = True

    def share_slug(self, group: list[_Planned], wanted: set[str]) -> None:
        """Let the post that is stored under a slug keep it, otherwise give it to the oldest."""
        slug = group[0].post.slug
        days = Counter(planned.post.date for planned in group)
        _refuse_if(any(days[planned.post.date] > 1 for planned in group if not planned.is_settled))
        stored = [planned for planned in group if planned.stored and planned.stored.slug == slug]
        keeper = (stored or sorted(group, key=_age))[0]
        for planned in group:
            if planned is keeper or planned.is_settled:
                continue
            if planned.stored:
                self.kept_slugs.add(slug)
                planned.slug = planned.stored.slug
            elif planned.post.dated_slug and planned.post.dated_slug not in wanted:
                planned.slug = planned.post.dated_slug
            else:
                planned.is_left_alone = True

    def find_loser(self) -> _Planned | None:
        """Return a post that cannot have its slug, because another article keeps that."""
        active = [planned for planned in self.planned if not planned.is_left_alone]
        moving = [planned for planned in active if not planned.stored or planned.stored.slug != planned.slug]
        moving_articles = [planned.stored for planned in moving]
        staying = {article.slug for article in self.model.articles if article not in moving_articles}
        return next((planned for planned in moving if planned.slug in staying), None)

    # Writing

    def write(self, planned: _Planned) -> None:
        post = planned.post
        article = planned.stored
        if not article:
            is_free = all(post.id != other.id for other in self.model.articles)
            article = Article(
                planned.slug, post.title, post.text, post.id if is_free else None, "pending", edited=False
            )
            self.model.articles.append(article)
            planned.stored = article
        elif not article.source and article.claimed_at is None:
            # A date in the future was set here, unless nobody has decided about the article yet.
            is_source_date = article.status == "pending" or (article.date or 0) <= self.model.now
            article.claimed_at = article.date if is_source_date else None
        article.origin = post.origin
        if not article.edited:
            article.slug, article.title, article.text = planned.slug, post.title, post.text
        is_published_now = article.status == "pending" and post.claim == "published" and self.options.publish
        if is_published_now:
            article.status = "published"
        elif post.claim == "withheld":
            _withhold(article)
        article.claim = post.claim or article.claim
        self.take_date(article, post.date)
        if is_published_now:
            self.model.date_published(article, by_source=True)

    def take_date(self, article: Article, date: int | None) -> None:
        """Take the source's date, unless another one was set here."""
        if date is None:
            return
        is_scheduled = article.status == "published" and article.date is not None and article.date > self.model.now
        if article.date == article.claimed_at:
            if is_scheduled and date < article.date and not self.options.publish:
                return
            article.date = date
        article.claimed_at = date

    def withhold_missing(self) -> None:
        sources = self.sources | self.taken_sources if self.options.unpublish_missing else set()
        for article in self.model.articles:
            if (article.source in sources or article.origin in self.trash) and self.is_free(article):
                _withhold(article)


def _withhold(article: Article) -> None:
    """Hide a published article, unless somebody published it although its source withheld it already."""
    if article.claim != "withheld" and article.status == "published":
        article.status = "pending"
    article.claim = "withheld"


def _has_same_date(stored: Article, post: Post) -> bool:
    return post.date is not None and stored.source_date == post.date


def _age(planned: _Planned) -> int:
    return planned.post.date or 0


def _is_moved(stored: Article, post: Post) -> bool:
    """Return whether a file or row was moved or renamed."""
    is_same = post.has_named_key and stored.title == post.title and _has_same_date(stored, post)
    return is_same and stored.source == post.source


def _has_same_slug_and_system(stored: Article, post: Post) -> bool:
    """Return whether a post was deleted and written anew, or a file or row got another key and date."""
    is_same = stored.slug == post.slug and (stored.title == post.title or not post.has_named_key)
    return is_same and stored.source == post.source


def _has_dated_slug_and_system(stored: Article, post: Post) -> bool:
    return post.dated_slug is not None and _has_same_slug_and_system(stored, replace(post, slug=post.dated_slug))


def _has_same_key(stored: Article, post: Post) -> bool:
    is_same = stored.title == post.title or (post.has_named_key and not _is_other_article(stored, post))
    return is_same and str(stored.origin).partition("/")[2] == post.key


def _is_other_article(stored: Article, post: Post) -> bool:
    """Return whether a file or row took the place of another. If that was edited here, its text says nothing."""
    if not post.has_named_key or stored.edited or stored.title == post.title or stored.text == post.text:
        return False
    return None not in (stored.source_date, post.date) and stored.source_date != post.date


def _brake_hiding(model: Model, before: list[Article], options: ImportOptions) -> None:
    """Refuse to hide many articles of a source, or of the customer's own."""
    public: Counter[str | None] = Counter()
    hidden: Counter[str | None] = Counter()
    for old, new in zip(before, model.articles, strict=False):  # new ones are at the end
        is_known = old.origin != UNKNOWN or new.source
        if old.status == "published" and is_known:
            public[new.source] += 1
            hidden[new.source] += new.status != "published" or old.date <= model.now < new.date
    for source in public:
        _brake(hidden[source], public[source], options)


def _brake(number: int, total: int, options: ImportOptions) -> None:
    _refuse_if(number > 2 and number * 4 > total and not options.yes)


def _refuse_if(condition: bool) -> None:
    if condition:
        raise RefusedError
