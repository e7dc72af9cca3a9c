"""Tests of both article lists besides those of test_specification.py: searches, error messages, hostile parameters."""

import time

from helpers import LISTS, article_json, assert_problem

FULL, PREVIEW = LISTS


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
