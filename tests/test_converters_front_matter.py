"""Front matter: field aliases, dates, publication, slugs, invalid values, and reports of unused fields."""

import re
from datetime import UTC
from unicodedata import normalize
from zoneinfo import ZoneInfo

import pytest
from importer import SITE, post

from converters import note_kinds
from converters.articles import SourceOptions
from converters.markdown import read_folder

BANNER = "https://a.example/a.jpg"


# Fields


FIELDS = [
    ("metaDesc", "In short", ["excerpt: In short", "summary: In short"]),
    ("keywords", ["one", "two words"], ["tags: one, two words"]),
    ("keywords", ["1", "true", "x"], ["tags: [1, true, x]"]),
    ("keywords", ["One", "Two, too"], ["tags: [{name: One}, {name: 'Two, too'}]"]),
    ("keywords", ["b", "a", "Food"], ["tags: [b, a]\ncategories: News, a, Food", "tags: [b, a]\ncategory: [X, Food]"]),
    ("category", "News", ["categories: [News, Food]", "categories: X\ncategory: News", "category: {name: News}"]),
    ("bannerUrl", "https://a.example/a%20b.jpg", ["cover: https://a.example/a b.jpg"]),
    ("bannerUrl", "https://cdn.example/a.jpg", ["image: //cdn.example/a.jpg"]),
    (
        "bannerUrl",
        BANNER,
        [f"featured_image: {BANNER}", f"images: ['{BANNER}']", f"image: {{src: '{BANNER}', alt: x}}"],
    ),
    ("bannerUrl", BANNER, [f"hero: {{image: {{url: '{BANNER}'}}}}"]),
    ("publishedAt", "2026-01-02T00:00:00.000Z", ["publishDate: 2026-01-02"]),
    ("slug", "menu-spring-menu", ["slug: /menu/spring menu/"]),
    ("slug", "menu", ["Slug: menu"]),
]


@pytest.mark.parametrize(("field", "value", "front_matter"), FIELDS)
def test_field_aliases_are_recognized(importer, field, value, front_matter):
    for fields in front_matter:
        assert "slug" not in importer.imports({"a.md": post(fields)})
        assert list(importer.values(field).values()) == [value]


def test_titles_stay_as_typed(importer):
    title = "«\xa0Option<T> & Result<T, E>\xa0» with <b> &lt;tags&gt;"
    importer.imports({"a.md": f'---\ntitle: "{title}"\n---\n'})
    assert importer.only()["title"] == title


def test_false_unsets_an_optional_field(importer):
    fields = "".join(f"{name}: false\n" for name in ("category", "tags", "image", "description", "authors"))
    assert importer.imports({"a.md": post(fields)}, "--site", SITE) == ""
    assert {"false"}.isdisjoint(map(str, importer.only().values()))


def test_booleans_and_numbers_of_toml_are_text_as_typed(importer):
    fields = "title = true\ncategory = 1.50\ntags = [false, 7]\nreadTime = 4\ndraft = false\ndate = 2026-01-01"
    assert importer.imports({"a.md": f"+++\n{fields}\n+++\n"}) == ""
    expected = {"title": "true", "category": "1.50", "keywords": ["false", "7"], "readTime": 4, "status": "published"}
    assert importer.only().items() >= expected.items()


# Dates


