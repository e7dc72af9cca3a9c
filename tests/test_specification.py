"""The specification in plain Python, compared with the service on thousands of generated databases and requests."""

import http.client
import json
import re
import unicodedata
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from conftest import ENDPOINTS, LISTS, PAST, SITEMAP, Server, make_key, url_of
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from app import create_app
from auth import find_or_add_customer
from content import save_articles
from database import begin_write, commit_write, create_tables
from errors import Faults, Place
from models import article_table, db

FULL = LISTS[0]
ALLOWED = {"orderBy": ("createdAt", "publishedAt", "title", "views"), "order": ("asc", "desc")}

# Few values, so that ties and matches are common; words that fold in unlike ways, and the patterns of SQL.
WORDS = [
    "Café",
    "CAFE",
    "cafe\u0301",
    "Straße",
    "STRASSE",
    "ＡＢＣ",
    "abc",
    "Łódź",
    "İstanbul",
    "ﬁn",
    "fin",
    "ΣΑΣ",
    "σας",
]
WORDS += ["東京", "हिन्दी", "100%", "a_b", "\\", "¨", "\u0301", "½", "ǅ"]
texts = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8),
)
names = texts.map(lambda text: re.sub(r"[\s/?#\0-\x1f\x7f-\x9f]", "-", text))
moments = st.sampled_from([PAST, PAST + timedelta(days=1, milliseconds=7), PAST + timedelta(days=1)])
articles = st.fixed_dictionaries(
    {
        "id": names,
        "slug": names,
        "customer": st.sampled_from(["Acme", "Acme", "Other"]),
        "status": st.sampled_from(["published", "published", "published", "draft"]),
        "published_at": moments | st.just(datetime(2099, 1, 1, tzinfo=UTC)),
        "created_at": moments,
        "updated_at": moments,
        "views": st.integers(0, 3),
        "title": texts,
        "banner_url": st.sampled_from(["", "https://www.example.com/ü.jpg"]),
        "category": st.sampled_from(["", "Né\u2028ws"]),
        "keywords": st.lists(texts, max_size=2),
        "meta_title": texts,
        "meta_desc": texts,
        "read_time": st.sampled_from([1.0, 2.5, 10.0]),
        "content_html": texts,
        "schema_markup": st.fixed_dictionaries({"@context": st.just("https://schema.org"), "@graph": st.lists(texts)}),
    }
)
libraries = st.lists(
    articles,
    max_size=12,
    unique_by=(lambda each: (each["customer"], each["id"]), lambda each: (each["customer"], each["slug"])),
)

numbers = st.integers(-2, 12).map(str) | st.sampled_from(
    ["+5", "-0", "007", "100", "101", "5.0", "1e2", "0x10", "1_000", " 5", "5 ", "٥", "", "9" * 30, "-", "+", "five"]
)
queries = texts | st.sampled_from(["", " ", "x" * 200, "x" * 201, "a\0", "cafe  STRASSE", "%", "_", "\\"])
parameters = st.one_of(
    st.tuples(st.just("q"), queries),
    st.tuples(st.sampled_from(["take", "skip"]), numbers),
    st.tuples(st.just("orderBy"), st.sampled_from([*ALLOWED["orderBy"], "Title", "id", "", "views "])),
    st.tuples(st.just("order"), st.sampled_from([*ALLOWED["order"], "ASC", "", "down"])),
    st.tuples(st.sampled_from(["_", "Take", "limit", "q[]", "fields"]), texts),
)
requests = st.tuples(st.sampled_from(ENDPOINTS), st.lists(parameters, max_size=5))


def folded(text):
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(each for each in decomposed if unicodedata.combining(each) == 0).casefold()


def moment(value):
    return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03}Z"


def preview(each):
    return {
        "title": each["title"],
        "slug": each["slug"],
        "bannerUrl": each["banner_url"],
        "publishedAt": moment(each["published_at"]),
        "readTime": int(each["read_time"]) if each["read_time"].is_integer() else each["read_time"],
        "category": each["category"],
        "keywords": each["keywords"],
    }


def full(each):
    short = preview(each)
    return {
        "id": each["id"],
        "title": short["title"],
        "slug": short["slug"],
        "bannerUrl": short["bannerUrl"],
        "keywords": short["keywords"],
        "metaTitle": each["meta_title"],
        "metaDesc": each["meta_desc"],
        "publishedAt": short["publishedAt"],
        "category": short["category"],
        "readTime": short["readTime"],
        "contentHtml": each["content_html"],
        "schemaMarkup": each["schema_markup"],
    }


