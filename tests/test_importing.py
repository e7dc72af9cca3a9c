"""Import of articles: derived fields, matching, updates, slugs, error reports and transactions."""

import json
import os
import re
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest
from helpers import (
    LISTS,
    PAST,
    article_json,
    create_key,
    import_articles,
    iso,
    json_lines,
    minimal_json,
    run_command,
    subprocess_args,
    wait_for,
)
from time_machine import travel

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_999, tzinfo=UTC)
MARKUP = {"@context": "https://schema.org", "@graph": [{"datePublished": "given"}]}
SUMMARY = re.compile(r"(\d+) new, (\d+) changed, (\d+) unchanged(?: \(new: .*\))?\n")


@pytest.fixture
def counts(app, key):
    """Import articles for Acme; return how many are new, changed and unchanged."""

    def counts(*articles, customer="Acme"):
        result = import_articles(app, *articles, customer=customer)
        assert (result.exit_code, result.stderr) == (0, "")
        return tuple(map(int, SUMMARY.fullmatch(result.stdout).groups()))

    return counts


@pytest.fixture
def errors(app, key):
    """Try to import articles for Acme; return the lines of the error report."""

    def errors(*articles):
        result = import_articles(app, *articles)
        assert (result.exit_code, result.stdout) == (1, "")
        heading, *lines = result.stderr.splitlines()
        assert heading == "Error: Nothing was written. What is wrong:"
        return lines

    return errors


def published(client, query=""):
    """Return the published articles by id, as the list of articles has them."""
    return {article["id"]: article for article in client.get(f"{LISTS[0]}?take=100{query}").get_json()["data"]}


def posting(article):
    return article["schemaMarkup"]["@graph"][0]


def rows(sql):
    return sql("SELECT * FROM article ORDER BY pk")


def column(sql, name):
    """Return a column's values by the articles' ids."""
    return dict(sql(f"SELECT id, {name} FROM article"))


def times(sql, name):
    """Return the times in a column by the articles' ids, in the form of the API."""
    return {id: iso(parsed(value)) for id, value in column(sql, name).items()}


def parsed(value):
    """Return a time from the database as an aware datetime. SQLite returns text, PostgreSQL a datetime."""
    return datetime.fromisoformat(value).replace(tzinfo=UTC) if isinstance(value, str) else value


# Derived fields


def test_meta_description_has_the_words_that_readers_see(save, client):
    texts = {
        "<p>One</p><p>two</p>": "One two",
        "<p>Mid<em>word</em>, <A href='x>y'>link</A>.</p>": "Midword, link.",
        '<img alt="a > b">c': "c",
        "<h2>A &amp; B</h2>\n<ul><li>caf&eacute;</li></ul>": "A & B café",
        "a<br>b<!-- not\nthis -->c<script>not('<p>this');</script >d<STYLE>p{}</STYLE>": "a b c d",
        "<summary>a</summary><button>b</button>": "a b",
        "<style-guide>a</style-guide> <scripts>b</scripts>": "a b",
        "<script src='x'>x</script foo>a<script>x</script/>b": "a b",
        "<!-->a<!--->b<!--x--!>c": "a b c",
        "1 &lt; 2 < 3": "1 < 2 < 3",
        "&#65; &#x41 &#" + "0" * 5000 + "65; &#" + "6" * 5000 + ";": "A A A \N{REPLACEMENT CHARACTER}",
        "end <p": "end",
        "end <!-- not this": "end",
        "end <script>not this": "end",
        "<p>One\x0b two\x1b\ufffe &#x7;three</p>": "One two three",  # what no feed can hold is left out
        "": "",
    }
    save(*(minimal_json(number, contentHtml=html) for number, html in enumerate(texts)))
    articles = published(client).values()
    assert {article["contentHtml"]: article["metaDesc"] for article in articles} == texts


