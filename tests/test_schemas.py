"""The import schema: which values it accepts and rejects."""

import json

import pytest
from helpers import EXAMPLE
from marshmallow import ValidationError

from schemas import ArticleImportSchema

COMPLETE = EXAMPLE | {
    "title": "Café",
    "slug": "cafe",
    "keywords": ["one", "zwei"],
    "metaDesc": "",
    "publishedAt": "2026-01-31T10:30:00.123456+01:00",
    "readTime": 2.5,
    "schemaMarkup": {"@context": "https://schema.org", "@graph": [{"name": "Ünï"}]},
    "status": "draft",
    "createdAt": "2026-01-31t09:30z",
    "updatedAt": "2026-01-31 09:30:00+00:00",
    "views": 7,
    "authors": ["Ann"],
    "source": "markdown",
    "sourceKey": "2026/cafe",
    "textEdited": True,
    "publicationEdited": False,
}


def load(**fields):
    return ArticleImportSchema().load(fields)


def errors_of(**fields):
    with pytest.raises(ValidationError) as caught:
        load(**COMPLETE | fields)
    return caught.value.messages_dict


def test_complete_article_is_accepted():
    loaded = load(**COMPLETE)
    assert len(loaded) == len(COMPLETE)
    assert loaded["published_at"].isoformat() == "2026-01-31T09:30:00.123000+00:00"
    assert loaded["created_at"] == loaded["updated_at"]
    assert loaded["keywords"] == '["one","zwei"]'
    assert loaded["schema_markup"] == '{"@context":"https://schema.org","@graph":[{"name":"Ünï"}]}'
    assert (loaded["read_time"], loaded["views"], loaded["meta_desc"]) == (2.5, 7, "")


def test_only_title_slug_and_content_are_required():
    required = {name: COMPLETE[name] for name in ("title", "slug", "contentHtml")}
    loaded = load(**required)
    assert "status" not in loaded
    defaults = {"banner_url": "", "category": "", "keywords": "[]", "authors": "[]"}
    expected = {"title": "Café", "slug": "cafe", "content_html": COMPLETE["contentHtml"]} | defaults
    assert expected.items() <= loaded.items()
    assert load(**required | dict.fromkeys(COMPLETE.keys() - required.keys())) == loaded
    assert all(errors_of(**{name: None}).keys() == {name} for name in required)


def markup(*graph):
    return {"@context": "x", "@graph": [*graph]}


def nested(levels):
    return json.loads("[" * levels + "]" * levels)


BAD_VALUES = {
    "id": ["", "a b", "x" * 65, "a\n", 7],
    "title": [7, ["Title"], "a\0b"],
    "slug": ["", "a b", "a/b", "a?b", "a#b", "x" * 201, "a\u00a0b", 7],
    "bannerUrl": [
        *("ftp://example.com/a", "javascript:alert(1)", "/a.jpg", "https://", "http://[::1", "http://a b/", 7),
        *("http://example.com:99999999/", "//example.com/a", "http://x/\n"),
    ],
    "keywords": ["one, two", [1], [None], {"one": 1}, ["a\0b"]],
    "metaTitle": [7, "a\x1fb"],
    "metaDesc": [False, "a\ufffeb"],
    "category": [["News"], "a\0b"],
    "publishedAt": [
        *("2026-01-31", "2026-01-31T09:30:00", "", 1769851800, "2026-02-30T09:30:00Z"),
        *("2026-01-31T09:30:00+25:00", "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00"),
    ],
    "createdAt": ["31.1.2026"],
    "updatedAt": ["now"],
    "readTime": ["3", -1, True, 1e6],
    "contentHtml": [7, "a\0b"],
    "schemaMarkup": [
        *("{}", [], {"@context": "x"}, {"@graph": []}, {"@context": 1, "@graph": []}, {"@context": "x", "@graph": {}}),
        *(markup(node) for node in ("\\\0", nested(260), "</script>", {"</ScRiPt ": 1}, [{"a": {"b": ["a<!--b"]}}])),
    ],
    "status": ["Published", "scheduled", "", 1],
    "views": ["7", -1, 1.5, True, 2**53],
    "source": ["", "a b", "a\x07", 7, None],
    "sourceKey": ["", "a\x07", 7],
    "textEdited": ["true", 1],
    "publicationEdited": ["false", 0],
    "colour": ["unknown field"],
    "Title": ["field names are case-sensitive"],
}
ODD_VALUES = {
    "id": ["x" * 64, "ünï-é", "a/b?c#d"],
    "slug": ["x" * 200, "東京", "%20"],
    "title": ["", "<b>", "a\nb", "</script>"],
    "bannerUrl": ["", "http://localhost:8000/a", "HTTPS://MÜNCHEN.example/ü?q=<>#x", "http://[::1]/a"],
    "keywords": [[], [""], ["a", "a"]],
    "publishedAt": ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"],
    "readTime": [0, 0.5, 999_999.5],
    "contentHtml": ["", "</script>", "<!--"],
    "schemaMarkup": [markup(nested(240)), markup(1, -0.5, 1e100, True, None, "é\u2028<b>", {"ü": []}, "\\u0000")],
    "views": [0, 2**53 - 1],
    "source": ["wordpress:example.com/blog"],
    "sourceKey": ["a b/ü", "/"],
}


@pytest.mark.parametrize("field", BAD_VALUES)
def test_invalid_value_is_rejected(field):
    for value in BAD_VALUES[field]:
        assert list(errors_of(**{field: value})) == [field], value


@pytest.mark.parametrize("field", ODD_VALUES)
def test_unusual_but_valid_value_is_accepted(field):
    for value in ODD_VALUES[field]:
        loaded = load(**COMPLETE | {field: value})
        if field == "schemaMarkup":
            assert json.loads(loaded["schema_markup"]) == value