def bad_parameters(given_):
    """Give the names of the parameters of a list request that are not as they should be."""
    ranges = {"take": (1, 100), "skip": (0, float("inf"))}
    for name, value in given_.items():
        if name in ranges:
            low, high = ranges[name]
            if not re.fullmatch("[+-]?[0-9]+", value) or not low <= int(value) <= high:
                yield name
        elif name in ALLOWED:
            if value not in ALLOWED[name]:
                yield name
        elif name == "q" and (len(value) > 200 or "\0" in value):
            yield name


def answer_of(path, pairs, library):
    """Give what the service has to answer: its body, or the names of the bad parameters."""
    now = datetime.now(UTC)
    mine = [each for each in library if each["customer"] == "Acme"]
    published = [each for each in mine if each["status"] == "published" and each["published_at"] <= now]
    if path == SITEMAP:
        entries = [
            {"url": each["slug"], "lastmod": max(each["updated_at"], each["published_at"]).strftime("%Y-%m-%d")}
            for each in published
        ]
        return {"data": sorted(entries, key=lambda entry: entry["url"])}
    given_ = dict(reversed(pairs))  # of a parameter given twice, the first counts
    bad = set(bad_parameters(given_))
    if bad:
        return bad
    words = [folded(word) for word in given_.get("q", "").split()]
    found = [
        each
        for each in published
        if all(not word.strip() or any(word in folded(each[field]) for field in ("title", "slug")) for word in words)
    ]
    by = {
        "createdAt": lambda each: each["created_at"],
        "publishedAt": lambda each: each["published_at"],
        "title": lambda each: folded(each["title"]),
        "views": lambda each: each["views"],
    }[given_.get("orderBy", "publishedAt")]
    found.sort(key=lambda each: (by(each), each["id"]), reverse=given_.get("order", "desc") == "desc")
    take, skip = int(given_.get("take", "50")), int(given_.get("skip", "0"))
    page = found[skip : skip + take]
    return {
        "data": [(full if path == FULL else preview)(each) for each in page],
        "meta": {"total": len(found), "take": len(page), "skip": skip},
    }


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """The running service, and what stocks its database, by way of an application of its own."""
    database = tmp_path_factory.mktemp("specification") / "articles.db"
    app = create_app({"DATABASE_URL": url_of(database)})
    with app.app_context():
        create_tables()
    key = make_key(app, "Acme")
    server = Server(database, LOG_LEVEL="warning")
    connection = http.client.HTTPConnection(server.host, server.port, timeout=20)

    def ask(path):
        connection.request("GET", path, headers={"x-api-key": key})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    yield app, ask
    connection.close()
    assert server.stop() == 0
    assert server.log() == ""


def stock(app, library):
    """Let the database hold these articles, and no others."""
    with app.app_context():
        begin_write()
        db.session.execute(delete(article_table))
        for name in ("Acme", "Other"):
            rows = [
                {column: value for column, value in each.items() if column != "customer"}
                | {"keywords": dumps(each["keywords"]), "schema_markup": dumps(each["schema_markup"])}
                for each in library
                if each["customer"] == name
            ]
            faults = Faults()
            save_articles(find_or_add_customer(name), [(Place("test"), row) for row in rows], faults)
            faults.raise_any()
        commit_write()
        db.engine.dispose()


def dumps(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@settings(
    max_examples=250,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(library=libraries, asked=st.lists(requests, min_size=10, max_size=20))
@example(library=[], asked=[(path, []) for path in ENDPOINTS])
def test_every_answer_is_what_the_specification_says(service, library, asked):
    app, ask = service
    stock(app, library)
    for path, pairs in asked:
        expected = answer_of(path, pairs, library)
        for _ in range(2):  # made, and then from the cache
            status, body = ask(f"{path}?{urlencode(pairs)}")
            if isinstance(expected, set):
                assert (status, set(json.loads(body)["errors"])) == (400, expected)
            else:
                assert (status, body) == (200, dumps(expected))
        event("refused" if isinstance(expected, set) else "empty" if not expected["data"] else "articles")
