"""Front matter: field aliases, dates, publication, slugs, invalid values, and unknown fields."""

import re
from datetime import UTC
from unicodedata import normalize
from zoneinfo import ZoneInfo

import pytest
from importer import SITE, post

from converters.claims import NO_DATE, NOT_UNDERSTOOD
from converters.markdown import read_folder
from converters.source_articles import UNKNOWN_FIELDS, SourceOptions

BANNER = "https://a.example/a.jpg"


# Fields


FIELDS = [
    ("metaDesc", "In short", ["excerpt: In short"]),
    ("keywords", ["one", "two words"], ["tags: one, two words", "tags: one|two words"]),
    ("keywords", ["1", "Two, too"], ["tags: [1, 'Two, too']", "tags: [{name: 1}, {name: 'Two, too'}]"]),
    ("keywords", ["b", "a", "Food"], ["tags: [b, a]\ncategories: News, a, Food", "tags: [b, a]\ncategory: [X, Food]"]),
    ("category", "News", ["categories: [News, Food]", "categories: X\ncategory: News", "category: {name: News}"]),
    ("bannerUrl", "https://a.example/a%20b.jpg", ["cover: https://a.example/a b.jpg", "image: //a.example/a b.jpg"]),
    (
        "bannerUrl",
        BANNER,
        [f"images: ['{BANNER}']", f"image: {{src: '{BANNER}', alt: x}}", f"cover: {{image: '{BANNER}'}}"],
    ),
    ("publishedAt", "2050-01-01T00:00:00.000Z", ["publishDate: 2050-01-01\npublished: 2023-01-01"]),
    ("slug", "menu-spring-menu", ["slug: /menu/spring menu/"]),
    ("slug", "menu", ["slug: me\u200bnu"]),
    ("slug", "007", ["slug: 007"]),
    ("title", "No", ["title: No"]),
    ("authors", ["Doe, Jane"], ["author: Doe, Jane", "author: {name: 'Doe, Jane', email: x}"]),
    ("authors", ["B", "A"], ["authors: [B, A]\nauthor: C"]),
]


@pytest.mark.parametrize(("field", "value", "front_matter"), FIELDS)
def test_field_aliases_are_recognized(importer, field, value, front_matter):
    for fields in front_matter:
        title = "" if field == "title" else "title: A\n"
        importer.imports({"a.md": f"---\n{title}date: 2026-01-01\n{fields}\n---\nx\n"})
        assert list(importer.values(field).values()) == [value]


def test_booleans_and_numbers_of_toml_are_text_as_typed(importer):
    fields = "title = true\ncategory = 1.50\ntags = [false, 7]\nreadTime = 4\ndraft = false\ndate = 2026-01-01"
    assert importer.imports({"a.md": f"+++\n{fields}\n+++\nx"}) == ""
    expected = {"title": "true", "category": "1.50", "keywords": ["false", "7"], "readTime": 4, "status": "published"}
    assert importer.only().items() >= expected.items()


# Dates


DATES = {  # read in Los Angeles
    "2022-07-08T07:00:00.000Z": ["Jul 08 2022", "July 8, 2022", "Jul 8, 2022"],
    "2025-12-31T23:00:00.000Z": ["2025/12/31 23:00:00 UTC", "20251231T230000Z", "2025-12-31T23:00Z"],
    "2026-03-01T08:00:00.000Z": ["2026-03-01", "2026/3/1", "01.03.2026", "Sun, 01 Mar 2026 08:00:00 GMT"],
    "2026-03-01T09:00:00.000Z": ["2026-03-01 10:00:00 +0100", "Sun, 01 Mar 2026 10:00:00 +0100"],
    "2026-03-01T18:00:00.000Z": ["1.03.2026 10:00", "2026-03-01 10:00", "March 1, 2026 10:00 AM"],
    "2026-07-01T17:00:30.500Z": ["2026-07-01 10:00:30.5"],
    "2026-11-01T08:30:00.000Z": ["2026-11-01 01:30"],  # ambiguous: the earlier instant
}


def test_dates_of_every_format_are_parsed_in_the_time_zone(importer):
    expected = {text: moment for moment, texts in DATES.items() for text in texts}
    importer.write({f"md/{n}.md": f'---\ntitle: "{text}"\ndate: "{text}"\n---\n' for n, text in enumerate(expected)})
    importer.imports("md", "--timezone", "America/Los_Angeles")
    assert {article["title"]: article["publishedAt"] for article in importer.articles().values()} == expected


def test_site_and_time_zone_default_to_the_settings(app, importer, monkeypatch):
    importer.write({"a.md": "---\ntitle: A\ndate: 2026-01-01 08:00\n---\n[b](/b)"})
    importer.imports("a.md", "--site", SITE, "--timezone", "Europe/Berlin")
    monkeypatch.setitem(app.config, "SITE_URL", SITE)
    monkeypatch.setitem(app.config, "TIMEZONE", ZoneInfo("Europe/Berlin"))
    assert importer.run("import", "a.md").stdout == "0 new, 0 changed, 1 unchanged\n"


def test_invalid_site_or_time_zone_is_a_usage_error(importer):
    options = "--site www.example.com", "--timezone Mars/Base", "--timezone ../x"
    assert [importer.run("import", {"a.md": post()}, *option.split()).exit_code for option in options] == [2] * 3


# Publication