@contextmanager
def time_limit(seconds):
    """Interrupt what takes longer. A regular expression that tries every start again would take an hour."""

    def interrupt(*_):
        raise AssertionError(f"takes more than {seconds} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_unclosed_tags_take_linear_time(counts):
    pieces = ["<!--", "<script>", "<a ", '<a "', "<", "<p '", "<style", "&", "</", "<script>x</script "]
    articles = [
        minimal_json(number, contentHtml=piece * (500_000 // len(piece))) for number, piece in enumerate(pieces)
    ]
    with time_limit(10):
        assert counts(*articles) == (10, 0, 0)


def test_meta_description_is_cut_at_a_word_within_155_characters(save, client):
    starts = {
        "short": "short",
        "one " + "b" * 148 + " cd efg": "one " + "b" * 148 + "…",
        "a" * 70 + " " + "b" * 70 + " " + "c" * 30: "a" * 70 + " " + "b" * 70 + "…",
        "one " + "b" * 170 + " four": "one…",
        "a" * 170: "a" * 154 + "…",
        "東京は日本の首都です。" * 20: ("東京は日本の首都です。" * 20)[:154] + "…",
        "b" * 155: "b" * 155,
        "c" * 155 + " d": "c" * 154 + "…",
        "e" * 156 + " f": "e" * 154 + "…",
        " ".join("a" * 100): " ".join("a" * 77) + "…",
        "aa " + " ".join("b" * 100): "aa " + " ".join("b" * 76) + "…",
        "the end, " * 40: ("the end, " * 17)[:-2] + "…",
    }
    save(*(minimal_json(number, contentHtml=text) for number, text in enumerate(starts)))
    articles = published(client).values()
    assert {article["contentHtml"]: article["metaDesc"] for article in articles} == starts


def test_reading_time_is_238_words_a_minute_rounded_up(save, client):
    minutes = {0: 1, 1: 1, 238: 1, 239: 2, 2380: 10}
    save(*(minimal_json(words, contentHtml=f"<p>{'word ' * words}</p>") for words in minutes))
    read_times = {article["contentHtml"].count("word"): article["readTime"] for article in published(client).values()}
    assert read_times == minutes


def test_given_fields_are_not_derived(save, client):
    given = {"readTime": 7.5, "metaTitle": "", "metaDesc": "Mine", "schemaMarkup": MARKUP}
    save(article_json(1, **given), article_json(2, metaTitle="Mine"))
    articles = published(client)
    assert {name: articles["id-0001"][name] for name in given} == given
    assert articles["id-0002"]["metaTitle"] == "Mine"
    assert articles["id-0002"]["metaDesc"] == "Content of number 2."


def test_derived_markup_agrees_with_the_article(save, client):
    save(article_json(1, contentHtml=f"<p>{'word ' * 500}</p>"))
    article = published(client)["id-0001"]
    assert (article["metaTitle"], article["readTime"]) == ("Title 1", 3)
    assert article["metaDesc"] == " ".join(["word"] * 31) + "…"  # 155 characters would end within a word
    assert article["schemaMarkup"] == {
        "@context": "https://schema.org",
        "@graph": [
            {
                "@type": "BlogPosting",
                "headline": "Title 1",
                "description": article["metaDesc"],
                "keywords": ["one", "two"],
                "articleSection": "News",
                "timeRequired": "PT3M",
                "dateModified": "2025-03-01T10:30:00.000Z",  # as in the sitemap, not before the publication
                "datePublished": "2025-03-01T10:30:00.000Z",
                "image": ["https://www.example.com/banner.jpg"],
                "author": {"@type": "Organization", "name": "Acme"},
                "publisher": {"@type": "Organization", "name": "Acme"},
            }
        ],
    }


def test_markup_of_a_draft_without_banner_has_no_date_or_image(save, run):
    save(article_json(1, status="draft", publishedAt=None, bannerUrl=""))
    (graph,) = json.loads(run("articles", "export", "--all-fields").stdout)["schemaMarkup"]["@graph"]
    assert not {"datePublished", "image"} & graph.keys()
    assert graph["dateModified"] == iso(PAST)


def test_derived_markup_cannot_break_out_of_a_script(save, client):
    save(article_json(1, title="What </Script> does", contentHtml="&lt;!-- and &lt;/script&gt; < b"))
    article = published(client)["id-0001"]
    assert posting(article)["headline"] == "What < /Script> does"
    assert posting(article)["description"] == "< !-- and < /script> < b"
    assert article["metaTitle"] == "What </Script> does"


# New and changed articles


def test_repeated_import_changes_nothing(counts, sql):
    sparse = [minimal_json(1), minimal_json(2, publishedAt=None), minimal_json(3, status="published", publishedAt=None)]
    sparse[0].pop("id")
    articles = [*sparse, *map(article_json, range(10, 1210))]  # more than one batch
    assert counts(*articles) == (1203, 0, 0)
    before = rows(sql)
    assert counts(*articles) == (0, 0, 1203)
    assert rows(sql) == before


def test_search_and_title_order_follow_a_new_title_and_slug(save, client):
    save(article_json(1), article_json(2), article_json(3))
    save(article_json(2, title="Ärger"), article_json(3, slug="Über"))
    assert list(published(client, "&q=arger slug-2")) == ["id-0002"]
    assert list(published(client, "&q=title")) == ["id-0003", "id-0001"]
    assert list(published(client, "&q=uber title")) == ["id-0003"]
    assert list(published(client, "&q=slug-3")) == []
    assert list(published(client, "&orderBy=title&order=asc")) == ["id-0002", "id-0001", "id-0003"]


def test_new_article_gets_a_random_id_and_no_views(save, sql):
    save(article_json(1, id=None, views=None), article_json(2, id=None))
    (first, second) = sql("SELECT id, views FROM article ORDER BY slug")
    assert (len(first[0]), len(second[0]), first[0] == second[0]) == (36, 36, False)
    assert (first[1], second[1]) == (0, 2)


def test_published_without_a_date_means_the_first_import(counts, sql):
    article = article_json(1, publishedAt=None, createdAt=None)
    with travel(NOW, tick=False):
        assert counts(article) == (1, 0, 0)
    with travel(NOW + timedelta(days=1), tick=False):
        assert counts(article) == (0, 0, 1)
    assert times(sql, "published_at") == times(sql, "created_at") == {"id-0001": iso(NOW)}


def test_new_article_was_created_at_its_publication_if_past(save, sql):
    with travel(NOW, tick=False):
        save(article_json(1, createdAt=None), article_json(2, createdAt=None, publishedAt="2999-01-01T00:00:00Z"))
    assert times(sql, "created_at") == {"id-0001": iso(PAST + timedelta(hours=1)), "id-0002": iso(NOW)}


def test_omitted_fields_are_kept_or_derived_again(counts, save, client, sql):
    """Id, status, dates and views are kept; category, keywords and banner are emptied."""
    save(article_json(1, readTime=9, metaTitle="Mine", metaDesc="Mine", schemaMarkup=MARKUP, views=5))
    derived = dict.fromkeys(("readTime", "metaTitle", "metaDesc", "schemaMarkup", "category", "keywords", "bannerUrl"))
    kept = dict.fromkeys(("id", "status", "publishedAt", "createdAt", "views"))
    assert counts(article_json(1, **derived, **kept)) == (0, 1, 0)
    article = published(client)["id-0001"]
    assert (article["readTime"], article["metaTitle"], article["metaDesc"]) == (1, "Title 1", "Content of number 1.")
    assert (article["category"], article["keywords"], article["bannerUrl"]) == ("", [], "")
    assert posting(article)["headline"] == "Title 1"
    assert article["publishedAt"] == iso(PAST + timedelta(hours=1))
    assert times(sql, "created_at") == {"id-0001": iso(PAST)}
    assert sql("SELECT status, views FROM article") == [("published", 5)]


def test_draft_stays_a_draft_until_its_status_is_given(save, sql):
    save(article_json(1, status="draft"))
    save(article_json(1, status=None))
    assert column(sql, "status") == {"id-0001": "draft"}
    save(article_json(1))
    assert column(sql, "status") == {"id-0001": "published"}


# The time of the last update


def test_updated_at_moves_if_the_content_changes(counts, save, client, sql):
    new = {"title": "New", "slug": "new", "contentHtml": "<p>New</p>", "category": "", "keywords": [], "bannerUrl": ""}
    new |= {"readTime": 2.5, "metaDesc": "New", "metaTitle": "New", "schemaMarkup": MARKUP}
    changes = [{name: value} for name, value in new.items()]
    save(*(article_json(number) for number in range(11)))
    articles = [article_json(number, updatedAt=None, **change) for number, change in enumerate(changes)]
    with travel(NOW, tick=False):
        assert counts(*articles, article_json(10, updatedAt=None)) == (0, 10, 1)
    changed = {f"id-{number:04}": iso(NOW) for number in range(10)}
    assert times(sql, "updated_at") == changed | {"id-0010": iso(PAST)}
    for id in sorted(changed)[:-1]:
        assert posting(published(client)[id])["dateModified"] == iso(NOW)


def test_updated_at_stays_if_the_content_does(counts, save, sql):
    changes = [{}, {"views": 99}, {"status": "draft"}, {"createdAt": "2020-01-01T00:00:00Z"}]
    changes.append({"publishedAt": "2025-05-01T00:00:00Z"})
    save(*(article_json(number) for number in range(6)))
    articles = [article_json(number, updatedAt=None, **change) for number, change in enumerate(changes)]
    given = article_json(5, updatedAt="2025-12-01T01:00:00.123456+01:00")  # which is stored
    assert counts(*articles, given) == (0, 5, 1)
    updated = times(sql, "updated_at")
    assert updated.pop("id-0005") == "2025-12-01T00:00:00.123Z"
    assert set(updated.values()) == {iso(PAST)}
    assert sql("SELECT views FROM article WHERE id = 'id-0001'") == [(99,)]
    assert sql("SELECT status FROM article WHERE id = 'id-0002'") == [("draft",)]
    assert times(sql, "created_at")["id-0003"] == "2020-01-01T00:00:00.000Z"


def test_edited_export_moves_updated_at_once(counts, save, sql):
    save(article_json(1))
    edited = article_json(1, title="New")  # with the time of the article before the edit
    assert counts(edited) == (0, 1, 0)
    moved = times(sql, "updated_at")
    assert counts(edited) == (0, 0, 1)
    assert times(sql, "updated_at") == moved != {"id-0001": iso(PAST)}


def test_markup_follows_whatever_changes_the_article(run, save, client, sql):
    save(article_json(1))
    exported = json.loads(run("articles", "export", "--all-fields").stdout)
    with travel(NOW, tick=False):
        assert run("articles", "import", "-", input=json.dumps(exported)).stdout == "0 new, 0 changed, 1 unchanged\n"
        assert times(sql, "updated_at") == {"id-0001": iso(PAST)}
    sql("UPDATE article SET title = 'Now', updated_at = '2025-06-01 00:00:00'")
    run("customers", "rename", "Acme", "Bolt")
    run("articles", "publish", "slug-1", "--at", "2020-01-01T00:00:00Z")
    graph = posting(published(client)["id-0001"])
    assert (graph["headline"], graph["publisher"]["name"]) == ("Now", "Bolt")
    assert (graph["dateModified"], graph["datePublished"]) == ("2025-06-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z")


def test_json_of_another_tool_is_compared_by_its_values(run, save, client, sql):
    save(article_json(1, keywords=["tea", "é"]), article_json(2, schemaMarkup=MARKUP))
    sql("UPDATE article SET keywords = ? WHERE id = 'id-0001'", '[ "tea",\n\r "\\u00e9" ]')
    sql("UPDATE article SET schema_markup = ? WHERE id = 'id-0002'", json.dumps(MARKUP, indent=1))
    for options in ([], ["--all-fields"]):
        exported = run("articles", "export", *options).stdout
        assert [json.loads(line)["id"] for line in exported.splitlines()] == ["id-0001", "id-0002"]
        assert json.loads(exported.splitlines()[0])["keywords"] == ["tea", "é"]
        with travel(NOW, tick=False):
            assert run("articles", "import", "-", input=exported).stdout == "0 new, 0 changed, 2 unchanged\n"
    assert set(times(sql, "updated_at").values()) == {iso(PAST)}
    assert published(client)["id-0001"]["keywords"] == ["tea", "é"]


def test_markup_is_derived_once_after_it_was_given(counts, save, sql):
    save(article_json(1, schemaMarkup=MARKUP))
    with travel(NOW, tick=False):
        assert counts(article_json(1, updatedAt=None)) == (0, 1, 0)
    assert times(sql, "updated_at") == {"id-0001": iso(NOW)}
    assert counts(article_json(1, updatedAt=None)) == (0, 0, 1)


# Slugs and ids


def test_slugs_can_be_swapped_and_passed_on(counts, save, client, sql):
    save(article_json(1), article_json(2), article_json(3))
    assert counts(article_json(1, slug="slug-2"), article_json(2, slug="slug-1")) == (0, 2, 0)
    assert column(sql, "slug") == {"id-0001": "slug-2", "id-0002": "slug-1", "id-0003": "slug-3"}
    assert list(published(client, "&q=slug-2")) == ["id-0001"]
    # A new article takes a slug that another one gives up later in the same import, in another batch.
    rest = [article_json(number, title="Rest") for number in range(100, 700)]
    assert counts(article_json(9, slug="slug-3"), *rest, article_json(3, slug="old-slug-3")) == (601, 1, 0)
    slugs = column(sql, "slug")
    assert (slugs["id-0009"], slugs["id-0003"]) == ("slug-3", "old-slug-3")
    assert list(published(client, "&q=slug-3 title 9")) == ["id-0009"]


def test_new_id_cannot_take_the_slug_of_another_article(errors, save, sql):
    save(article_json(1))
    (line,) = errors(article_json(2), article_json(3, slug="slug-1"))
    assert line.startswith(
        "standard input, line 2, slug 'slug-1': slug: The article with the id 'id-0001' already has this slug. "
        "Use that id or none"
    )
    assert column(sql, "slug") == {"id-0001": "slug-1"}


def test_article_cannot_appear_twice_in_one_import(errors, save):
    save(article_json(1))
    rest = [article_json(number) for number in range(100, 700)]
    assert errors(article_json(2), *rest, article_json(2, slug="x")) == [
        "standard input, line 602, slug 'x': The article with the id 'id-0002' appears twice in this import."
    ]
    assert errors(article_json(2), article_json(3, slug="slug-2")) == [
        "standard input, line 2, slug 'slug-2': The article with the slug 'slug-2' appears twice in this import."
    ]
    for between in (0, 600):  # the distance between the two articles makes no difference
        moved, old = article_json(1, slug="moved"), article_json(1, id=None)
        assert errors(moved, *rest[:between], old) == [
            f"standard input, line {between + 2}, slug 'slug-1': "
            "The article with the id 'id-0001' appears twice in this import."
        ]
    assert errors(old, moved)[0].endswith(" The article with the id 'id-0001' appears twice in this import.")


def test_customers_can_have_the_same_ids_and_slugs(app, counts, client):
    create_key(app, "Other")
    assert counts(article_json(1)) == (1, 0, 0)
    assert counts(article_json(1, title="Other"), customer="Other") == (1, 0, 0)
    assert counts(article_json(1, id=None, title="Other"), customer="Other") == (0, 0, 1)
    assert published(client)["id-0001"]["title"] == "Title 1"


# Errors


def test_every_invalid_article_is_named_with_field_and_reason(errors, sql):
    invalid = [
        minimal_json(2, readTime="3", bannerUrl="https://www.example.com/Größe 3.jpg"),
        minimal_json(3, colour="red", views=-1),
        {"slug": "only"},
        minimal_json(5, slug=7),
        [],
        minimal_json(8, _schema=1, title="Bell\7", keywords=["a\x1b"], slug="x" * 201),
    ]
    assert errors(minimal_json(1), *invalid) == [
        "standard input, line 6: Must be an object. A JSON array belongs in a .json file.",
        "standard input, line 2, slug 'slug-2': bannerUrl: 'https://www.example.com/Größe 3.jpg' holds a space. Write "
        "%20. readTime: '3' must be a number of minutes, at least 0 and under 1000000.",
        "standard input, line 3, slug 'slug-3': colour: Unknown field. Leave it out. "
        "views: -1 must be a whole number, 0 to 9007199254740992.",
        "standard input, line 4, slug 'only': contentHtml: Missing. Every article needs it. "
        "title: Missing. Every article needs it.",
        "standard input, line 5: slug: 7 must be a string.",
        f"standard input, line 7, slug '{'x' * 80}': _schema: Unknown field. Leave it out. "
        "keywords: ['a\\x1b'] must not hold control characters, which break feeds. Remove them. "
        f"slug: '{'x' * 37}…{'x' * 38}' must have 1 to 200 characters, and no white space, /, ? or #. "
        "title: 'Bell\\x07' must not hold control characters, which break feeds. Remove them.",
    ]
    assert rows(sql) == []


def test_error_report_shows_the_first_20_errors(errors):
    wrong = [{"title": 1}, {"contentHtml": 1}]
    lines = errors(*(minimal_json(number, **wrong[number % 2]) for number in range(1000)))
    assert len(lines) == 21
    assert lines[0].startswith("standard input, line 1, slug 'slug-0': title: ")
    assert lines[19].startswith("standard input, line 20, ")
    assert lines[-1] == "… and 980 more."
    assert "more" not in errors(*(minimal_json(number, **wrong[number % 2]) for number in range(20)))[-1]


def test_same_error_of_many_articles_in_a_row_is_one_line(errors):
    lines = errors(*(minimal_json(number, title=1) for number in range(1, 1001)), minimal_json(2000, slug=""))
    assert lines[0].startswith("standard input, line 1, slug 'slug-1', and 999 more: title: ")
    assert lines[1].startswith("standard input, line 1001, ")
    assert len(lines) == 2
    assert len(errors(*(minimal_json(number, title=1) for number in range(3)))) == 3


def test_unknown_field_asks_for_the_known_one(errors):
    for name, field in (
        *(("html", "contentHtml"), ("body", "contentHtml"), ("content", "contentHtml"), ("tags", "keywords")),
        *(("published_at", "publishedAt"), ("meta_description", "metaDesc"), ("image", "bannerUrl")),
        *(("metaTitel", "metaTitle"), ("ContentHTML", "contentHtml"), ("read-time", "readTime")),
    ):
        (line,) = errors(minimal_json(1, **{name: "x"}))
        assert line.endswith(f"{name}: Unknown field: did you mean {field}?"), name
    (line,) = errors(minimal_json(1, quux="x"))
    assert line.endswith("quux: Unknown field. Leave it out.")


LOOKS_WRONG = {
    "Titles that are blank.": [{"title": " "}],
    "Titles with HTML entities": [{"title": "Q&amp;A"}],
    "Titles with control characters": [{"title": "One\nTwo"}],
    "Pictures or links whose URL is relative": [
        {"contentHtml": html} for html in ('<a class="x" href="/about">x</a>', "<p><img src=a.jpg>", "<img src='./b'>")
    ],
    "Content that looks like Markdown.": [{"contentHtml": "# Menu"}, {"contentHtml": "See [here](https://a.b)"}],
    "Text that was read in a wrong encoding": [{"title": "GrÃ¼ÃŸe"}, {"contentHtml": "<p>itâ€™s</p>"}],
}
LOOKS_FINE = (
    *({"title": "Q&A; R&D &c."}, {"title": "IRMÃ”"}, {"contentHtml": "1. One [two] *three*"}),
    {"contentHtml": '<a href="#top"></a><a href="mailto:a@b"></a><a href="tel:1"></a><img src="data:,">'},
    {"contentHtml": '<a href="https://a.b/c"></a><a href="//a.b/c"></a>&lt;a href="/x"&gt; src="/x" <b>'},
)


def test_what_looks_wrong_is_warned_of_with_the_first_slugs(app, key):
    fields = [*chain.from_iterable(LOOKS_WRONG.values()), {"contentHtml": '<a href="/4">4</a>'}, *LOOKS_FINE]
    articles = [minimal_json(number, **changed) for number, changed in enumerate(fields)]
    result = import_articles(app, *articles)
    slugs = iter(article["slug"] for article in articles)
    for (words, wrong), line in zip(LOOKS_WRONG.items(), result.stderr.splitlines(), strict=True):
        assert line.startswith(f"Warning: {words}")
        names = ", ".join(next(slugs) for _ in wrong)
        number = f"{len(wrong)} {'article' if len(wrong) == 1 else 'articles'}: {names}"
        assert line.endswith(f" ({number})" if len(wrong) < 3 else f" (4 articles: {names}, …)")
    # A nightly import says it once.
    assert import_articles(app, *articles).stderr == ""
    again = import_articles(app, *articles[1:], minimal_json(0, title="", contentHtml="<p>Changed</p>"))
    assert again.stderr.count("\n") == 1


def test_unknown_fields_cost_little_however_many_they_are(errors):
    names = [f"field{number}" for number in range(100_000)]
    articles = [minimal_json(0, **dict.fromkeys(names, 1))]
    articles += [minimal_json(n, **dict.fromkeys(names[n * 30 : n * 30 + 30], 1)) for n in range(1, 3300)]
    began = time.process_time()
    lines = errors(*articles)
    assert time.process_time() - began < 4  # to look each of them up would take four times that
    assert lines[0].startswith("standard input, line 1, slug 'slug-0': field0: Unknown field. Leave it out. field1: ")
    assert lines[-1] == "… and 3280 more."


def test_line_that_is_too_long_is_refused_and_the_next_one_read(app, key):
    lines = b'{"title": "' + b"x" * 34_000_000 + b'"}\n' + b'{"slug": "second"}'
    result = run_command(app, "articles", "import", "-", input=lines)
    first, second = result.stderr.splitlines()[1:]
    assert first == "standard input, line 1: Must be an article of at most 32 MB in JSON."
    assert second.startswith("standard input, line 2, slug 'second': ")


def test_summary_says_what_the_new_articles_are(app, key):
    articles = minimal_json(1), minimal_json(2, publishedAt="2999-01-01T00:00:00Z"), minimal_json(3, status="draft")
    result = import_articles(app, *articles, minimal_json(4, publishedAt=None))
    assert result.stdout == "4 new, 0 changed, 0 unchanged (new: 1 published, 1 scheduled, 2 draft)\n"
    assert import_articles(app, *articles).stdout == "0 new, 0 changed, 3 unchanged\n"


def test_error_report_is_short_and_without_control_characters(app, key):
    invalid = minimal_json(1, slug="\x1b[2J\n" * 50, **{f"\x1b[31m{number}" * 50: 1 for number in range(50)})
    command = "articles", "import", "-"
    result = run_command(app, *command, input=json_lines([invalid]), color=True)
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr
    assert result.stderr.count("\n") == 2
    assert all(len(line) <= 500 for line in result.stderr.splitlines())
    assert result.stderr.endswith("…\n")


# Transactions


def test_dry_run_reports_the_same_and_writes_nothing(app, save, sql):
    save(minimal_json(1), minimal_json(2), minimal_json(3))
    before = rows(sql)
    articles = minimal_json(1, slug="slug-2"), minimal_json(2, slug="slug-1"), minimal_json(3), minimal_json(4)
    dry_run = import_articles(app, *articles, options=["--dry-run"])
    *_, summary = dry_run.stdout.splitlines()
    assert summary == "1 new, 2 changed, 1 unchanged (new: 1 published) (dry run: nothing was written)"
    assert rows(sql) == before
    assert import_articles(app, *articles).stdout == "1 new, 2 changed, 1 unchanged (new: 1 published)\n"
    assert import_articles(app, minimal_json(5, slug="slug-4"), options=["--dry-run"]).exit_code == 1


def test_dry_run_says_which_fields_of_which_articles_change(app, save):
    save(*(article_json(number, schemaMarkup=MARKUP) for number in range(3)))
    articles = [article_json(0, schemaMarkup=MARKUP, slug="moved", title="New", updatedAt=None)]
    articles += [article_json(1, schemaMarkup=MARKUP, updatedAt="2026-01-01T00:00:00Z", views=7)]
    articles += [article_json(2, schemaMarkup=MARKUP, updatedAt="2026-01-01T00:00:00Z")]
    articles += [article_json(number) for number in range(3, 25)]
    lines = import_articles(app, *articles, options=["--dry-run"]).stdout.splitlines()
    assert lines[:4] == ["moved: title, slug, metaTitle", "slug-1: views", "slug-2: updatedAt", "slug-3: new"]
    assert lines[19:21] == ["slug-19: new", "… and 5 more"]
    assert len(lines) == 22


def open_for_writing(pipe):
    """Open a named pipe if somebody reads it. An ordinary open() would wait forever for an import that has failed."""
    with suppress(OSError):
        descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "wb", buffering=0)


@pytest.fixture
def start_import(database, tmp_path):
    """Start an import from a pipe, as a user does; return its process and the pipe once a part is written."""
    pipe, wal = tmp_path / "pipe.jsonl", database.with_name(database.name + "-wal")
    os.mkfifo(pipe)
    lines = json_lines(minimal_json(number, title="New", contentHtml="x" * 7500) for number in range(1200))
    with ExitStack() as stack:

        def start_import():
            args = subprocess_args(database, "-m", "flask", "articles", "import", str(pipe))
            process = stack.enter_context(subprocess.Popen(**args))
            stack.callback(process.kill)
            source = wait_for(lambda: open_for_writing(pipe), lambda: f"exit status {process.poll()}, nothing is read")
            stack.enter_context(source).write(lines.encode())
            wait_for(lambda: wal.exists() and wal.stat().st_size > 500_000, lambda: "nothing is written")
            return process, source

        yield start_import


@pytest.mark.slow
@pytest.mark.sqlite
def test_readers_see_the_old_articles_until_an_import_ends(start_import, save, client):
    save(*map(article_json, range(20)))
    process, source = start_import()

    def titles(take):
        response = client.get(f"{LISTS[1]}?take={take}").get_json()
        return response["meta"]["total"], {article["title"] for article in response["data"]}

    for number in range(20):  # the pages differ, so that each is read from the database
        assert titles(100 - number) == (20, {f"Title {number}" for number in range(20)})
    source.close()
    assert process.stdout.read() == "1180 new, 20 changed, 0 unchanged (new: 1180 published)\n"
    assert titles(100) == (1200, {"New"})


@pytest.mark.slow
@pytest.mark.sqlite
def test_interrupted_import_leaves_the_old_articles(start_import, save, sql):
    save(article_json(1))
    process, _ = start_import()
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=20)
    assert (process.returncode, message.strip()) == (1, "Aborted!")
    assert sql("SELECT title FROM article") == [("Title 1",)]
