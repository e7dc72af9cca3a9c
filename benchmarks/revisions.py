"""Revisions of the soak test's database, and the responses that are correct for each of them.

Every article carries the number of the revision that it belongs to, and consecutive revisions differ in how many
articles are published, so a response shows which revision it was made from. One more article is scheduled for the
far future.
"""

import json
import re
from datetime import datetime
from typing import NamedTuple

from benchmarks.data import article_json
from benchmarks.measure import Response

FAR_FUTURE = datetime(2090, 1, 1)
ARTICLES = 50
MAX_PUBLISHED = 46  # not counting the scheduled article
REVISION = re.compile(rb'"(?:slug|url)":"revision-(\d+)-')
PUBLISHER = re.compile(rb'"publisher":\{"@type":"Organization","name":"([^"]+)"')


class Expectation(NamedTuple):
    """What the service returns for one revision of the database."""

    revision: int
    customer: str  # the publisher in structured data
    key: str  # the only valid key
    is_due: bool = False  # the scheduled article is published
    is_broken: bool = False  # the database may be unreadable

    def allows(self, key: str, response: Response) -> bool:
        """Return whether `response` is correct for a request with this key."""
        if response.status != 200:
            return {401: key != self.key, 503: self.is_broken}.get(response.status, False)
        if key != self.key or set(map(int, REVISION.findall(response.body))) != {self.revision}:
            return False
        try:
            page = json.loads(response.body)
        except ValueError:
            return self.is_broken  # SQLite reads zeros beyond the end of a truncated file
        total = page["meta"]["total"] if "meta" in page else len(page["data"])
        is_complete = total == count_published(self.revision) + self.is_due
        return is_complete and set(PUBLISHER.findall(response.body)) <= {self.customer.encode()}


def count_published(revision: int) -> int:
    """Return the number of published articles in a revision, not counting the scheduled one."""
    return MAX_PUBLISHED - revision % 7


def revision_lines(revision: int) -> list[str]:
    """Return the articles of a revision as JSON Lines."""
    articles = [
        article_json(number)
        | {
            "slug": f"revision-{revision}-{number}",
            "status": "draft" if count_published(revision) <= number < ARTICLES else "published",
            "publishedAt": f"{FAR_FUTURE.isoformat()}Z" if number == ARTICLES else "2026-01-31T09:30:00Z",
            "views": number,
        }
        for number in range(ARTICLES + 1)
    ]
    return [json.dumps(article) + "\n" for article in articles]