DATED = "date: 2026-01-01\n"
CLAIMS = {
    "withheld": [
        *("draft: TRUE", "draft: 1", "Draft?: yes", "is-draft: true", "private: true", "hidden: on", "unlisted: true"),
        *("archived: true", "published: no", "publish: 0", "public: false", "visible: no", "live: 0", "active: off"),
        *("online: false", "enabled: n", "status: Draft", "status: pending", "state: draft", "state: 0"),
        *("draft: false\nstatus: draft", "archived: true\npublished: true", "expiryDate: 2026-02-01"),
        *(f"{DATED}draft: true", f"{DATED}public: false", f"{DATED}status: draft"),
    ],
    "published": [
        *(f"{DATED}{field}" for field in ("", "draft: 'off'", "draft:", "private: false", "public: true", "state: TX")),
        *("published: y", "publish: 1", "Status: PUBLISHED", "status: live", "state: 1"),
    ],
    None: ["draft: false", "public: true", "lastmod: 2026-01-01", "state: in review"],
}
UNCLEAR = [
    "draft: maybe",
    "draft: [true]",
    "archived: x",
    "publish: soon",
    "public: 2",
    "status: in review",
    "state: -2",
]


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a file's front matter, and returns the article."""

    def read(fields):
        (tmp_path / "a.md").write_text(f"---\ntitle: A\n{fields}\n---\n")
        (article,) = read_folder(str(tmp_path / "a.md"), SourceOptions("", UTC), lambda *_: None)
        assert article.problems == []
        return article

    return read


def details(article, kind):
    return [note.detail for note in article.notes if note.kind == kind]


@pytest.mark.parametrize("claim", CLAIMS)
def test_dates_and_statements_decide_about_publication(read, claim):
    for fields in CLAIMS[claim]:
        article = read(fields)
        assert (article.claim, details(article, NOT_UNDERSTOOD)) == (claim, []), fields
        assert details(article, NO_DATE) == ([] if claim else [""])
        assert ("publishedAt" in article.fields) == fields.startswith(DATED)


@pytest.mark.parametrize("field", UNCLEAR)
def test_statement_that_is_not_understood_withholds(read, field):
    article = read(f"{DATED}{field}")
    assert article.claim == "withheld"
    assert [detail.partition(":")[0] for detail in details(article, NOT_UNDERSTOOD)] == [field.partition(":")[0]]


SUSPICIOUS = [
    *("permalink: false", "listed: No", "dg-publish: false", "featured: true", "access: Members"),
    *("goLiveAt: 2099-01-01 08:00", "expiryDate: 2999-01-01", "params.draft: true", "roles.is: members"),
]
HARMLESS = ["build: {render: never}", "state: TX", "revised: 2020-01-01", "weight: 0", "layout: post", "series: ''"]


def test_unknown_fields_that_may_have_hidden_it_are_reported(read):
    nested = {
        "params.draft: true": "params: {draft: true, weight: 1}",
        "roles.is: members": "roles: [chef, {is: members}]",
    }
    fields = (nested.get(field, field) for field in (*SUSPICIOUS, *HARMLESS))
    article = read("\n".join(["date: 2026-01-01", *fields]))
    assert article.claim == "published"
    assert sorted(details(article, UNKNOWN_FIELDS)) == sorted(SUSPICIOUS)


# Invalid values


INVALID = [
    *("publishDate: soon", "lastmod: {a: b}", "title: [a, b]", "date: 2026-02-29", "date: 2026-03-01 08:00 CET"),
    "date: 2026-03-29 02:30",  # nonexistent in Berlin
]
ODD = [
    *("description: {a: b}", "tags: [[a]]", "categories: [[a]]", "readTime: 4 min", "views: 1.000", "author: [{a: 1}]"),
    *("schemaMarkup: {a: b}", 'section: "a\\x01"', "labels: {slug: a}", "image: true"),
    *("image: heroPicture", "image: '[[a.png]]'", "image: '@assets/a.png'", "image: [[]]"),
]


@pytest.mark.parametrize("field", INVALID)
def test_invalid_title_or_date_is_an_error_that_names_the_field(importer, field):
    title = "" if field.startswith("title") else "title: A\n"
    text = f"---\n{title}created: 2026-01-01\n{field}\n---\n"
    (line,) = importer.rejects({"a.md": text}, "--timezone", "Europe/Berlin").splitlines()
    assert line.startswith(f"a.md, slug 'a': {field.partition(' ')[0]} ")


def test_odd_values_of_other_fields_are_left_out_and_reported(importer):
    printed = importer.imports({f"a/{number}.md": post(field) for number, field in enumerate(ODD)}, "--site", SITE)
    for field in ODD:
        assert re.search(rf"not understood.* {field.partition(':')[0]} \(\d\): ", printed), field


# Slugs


SLUGS = {
    "हिन्दी ไทย": "हिन्दी-ไทย",
    "がぎぐ パン": "がぎぐ-パン",
    "Łódź – Žižkov & Straße? Да!": "łodz-zizkov-straße-да",
    "☕️ Coffee 1️⃣": "coffee-1",
    "In\u200bvisible": "invisible",
    "menu " * 50: "-".join(["menu"] * 34),
}


def test_slug_from_a_title_keeps_the_words_of_every_script(importer):
    rows = [f"{normalize('NFD', title)};x\n" for title in SLUGS]
    importer.imports({"a.csv": "title;body\n" + "".join(rows)})
    assert set(importer.articles()) == {normalize("NFC", slug) for slug in SLUGS.values()}
