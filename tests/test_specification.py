"""Compare the service with a plain Python model of the specification, on generated databases and requests."""

import json
import re
import unicodedata
from datetime import UTC, datetime, timedelta
from functools import cache
from operator import itemgetter
from urllib.parse import urlencode

import pytest
from helpers import ENDPOINTS, EXAMPLE, FULL_FIELDS, PAST, PREVIEW_FIELDS, article_json, iso
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

FULL, PREVIEW, SITEMAP = ENDPOINTS
RANGES = {"take": (1, 100), "skip": (0, 2**53 - 1)}
TEXTS = "q", "slug", "category", "keyword"
ALLOWED = {"orderBy": ("createdAt", "publishedAt", "title", "views"), "order": ("asc", "desc")}

# few values, so ties and matches are common; words with special case folding; SQL wildcards
WORDS = ["Café", "CAFE", "cafe\u0301", "Straße", "STRASSE", "ＡＢＣ", "abc", "Łódź", "İstanbul", "ﬁn", "fin", "ΣΑΣ"]
WORDS += ["σας", "東京", "हिन्दी", "100%", "a_b", "\\", "¨", "\u0301", "½", "ǅ", "don’t", "don't", "a–b", "ca\u00adfe"]
WORDS += ["“abc”", "fin?", "(a_b),", "?!"]
texts = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8),
)
names = texts.map(lambda text: re.sub(r"[\s/?#\0-\x1f\x7f-\x9f]", "-", text))
labels = texts.map(lambda text: re.sub(r"[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "-", text))  # rejected by import
times = st.sampled_from([PAST, PAST + timedelta(days=1, milliseconds=7), PAST + timedelta(days=1)]).map(iso)
articles = st.fixed_dictionaries(
    {name: st.just(EXAMPLE[name]) for name in FULL_FIELDS.split()}
    | {
        "id": names,
        "slug": names,
        "status": st.sampled_from(["published", "published", "published", "draft"]),
        "publishedAt": times | st.just("2099-01-01T00:00:00.000Z"),
        "createdAt": times,
        "updatedAt": times,
        "views": st.integers(0, 3),
        "title": labels,
        "bannerUrl": st.sampled_from(["", "https://www.example.com/ü.jpg"]),
        "category": st.sampled_from(["", "Né\u2028ws"]),
        "keywords": st.lists(labels, max_size=2),
        "metaTitle": labels | st.just(""),
        "metaDesc": labels | st.just(""),
        "readTime": st.sampled_from([0.0, 1.0, 2.5, 10.0]),
        "contentHtml": texts | st.just(""),
        # import rejects text that could end a script element
        "schemaMarkup": st.lists(texts.map(lambda text: re.sub("<(?=[/!])", "<.", text))).map(
            lambda graph: {"@context": "https://schema.org", "@graph": graph}
        ),
    }
)
libraries = st.lists(articles, max_size=10, unique_by=(itemgetter("id"), itemgetter("slug")))

NUMBERS = ["+5", "-0", "+0", "007", "100", "0" * 6000 + "7", *map(str, (2**53 - 1, 2**53, 2**63, 10**30, 10**4000))]
NOT_NUMBERS = ["101", "-1", "5.0", "1e2", "0x10", "1_000", " 5", "5 ", "٥", "５", "", "--5", "-", "+", "five", "5\0"]
numbers = st.integers(-2, 12).map(str) | st.sampled_from(NUMBERS + NOT_NUMBERS)
queries = texts | st.sampled_from(["", " ", "x" * 200, "x" * 201, "a\0", "cafe  STRASSE", "%", "_", "\\"])
parameters = st.one_of(
    st.tuples(st.just("q"), queries),
    st.tuples(st.sampled_from(["take", "skip"]), numbers),
    st.tuples(st.just("orderBy"), st.sampled_from([*ALLOWED["orderBy"], "published_at"])),
    st.tuples(st.just("order"), st.sampled_from([*ALLOWED["order"], "ASC"])),
    # likely to match a generated article
    st.tuples(st.sampled_from(["slug", "keyword"]), names | labels | queries),
    st.tuples(st.just("category"), st.sampled_from(["", "Né\u2028ws", "né\u2028ws", "x" * 201, "a\0"])),
    st.tuples(st.sampled_from(["_", "Take", "limit", "q[]", "fields", "Slug", "tag"]), texts),
)
# each number and choice alone, and all errors at once
SYNTAX = [[(name, number)] for name in ("take", "skip") for number in NUMBERS + NOT_NUMBERS]
SYNTAX += [
    [(name, value)] for name in ALLOWED for value in ("", "ASC", "Title", "published_at", "id", "views ", "title;--")
]
SYNTAX += [[(name, text) for name in (*TEXTS, "take", "skip", "orderBy", "order")] for text in ("a\0", "x" * 201)]
SYNTAX += [[(name, "x" * 200)] for name in TEXTS] + [[("take", "3"), ("take", "x")]]
# words in any order, wildcards, all kinds of whitespace, lone combining marks, a hundred words
HUNDRED_WORDS = [chr(0x4E00 + number) for number in range(100)]
SEARCHED = [
    EXAMPLE | article_json(1, title="Café Latte: 100% a\\b Straße 한국", slug="café-latte-100", readTime=2.5),
    EXAMPLE | article_json(2, title="".join(HUNDRED_WORDS) + "x" * 155, readTime=2.5),
]
SEARCHES = ["CAFÉ", "cafe\u0301", "lat é", "latte cafe", "STRAẞE", "  cafe\u3000latte ", "latte\ncafe", "\u0301\u0301"]
SEARCHES += ["STRASSE", "한", '"latte" cafe?', "(café), «latte»", "!", '"\u00b4"', "“”", "c++"]
SEARCHES += ["100％", "a\\b", "a＼b", "caf%", "caf_", "strassecafe", "xslug", "\u4e00 ´", " ".join(HUNDRED_WORDS)]
requests = st.tuples(st.sampled_from(ENDPOINTS), st.lists(parameters, max_size=5))


@cache
def folded(text):
    decomposed = unicodedata.normalize("NFKD", text)
    visible = [c for c in decomposed if unicodedata.combining(c) == 0 and unicodedata.category(c) != "Cf"]
    quoted = re.sub("[\u201c-\u201f]", '"', re.sub("[\u2018-\u201b]", "'", "".join(visible)))
    return re.sub("[\u2010-\u2015\u2212]", "-", quoted).casefold()


def searched(word):
    """Return a word of q, folded, without punctuation at its ends unless nothing else remains."""
    ends = "[\"'«»‹›.,;:!?()]*"
    inner = re.fullmatch(f"{ends}(.*?){ends}", folded(word), re.DOTALL)[1]
    return inner if inner.strip() else folded(word)


def rendered(article, path):
    minutes = article["readTime"]
    shown = article | {"readTime": int(minutes) if minutes.is_integer() else minutes}
    return {name: shown[name] for name in (FULL_FIELDS if path == FULL else PREVIEW_FIELDS).split()}


def as_number(text):
    """Parse a number without its leading zeros: `int` accepts at most 4,300 digits."""
    return int(text[:1].strip("0123456789") + (text.lstrip("+-0") or "0"))


def is_valid(name, value):
    """Return whether a list accepts this parameter."""
    if name in RANGES:
        low, high = RANGES[name]
        return bool(re.fullmatch("[+-]?[0-9]+", value)) and low <= as_number(value) <= high
    if name in TEXTS:
        return len(value) <= 200 and "\0" not in value
    return value in ALLOWED.get(name, [value])


def expected_response(path, pairs, library):
    """Return the expected body, or the names of the invalid parameters."""
    now = iso(datetime.now(UTC))
    published = [article for article in library if article["status"] == "published" and article["publishedAt"] <= now]
    if path == SITEMAP:
        published.sort(key=itemgetter("slug"))
        return {"data": [{"url": a["slug"], "lastmod": max(a["updatedAt"], a["publishedAt"])[:10]} for a in published]}
    query = dict(reversed(pairs))  # of a repeated parameter, the first value is used
    if bad := {name for name, value in query.items() if not is_valid(name, value)}:
        return bad
    words = [searched(word) for word in query.get("q", "").split() if folded(word).strip()]
    found = [
        article
        for article in published
        if all(any(word in folded(article[field]) for field in ("title", "slug")) for word in words)
        and all(query.get(name, article[name]) == article[name] for name in ("slug", "category"))
        and ("keyword" not in query or query["keyword"] in article["keywords"])
    ]
    order_by = query.get("orderBy", "publishedAt")

    def sort_key(article):
        return folded(article["title"]) if order_by == "title" else article[order_by], article["id"]

    found.sort(key=sort_key, reverse=query.get("order", "desc") == "desc")
    take, skip = as_number(query.get("take", "50")), as_number(query.get("skip", "0"))
    page = found[skip : skip + take]
    return {
        "data": [rendered(article, path) for article in page],
        "meta": {"total": len(found), "take": len(page), "skip": skip},
    }


@pytest.fixture
def check_responses(client, save, sql):
    """Return a function that replaces all articles, and compares responses with the model."""

    def check_responses(library, sent):
        sql("DELETE FROM article")
        if library:
            save(*library)
        for path, pairs in sent:
            expected = expected_response(path, pairs, library)
            for _ in range(2):  # a cache miss, then a hit
                response = client.get(path, query_string=urlencode(pairs))
                if isinstance(expected, set):
                    assert (response.status_code, response.get_json()["errors"].keys()) == (400, expected)
                else:
                    body = json.dumps(expected, ensure_ascii=False, separators=(",", ":"))
                    assert (response.status_code, response.text) == (200, body)

    return check_responses


EXAMPLES = {
    "no articles": ([], [(path, []) for path in ENDPOINTS]),
    "syntax": ([], [(FULL, pairs) for pairs in SYNTAX]),
    "searches": (SEARCHED, [(PREVIEW, [("q", q)]) for q in SEARCHES]),
}


@pytest.mark.parametrize(("library", "sent"), EXAMPLES.values(), ids=EXAMPLES)
def test_responses_to_examples_match_the_model(check_responses, library, sent):
    check_responses(library, sent)


generated = given(library=libraries, sent=st.lists(requests, min_size=10, max_size=20))
RELAXED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


# shrinking a failure can take minutes, so only the slow test does it
@settings(max_examples=8, phases=[Phase.generate], deadline=None, database=None, suppress_health_check=RELAXED)
@generated
def test_generated_responses_match_the_model(check_responses, library, sent):
    check_responses(library, sent)


@pytest.mark.slow
@settings(max_examples=250, deadline=None, database=None, suppress_health_check=RELAXED)
@generated
def test_more_generated_responses_match_the_model(check_responses, library, sent):
    check_responses(library, sent)