DATES = {  # read in Los Angeles
    "2022-07-08T07:00:00.000Z": ["Jul 08 2022", "July 8, 2022"],
    "2025-12-31T08:00:00.000Z": ["31-Dec-25", "2025-12-31"],
    "2025-12-31T08:05:00.000Z": ["31 Dec 2025 12:05 am"],
    "2025-12-31T23:00:00.000Z": ["2025/12/31 23:00:00 UTC", "20251231T230000Z"],
    "2026-01-01T04:00:00.000Z": [
        *("Wed Dec 31 2025 23:00:00 GMT-0500 (Eastern Standard Time)", "Wednesday, December 31st, 2025 at 8 p.m."),
    ],
    "2026-03-01T08:00:00.000Z": ["2026-03-01", "01.03.26", "2026-03-01T08:00:00Z", "Sun, 01 Mar 2026 08:00:00 GMT"],
    "2026-03-01T09:00:00.000Z": ["2026-03-01 10:00:00 +01:00", "Sun, 01 Mar 2026 10:00:00 +0100"],
    "2026-03-01T18:00:00.000Z": ["1.03.2026 10:00", "01.03.2026 10", "2026-03-01 10:00", "2026-03-01 1000"],
    "2026-07-01T17:00:30.500Z": ["2026-07-01 10:00:30.5"],
    "2026-11-01T08:30:00.000Z": ["2026-11-01 01:30"],  # ambiguous: the earlier instant
}


def test_dates_of_every_format_are_parsed_in_the_time_zone(importer):
    expected = {text: moment for moment, texts in DATES.items() for text in texts}
    importer.write({f"md/{n}.md": f'---\ntitle: "{text}"\ndate: "{text}"\n---\n' for n, text in enumerate(expected)})
    importer.write({"a.csv": "slug;title;date;body\n" + "".join(f"s{n};{t};{t};x\n" for n, t in enumerate(expected))})
    for source in ("md", "a.csv"):
        importer.imports(source, "--timezone", "America/Los_Angeles")
        assert {article["title"]: article["publishedAt"] for article in importer.articles().values()} == expected


def test_article_without_a_date_is_pending_or_keeps_its_date(importer):
    printed = importer.imports({"a/2026-01-01-named.md": "---\ntitle: A\n---\n", "a/none.md": "---\ntitle: B\n---\n"})
    assert re.search("No date.* \\(1\\): none\n", printed)
    assert importer.states() == {"none": "pending", "named": "published"}
    assert importer.values("publishedAt")["named"] == "2026-01-01T00:00:00.000Z"
    importer.run("publish", "none")
    importer.imports({"a/none.md": "---\ntitle: C\n---\n"})
    assert (importer.values("title")["none"], importer.states()["none"]) == ("C", "published")


def test_latest_of_several_dates_is_used(importer):
    dates = [("2026-01-02", "published: Jan 2, 2026"), ("2026-01-02", "publish_date: 2026-03-01")]
    dates += [("2024-01-02", "published: 2023-01-01"), ("2024-01-02", "publishAt: 2050-01-01\npubDate: 2049-01-01")]
    files = {f"a/{n}.md": f"---\ntitle: A\ndate: {date}\n{other}\n---\n" for n, (date, other) in enumerate(dates)}
    assert importer.imports(files) == ""
    days = [date[:10] for date in importer.values("publishedAt").values()]
    assert sorted(days) == ["2024-01-02", "2026-01-02", "2026-03-01", "2050-01-01"]
    assert importer.states()["3"] == "scheduled"


def test_site_and_time_zone_default_to_the_settings(app, importer, monkeypatch):
    importer.write({"a.md": "---\ntitle: A\ndate: 2026-01-01 08:00\n---\n[b](/b)"})
    importer.imports("a.md", "--site", SITE, "--timezone", "Europe/Berlin")
    monkeypatch.setitem(app.config, "SITE_URL", SITE)
    monkeypatch.setitem(app.config, "TIMEZONE", ZoneInfo("Europe/Berlin"))
    assert importer.run("import", "a.md").stdout == "0 new, 0 changed, 1 unchanged\n"


def test_invalid_site_or_time_zone_is_a_usage_error(importer):
    options = "--site www.example.com", "--site https://a.example/\udcff", "--timezone Mars/Base", "--timezone ../x"
    assert [importer.run("import", {"a.md": post()}, *option.split()).exit_code for option in options] == [2] * 4


# Publication


