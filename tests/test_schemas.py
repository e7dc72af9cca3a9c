"""What an import takes."""

import json

import orjson
import pytest
from conftest import LISTS, article
from marshmallow import ValidationError

from schemas import ArticleImportSchema

WHOLE = {
    "id": "a-1",
    "title": "Café",
    "slug": "cafe",
    "bannerUrl": "https://www.example.com/a.jpg",
    "keywords": ["one", "zwei"],
    "metaTitle": "Meta",
    "metaDesc": "",
    "publishedAt": "2026-01-31T10:30:00.123456+01:00",
    "category": "News",
    "readTime": 2.5,
    "contentHtml": "<p>Text</p>",
    "schemaMarkup": {"@context": "https://schema.org", "@graph": [{"name": "Ünï"}]},
    "status": "draft",
    "createdAt": "2026-01-31t09:30z",
    "updatedAt": "2026-01-31 09:30:00+00:00",
    "views": 7,
}


def load(**fields):
    return ArticleImportSchema().load(fields)


def faults_of(**fields):
    with pytest.raises(ValidationError) as caught:
        load(**WHOLE | fields)
    return caught.value.messages_dict


def test_it_takes_a_whole_article():
    loaded = load(**WHOLE)
    assert len(loaded) == len(WHOLE)
    assert loaded["published_at"].isoformat() == "2026-01-31T09:30:00.123000+00:00"
    assert loaded["created_at"] == loaded["updated_at"]
    assert loaded["keywords"] == '["one","zwei"]'
    assert loaded["schema_markup"] == '{"@context":"https://schema.org","@graph":[{"name":"Ünï"}]}'
    assert (loaded["read_time"], loaded["views"], loaded["meta_desc"]) == (2.5, 7, "")


def test_title_slug_and_content_are_required_and_all_else_optional():
    required = {name: WHOLE[name] for name in ("title", "slug", "contentHtml")}
    assert load(**required) == {
        "title": "Café",
        "slug": "cafe",
        "content_html": "<p>Text</p>",
        "banner_url": "",
        "category": "",
        "keywords": "[]",
    }
    assert load(**required | dict.fromkeys(WHOLE.keys() - required.keys())) == load(**required)
    for name in required:
        assert faults_of(**{name: None}) == {name: ["Missing data for required field."]}


def test_it_takes_what_the_api_gives(client, save):
    save(*(article(number) for number in range(3)))
    for each in client.get(LISTS[0]).get_json()["data"]:
        load(**each)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("id", ["", "a b", "x" * 65, "a\u2003b", "a\n", 7, True, ["a"], "a\0b"]),
        ("title", [7, ["Title"], {}, "a\0b", True]),
        ("slug", ["", "a b", "a/b", "a?b", "a#b", "x" * 201, "a\n", "a\u00a0b", 7, "a\0"]),
        (
            "bannerUrl",
            ["ftp://example.com/a", "javascript:alert(1)", "/a.jpg", "https://", "http://[::1", "http://a b/"],
        ),
        (
            "bannerUrl",
            [7, "https:// example.com", "http://example.com:99999999/", "//example.com/a", "http://x/\n", "x"],
        ),
        ("keywords", ["one, two", [1], [None], {"one": 1}, [["one"]], ["a\0b"], 7]),
        ("metaTitle", [7, {}]),
        ("metaDesc", [7, False]),
        ("category", [7, ["News"]]),
        (
            "publishedAt",
            ["2026-01-31", "2026-01-31T09:30:00", "yesterday", "", 1769851800, "2026-02-30T09:30:00Z", True],
        ),
        ("publishedAt", ["2026-01-31T09:30:00+25:00", "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", {}]),
        ("createdAt", ["31.1.2026"]),
        ("updatedAt", ["now"]),
        ("readTime", ["3", -1, True, 1e6, [3], -0.001]),
        ("contentHtml", [7, "a\0b", ["<p>"]]),
        ("schemaMarkup", ["{}", [], {}, {"@context": "x"}, {"@graph": []}, {"@context": 1, "@graph": []}, 7]),
        ("schemaMarkup", [{"@context": "x", "@graph": {}}, {"@context": ["x"], "@graph": []}]),
        ("status", ["Published", "scheduled", "", 1, True]),
        ("views", ["7", -1, 1.5, 1.0, True, 2**53 + 1, 1e30]),
        ("author", ["Unknown fields are faults"]),
        ("Title", ["So are fields of another case"]),
    ],
)
def test_it_refuses_what_is_not_as_specified(field, values):
    for value in values:
        assert list(faults_of(**{field: value})) == [field], value


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("id", ["x" * 64, "7", "ünï-é", "a/b?c#d"]),
        ("slug", ["x" * 200, "東京", "a.b_c~d", "%20", "Ünï"]),
        ("title", ["", " ", "<b>", "a\nb", "\U0001f600", "</script>"]),
        (
            "bannerUrl",
            ["", "http://localhost:8000/a", "HTTPS://MÜNCHEN.example/ü?q=<>#x", "http://[::1]/a", "http://u:p@h/"],
        ),
        ("keywords", [[], [""], ["a", "a"]]),
        ("publishedAt", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "2026-W05-6T09:30:00Z"]),
        ("readTime", [0, 0.5, 999_999.5, 3]),
        ("views", [0, 2**53]),
    ],
)
def test_it_takes_what_is(field, values):
    for value in values:
        load(**WHOLE | {field: value})


@pytest.mark.parametrize("text", ["</script>", "</ScRiPt ", "a<!--b"])
def test_structured_data_cannot_break_out_of_a_script(text):
    for graph in ([text], [{text: 1}], [[{"a": {"b": [text]}}]]):
        (reason,) = faults_of(schemaMarkup={"@context": "x", "@graph": graph})["schemaMarkup"]
        assert "</script" in reason
        assert "break out" in reason
    load(**WHOLE | {"contentHtml": text, "title": text})


def test_structured_data_is_nested_250_levels_at_most_so_that_what_holds_it_can_be_written():
    graph = []
    for _ in range(248):
        graph = [graph]
    markup = {"@context": "x", "@graph": graph}
    assert json.loads(load(**WHOLE | {"schemaMarkup": markup})["schema_markup"]) == markup
    orjson.dumps({"data": [{"schemaMarkup": markup}]})
    assert "nested" in faults_of(schemaMarkup=markup | {"@graph": [graph]})["schemaMarkup"][0]


def test_it_refuses_what_is_no_object():
    for value in ([], "text", 7, None, True):
        with pytest.raises(ValidationError, match="Must be an object"):
            ArticleImportSchema().load(value)


def test_it_tells_all_that_is_wrong_at_once():
    assert faults_of(title=1, slug="", views="7", extra=1).keys() == {"title", "slug", "views", "extra"}


def test_numbers_and_text_come_out_of_structured_data_as_they_went_in():
    graph = [1, -0.5, 1e100, True, None, "é\u2028", 2**53, {"ü": []}]
    loaded = load(**WHOLE | {"schemaMarkup": {"@context": "x", "@graph": graph}})
    assert json.loads(loaded["schema_markup"])["@graph"] == graph
