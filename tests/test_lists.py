"""Tests of both article lists besides those of test_specification.py: searches, error messages, hostile parameters."""

import time

import pytest
from helpers import LISTS, article_json, assert_problem

FULL, PREVIEW = LISTS


@pytest.fixture
def total(client, save):
    """Return how many articles a search finds in a list of one."""
    save(article_json(1, title="Café Latte: 100% a\\b Straße", slug="café-latte-100"))

    def total(q):
        page = client.get(PREVIEW, query_string={"q": q}).get_json()
        assert page["meta"]["total"] == len(page["data"])
        return len(page["data"])

    return total


def test_search_ignores_case_accents_and_word_order(total):
    for q in ("cafe", "CAFÉ", "cafe\u0301", "lat é", "café-latte-100", "latte cafe", "strasse", "STRAẞE"):
        assert total(q) == 1, q
    for q in ("  cafe\u3000latte ", "latte\ncafe", "", "   ", "\u0301\u0301"):  # space of any kind, or only marks
        assert total(q) == 1, q
    for q in ("100%", "100％", "a\\b", "a＼b"):  # full-width forms too
        assert total(q) == 1, q
    for q in ("caf%", "caf_", "latteslug", "strassecafe", "😀"):  # the end of the title and the start of the slug
        assert total(q) == 0, q


def test_search_may_have_a_hundred_words(client, save):
    words = [chr(0x4E00 + number) for number in range(100)]
    save(article_json(1, title="".join(words) + "x" * 200))
    for q in (" ".join(words), "x" * 200):
        assert client.get(PREVIEW, query_string={"q": q}).get_json()["meta"]["total"] == 1


def test_error_says_which_values_a_parameter_may_have(client):
    problem = assert_problem(client.get(FULL + "?take=x&skip=x&order=x&orderBy=x&q=" + "x" * 201), 400)
    messages = {name: message for name, (message,) in problem["errors"].items()}
    assert messages == {
        "q": "Must be 200 characters or fewer.",
        "take": "Must be a whole number, 1 to 100.",
        "skip": "Must be a whole number, 0 to 9007199254740991.",
        "orderBy": "Must be one of: createdAt, publishedAt, title, views.",
        "order": "Must be one of: asc, desc.",
    }


def test_skip_may_be_any_safe_integer_of_json(client, save):
    save(article_json(1))
    response = client.get(FULL, query_string={"skip": 2**53 - 1})
    assert response.get_json() == {"data": [], "meta": {"total": 1, "take": 0, "skip": 2**53 - 1}}
    for skip in (2**53, 2**63, "9" * 5000, "-1", "-" + "9" * 5000, "+" + "0" * 5000 + "x"):
        problem = assert_problem(client.get(FULL, query_string={"skip": skip}), 400)
        assert problem["errors"] == {"skip": ["Must be a whole number, 0 to 9007199254740991."]}


def test_long_number_is_parsed_in_linear_time(client):
    """A pattern that is tried again from each of the zeros takes a second for one request."""
    began = time.monotonic()
    for _ in range(20):
        assert_problem(client.get(FULL, query_string={"take": "0" * 50_000 + "x"}), 400)
    assert time.monotonic() - began < 5
    assert client.get(FULL, query_string={"take": "0" * 50_000 + "7"}).status_code == 200


def test_bytes_that_are_not_utf_8_are_no_error(client, save):
    save(article_json(1))
    assert client.get(PREVIEW + "?q=%ff%fe").get_json()["meta"]["total"] == 0
    assert client.get(PREVIEW + "?q=%ED%A0%80").status_code == 200
    assert client.get(PREVIEW + "?%ff=%00&q").status_code == 200