DATED = "date: 2026-01-01\n"
CLAIMS = {  # what the fields say
    "withheld": [
        *("draft: TRUE", "draft: Yes", "draft: on", "draft: 1", "draft: y", "'draft ': true", "Draft?: yes"),
        *("isDraft: true", "draft: false\nis-draft: true", "draft: false\nstatus: draft"),
        *("archived: true", "isArchived: yes", "archived: true\npublished: true"),
        *("published: no", "published: 0", "publish: false", "is_published: 0", "publish: true\npublished: false"),
        *("status: Draft", "draft: true\nstatus: published", "status: published\nstate: draft"),
        *(
            "expiryDate: 2026-02-01",
            f"{DATED}draft: true",
            f"{DATED}published: false",
            f"{DATED}expiryDate: 2026-02-01",
        ),
    ],
    "published": [
        *(
            f"{DATED}draft: 'off'",
            f"{DATED}draft: N",
            f"{DATED}draft:",
            f"{DATED}is_draft: no",
            f"{DATED}archived: false",
        ),
        *("published: y", "published: true", "publish: 1", "Status: PUBLISHED", "post_status: publish"),
        *("draft: false\npublished: true", f"{DATED}published: true"),
    ],
    None: ["", "draft: false", "layout: post", "lastmod: 2026-01-01", "expiryDate: 2999-01-01"],  # no date
}


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a file's front matter, and returns the article."""

    def read(fields):
        (tmp_path / "a.md").write_text(f"---\ntitle: A\n{fields}\n---\n")
        (article,) = read_folder(str(tmp_path / "a.md"), SourceOptions("", UTC), lambda *_: None)
        assert article.problems == []
        return article

    return read


def unknown_fields(article):
    return [note.detail for note in article.notes if note.kind == note_kinds.UNKNOWN_FIELDS]


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_spelling_of_draft_and_published_is_understood(read, claim):
    for fields in CLAIMS[claim]:
        article = read(fields)
        assert (article.claim, "publishedAt" in article.fields) == (claim, DATED in fields), fields
        assert claim is None or unknown_fields(article) == [], fields
        assert "status" not in article.fields


AUTHORS = {
    "author: Doe, Jane": ["Doe, Jane"],
    "authors: [B, A, B]\nauthor: C": ["B", "A", "B"],
    "author: {name: Jane, email: x}": ["Jane"],
    "authors: [{name: Jane}, {name: Joe}]": ["Jane", "Joe"],
}


@pytest.mark.parametrize("field", AUTHORS)
def test_authors_are_names_in_their_order(read, field):
    assert read(field).fields["authors"] == AUTHORS[field]


SUSPICIOUS = ["permalink: false", "listed: No", "featured: true", "access: Members", "goLiveAt: 2099-01-01 08:00"]
HARMLESS = ["build: {render: never}", "state: TX", "revised: 2020-01-01", "weight: 0", "layout: post", "series: ''"]


def test_unknown_fields_that_may_have_hidden_an_article_are_reported(read):
    article = read("\n".join(["date: 2026-01-01", *SUSPICIOUS, *HARMLESS]))
    assert article.claim == "published"
    assert sorted(unknown_fields(article)) == sorted(SUSPICIOUS)


# Invalid values


INVALID = [
    *("draft: WAHR", "draft: [true]", "published: vielleicht", "publish: 2030-01-01", "publishDate: soon"),
    *("status: private", "status: pending", "expiryDate: next year", "lastmod: {a: b}", "title: [a, b]"),
    *("date: 2026-03-01 08:00 CET", "date: 2026-02-29", "date: 03/01/2026", "date: Mon, 01 Mar 2026"),
    *("date: 2026-03-01 08:00 +01:60", "date: 2026-03-01 10-11"),  # the latter are hours, not a zone
    "date: 2026-03-29 02:30",  # nonexistent in Berlin
    "pubDate: Sun, 01 Mar 2026 08:00:00 +0100 tomorrow",
]
ODD = [
    *("description: {a: b}", "tags: [[a]]", "categories: [[a]]", "readTime: 4 min", "views: 1.000", "author: [{a: 1}]"),
    *("schemaMarkup: {a: b}", 'section: "a\\x01"', "image: https://a.example:0/a.png", "labels: {slug: a}"),
    *("image: true", "image: heroPicture", "image: '[[a.png]]'", "image: '@assets/a.png'", "image: '~/a.png'"),
]


@pytest.mark.parametrize("field", INVALID)
def test_invalid_value_is_reported_with_its_field(importer, field):
    title = "" if field.startswith("title") else "title: A\n"
    text = f"---\n{title}created: 2026-01-01\n{field}\n---\n"
    (line,) = importer.rejects({"a.md": text}, "--timezone", "Europe/Berlin").splitlines()
    assert line.startswith(f"a.md, slug 'a': {field.partition(' ')[0]} ")


def test_odd_values_of_other_fields_are_left_out_and_reported(importer):
    printed = importer.imports({f"a/{number}.md": post(field) for number, field in enumerate(ODD)}, "--site", SITE)
    for number, field in enumerate(ODD):
        name, value = field.split(": ", 1)
        shown = re.escape(value.strip("'"))
        assert re.search(rf"({name}(\.\w+)?|{shown}) \(1\): {number}\b", printed), field


def test_tag_without_a_name_means_text(importer):
    importer.imports({"a.md": post("category: ! 'false'\nsection: ! ''\ntags: [! '#code', ! \"~\"]")})
    assert (importer.only()["category"], importer.only()["keywords"]) == ("false", ["#code", "~"])


def test_surrogates_in_front_matter_become_characters(importer):
    printed = importer.imports({"a.md": post('description: "\\ud83d\\ude00 a\\ud83d\\ud83d"')})
    assert re.fullmatch("Text with �.* \\(1\\): a. .*\n", printed)
    assert importer.only()["metaDesc"] == "😀 a��"


YAML_ERRORS = {  # what a field has -> what to do
    "a: b": "double quotes",
    "@x": "double quotes",
    "*x*": "double quotes",
    '"a" b': "quotation mark within others",
    '"\\d"': "backslash",
    "[a, b": "brackets",
    "'a": "Close all quotation marks",
    "\x08": "control character",
}


@pytest.mark.parametrize("value", YAML_ERRORS)
def test_yaml_errors_are_grouped_whatever_their_lines(importer, value):
    lines = importer.rejects({f"a/{n}.md": "---\n" + "# x\n" * n + f"a: {value}\n---\n" for n in range(4)}).splitlines()
    assert lines[-1] == "… and 1 more with this error."
    assert all(YAML_ERRORS[value] in line for line in lines[:3])


# Slugs


SLUGS = {
    "हिन्दी ไทย": "हिन्दी-ไทย",
    "ශ්\u200dරී ලංකාව": "ශ්\u200dරී-ලංකාව",
    "がぎぐ パン": "がぎぐ-パン",
    "Łódź – Žižkov & Straße? Да!": "łodz-zizkov-straße-да",
    "☕️ Coffee 1️⃣": "coffee-1",
    "menu " * 50: "-".join(["menu"] * 34),
    "क" * 169 + "का": "क" * 169,  # a letter and its vowel sign stay together
}


def test_slug_from_a_title_keeps_the_words_of_every_script(importer):
    rows = [f"{normalize('NFD', title)};x\n" for title in SLUGS]
    importer.imports({"a.csv": "title;body\n" + "".join(rows)})
    assert set(importer.articles()) == {normalize("NFC", slug) for slug in SLUGS.values()}


def test_changed_slug_is_reported_with_its_old_url(importer):
    printed = importer.run("import", {"a.md": post("slug: 2024/my-post")}, "--redirects", "r.csv").stderr
    assert "were changed" in printed
    assert "/2024/my-post,2024-my-post" in (importer.folder / "r.csv").read_text()
    assert importer.imports({"b.md": post(f"slug: {normalize('NFD', 'café')}")}) == ""
