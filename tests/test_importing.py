"""Import of JSON articles: derived fields, updates, slugs, error reports, transactions."""

import json
import re
from datetime import UTC, datetime, timedelta
from itertools import permutations

import helpers
import pytest
from helpers import LISTS, PAST, article_json, import_articles, iso, minimal_json, other_writer
from importer import error_lines, post
from time_machine import travel

from transfer.json_files import parse_json_lines

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_999, tzinfo=UTC)
FUTURE = "2999-01-01T00:00:00.000Z"
MARKUP = {"@context": "https://schema.org", "@graph": [{"datePublished": "given"}]}


@pytest.fixture
def counts(app, key):
    """Import articles for Acme; return the numbers of new, changed and unchanged ones."""

    def counts(*articles):
        result = import_articles(app, *articles)
        assert (result.exit_code, result.stderr) == (0, "")
        return [int(number) for number in re.findall(r"\d+", result.stdout.splitlines()[-1])[:3]]

    return counts


@pytest.fixture
def errors(app, key):
    """Run an import for Acme that must fail; return the lines of its error report."""
    return lambda *articles: error_lines(import_articles(app, *articles))


@pytest.fixture
def exported(articles):
    """Return a function that exports all of Acme's articles, with all fields, ordered by id."""
    return lambda: [json.loads(line) for line in articles("export", "--all-fields").stdout.splitlines()]


def values(exported, name):
    """Return a field of all articles, ordered by id."""
    return [article[name] for article in exported()]


def posting(article):
    return article["schemaMarkup"]["@graph"][0]


# Derived fields


def test_reading_time_is_238_words_a_minute_rounded_up(save, exported):
    minutes = {0: 1, 1: 1, 238: 1, 239: 2, 2380: 10}
    save(*(minimal_json(words, contentHtml=f"<p>{'word ' * words}</p>") for words in minutes))
    assert values(exported, "readTime") == list(minutes.values())


def test_derived_markup_matches_the_article(save, exported):
    draft = article_json(2, status="draft", publishedAt=None, bannerUrl="")
    save(article_json(1, contentHtml=f"<p>{'word ' * 500}</p>"), draft)
    article, draft = exported()
    assert (article["metaTitle"], article["readTime"]) == ("Title 1", 3)
    assert posting(article) == {
        **{"@type": "BlogPosting", "headline": "Title 1", "description": " ".join(["word"] * 31) + "…"},
        **{"keywords": ["one", "two"], "articleSection": "News", "timeRequired": "PT3M"},
        # as in the sitemap, the modification is not before the publication
        **{"dateModified": "2025-03-01T10:30:00.000Z", "datePublished": "2025-03-01T10:30:00.000Z"},
        **{"image": ["https://www.example.com/banner.jpg"], "publisher": {"@type": "Organization", "name": "Acme"}},
        "author": [{"@type": "Person", "name": "Ann"}, {"@type": "Person", "name": "Bo"}],
    }
    assert not {"datePublished", "image"} & posting(draft).keys()
    assert posting(draft)["dateModified"] == iso(PAST)


def test_derived_markup_leaves_out_what_the_article_lacks(save, exported):
    save(minimal_json(1))
    acme = {"@type": "Organization", "name": "Acme"}
    assert posting(*exported()) == {
        **{"@type": "BlogPosting", "headline": "Title 1", "description": "Text", "timeRequired": "PT1M"},
        **{"dateModified": "2026-01-31T09:30:00.000Z", "datePublished": "2026-01-31T09:30:00.000Z"},
        **{"author": acme, "publisher": acme},
    }


def test_derived_markup_has_the_url_on_the_site_of_the_customer(save, exported, sql):
    save(minimal_json(1, slug="ümlaut"))
    sql("UPDATE customer SET site = 'https://www.example.com/blog/{slug}.html'")
    found = posting(*exported())
    assert found["url"] == found["mainEntityOfPage"] == "https://www.example.com/blog/%C3%BCmlaut.html"
    assert found["author"]["url"] == found["publisher"]["url"] == "https://www.example.com"


def test_derived_markup_cannot_break_out_of_a_script(save, exported):
    save(article_json(1, title="What </Script> does", contentHtml="&lt;!-- and &lt;/script&gt; < b"))
    (article,) = exported()
    assert posting(article)["headline"] == "What < /Script> does"
    assert posting(article)["description"] == "< !-- and < /script> < b"
    assert article["metaTitle"] == "What </Script> does"


# New and changed articles


def test_repeated_import_changes_nothing(counts, exported):
    sparse = [minimal_json(1, id=None, views=None), minimal_json(2, publishedAt=None)]
    articles = [*sparse, *map(article_json, range(10, 610))]  # more than one batch
    assert counts(*articles) == [602, 0, 0]
    before = exported()
    assert [len(article["id"]) for article in before if article["slug"] == "slug-1"] == [36]  # random
    assert counts(*articles) == [0, 0, 602]
    assert exported() == before


def test_search_and_title_order_follow_a_new_title_and_slug(save, client):
    def found(query):
        return [article["id"][-1] for article in client.get(f"{LISTS[0]}?{query}").get_json()["data"]]

    save(article_json(1), article_json(2), article_json(3))
    save(article_json(2, title="Ärger"), article_json(3, slug="Über"))
    assert found("q=arger slug-2") == ["2"]
    assert found("q=title") == ["3", "1"]
    assert found("q=uber title") == ["3"]
    assert found("q=slug-3") == []
    assert found("orderBy=title&order=asc") == ["2", "1", "3"]


def test_missing_dates_are_those_of_the_first_import(counts, exported):
    """`createdAt` and `updatedAt` default to the time of publication if it is in the past."""
    dates = iso(PAST), None, FUTURE
    articles = [article_json(n, publishedAt=date, createdAt=None, updatedAt=None) for n, date in enumerate(dates)]
    for days, expected in ((0, [3, 0, 0]), (1, [0, 0, 3])):
        with travel(NOW + timedelta(days=days), tick=False):
            assert counts(*articles) == expected
    assert values(exported, "publishedAt") == [iso(PAST), iso(NOW), FUTURE]
    assert values(exported, "createdAt") == values(exported, "updatedAt") == [iso(PAST), iso(NOW), iso(NOW)]


def test_omitted_fields_are_preserved_derived_or_emptied(counts, save, exported):
    """Id, status, dates and views are preserved; category, keywords, authors and banner are emptied."""
    save(article_json(1, readTime=9, metaTitle="Mine", metaDesc="Mine", schemaMarkup=MARKUP, views=5, status="draft"))
    kept = article_json(1, views=5, status="draft", updatedAt=iso(NOW))
    article = {name: kept[name] for name in ("title", "slug", "contentHtml")}
    with travel(NOW, tick=False):
        assert counts(article) == [0, 1, 0]
    assert counts(article) == [0, 0, 1]
    (stored,) = exported()
    assert posting(stored)["headline"] == "Title 1"
    derived = {"readTime": 1, "metaTitle": "Title 1", "metaDesc": "Content of number 1."}
    empty = {"category": "", "keywords": [], "authors": [], "bannerUrl": ""}
    preserved = {name: kept[name] for name in ("id", "status", "publishedAt", "createdAt", "updatedAt", "views")}
    assert (article | preserved | derived | empty).items() <= stored.items()


# The time of the last update

CONTENT = {"title": "New", "slug": "new", "contentHtml": "<p>New</p>", "category": "", "keywords": [], "bannerUrl": ""}
CONTENT |= {"readTime": 2.5, "metaDesc": "New", "metaTitle": "New", "schemaMarkup": MARKUP, "authors": []}
OTHERS = {"views": 99, "status": "draft", "createdAt": "2020-01-01T00:00:00.000Z", "publishedAt": FUTURE}


def test_updated_at_moves_only_if_the_content_changes(counts, save, exported):
    changes = [*({name: value} for name, value in (CONTENT | OTHERS).items()), {}]
    save(*(article_json(number) for number in range(16)))
    with travel(NOW, tick=False):
        articles = (article_json(number, updatedAt=None, **change) for number, change in enumerate(changes))
        assert counts(*articles) == [0, 15, 1]
    assert values(exported, "updatedAt") == [iso(NOW)] * 11 + [iso(PAST)] * 5
    assert all(change.items() <= article.items() for change, article in zip(changes, exported(), strict=True))


FEBRUARY, APRIL = "2025-02-01T00:00:00.000Z", "2025-04-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("stored", "given", "title", "expected"),
    [
        (iso(PAST), FEBRUARY, "Title 1", iso(PAST)),
        (iso(PAST), "2025-04-01T01:00:00.000456+01:00", "Title 1", APRIL),
        (iso(PAST), FEBRUARY, "New", iso(NOW)),  # left over from an export
        (iso(PAST), APRIL, "New", APRIL),
    ],
)
def test_updated_at_of_a_record_never_goes_back(counts, exported, stored, given, title, expected):
    with travel(NOW, tick=False):
        counts(article_json(1, updatedAt=stored))
        counts(article_json(1, updatedAt=given, title=title))
    assert values(exported, "updatedAt") == [expected]


def test_derived_markup_follows_every_kind_of_change(run, save, counts, exported, sql):
    save(article_json(1))
    with travel(NOW, tick=False):
        assert counts(*exported()) == [0, 0, 1]
    sql("UPDATE article SET title = 'Now', updated_at = '2025-06-01 00:00:00'")
    run("customers", "rename", "Acme", "Bolt")
    run("articles", "publish", "slug-1", "--at", "2020-01-01T00:00:00Z")
    graph = posting(*exported())
    assert (graph["headline"], graph["publisher"]["name"]) == ("Now", "Bolt")
    assert (graph["dateModified"], graph["datePublished"]) == ("2025-06-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z")


# Slugs and ids


def new_version(number, **fields):
    return article_json(number, title=f"New {number}", **fields)


# what is imported over articles 1, 2 and 3, and the titles by slug afterwards
IN_ANY_ORDER = {
    "without an id, at a slug that becomes free": (
        [new_version(1, slug="slug-2"), new_version(2, slug="free"), new_version(4, id=None, slug="slug-1")],
        {"free": "New 2", "slug-1": "New 4", "slug-2": "New 1", "slug-3": "Title 3"},
    ),
    # Article 3 keeps its slug, so article 1 cannot leave its own, which article 2 wants.
    "a slug that stays taken": (
        [new_version(1, slug="slug-3"), new_version(2, slug="slug-1"), new_version(4)],
        {"slug-1": "Title 1", "slug-2": "Title 2", "slug-3": "Title 3", "slug-4": "New 4"},
    ),
}


@pytest.mark.parametrize(("articles", "expected"), IN_ANY_ORDER.values(), ids=IN_ANY_ORDER)
def test_result_does_not_depend_on_the_order_of_articles(app, run, articles, expected):
    for number, order in enumerate(permutations(articles)):
        customer = f"Customer {number}"
        helpers.save_articles(app, *map(article_json, (1, 2, 3)), customer=customer)
        assert import_articles(app, *order, customer=customer, options=["--skip-invalid"]).exit_code == 0
        records = map(json.loads, run("articles", "export", "--customer", customer).stdout.splitlines())
        assert {record["slug"]: record["title"] for record in records} == expected


# Errors


def test_errors_name_the_article_field_value_and_reason(errors, exported):
    shown = f"'{'x' * 59}…'"
    expected = [
        ("line 2, slug 'slug-2': bannerUrl: 'https://www.example.com/Größe 3.jpg'", "%20"),
        ("line 2, slug 'slug-2': readTime: '3'", "number of minutes"),
        ("line 3, slug 'slug-3': colo ur: ", "remove it"),  # without the control character
        ("line 3, slug 'slug-3': views: -1", "0 to 9007199254740991"),
        ("line 4, slug 'a': title: ", "Missing"),
        ("line 5: slug: 7", "text"),
        ("line 6: ", "object"),
        ("line 7, slug 'slug-7': keywords: [\"a\\u001b\"]", "control characters"),
        (f"line 8, slug {shown}: slug: {shown}", "1 to 200"),
    ]
    lines = errors(
        minimal_json(1),
        minimal_json(2, readTime="3", bannerUrl="https://www.example.com/Größe 3.jpg"),
        minimal_json(3, views=-1) | {"colo\x9bur": "red"},
        {"slug": "a", "contentHtml": ""},
        minimal_json(5, slug=7),
        [],
        minimal_json(7, keywords=["a\x1b"]),
        minimal_json(8, slug="x" * 201),
    )
    for line, (beginning, reason) in zip(lines, expected, strict=True):
        assert line.startswith(f"standard input, {beginning}"), line
        assert reason in line
    assert exported() == []


def test_report_lists_three_articles_per_error_and_a_count(errors):
    """An error is a field and a reason. After 20 of them, only their number is reported."""
    contents = [{"contentHtml": 1} if number % 2 else {} for number in range(100)]
    lines = errors(*(minimal_json(number, title=1, **contents[number]) for number in range(1, 100)))
    shown = ["line 1", "line 3", "line 5", "and 47", "line 1", "line 2", "line 3", "and 96"]
    assert [re.search(r"(?:line|and) \d+", line)[0] for line in lines] == shown
    lines = errors(*(minimal_json(number, **{f"field{number}": 1}) for number in range(100)))
    assert "line 20, slug 'slug-19': field19: " in lines[19]
    assert lines[20:] == ["… and 80 more."]


def test_title_over_255_characters_passes_if_it_is_stored(app, save, counts, exported, sql):
    long = "x" * 256
    save(minimal_json(1), minimal_json(2, title="é" * 255))
    sql("UPDATE article SET title = ?, meta_title = ? WHERE slug = 'slug-1'", long, long)
    assert counts(minimal_json(1, title=long, category="News")) == [0, 1, 0]
    assert "255" in import_articles(app, minimal_json(1, title=f"{long}x")).stderr
    assert values(exported, "title") == [long, "é" * 255]


# Transactions


def test_dry_run_reports_the_same_and_writes_nothing(app, save, exported):
    save(minimal_json(1), minimal_json(2), minimal_json(3))
    before = exported()
    articles = [minimal_json(1, slug="slug-2"), minimal_json(2, slug="slug-1"), minimal_json(3), minimal_json(4)]
    articles += [minimal_json(5, publishedAt=FUTURE), minimal_json(6, publishedAt=None)]
    dry_run = import_articles(app, *articles, options=["--dry-run"])
    assert exported() == before
    summary = "3 new, 2 changed, 1 unchanged (new: 1 published, 1 scheduled, 1 draft)"
    assert dry_run.stdout.splitlines()[-1] == f"{summary} (dry run: nothing was written)"
    assert import_articles(app, *articles).stdout.splitlines()[-1] == summary
    assert import_articles(app, minimal_json(8, slug="slug-4"), options=["--dry-run"]).exit_code == 1


def test_first_twenty_changes_are_listed_with_their_fields(app, save):
    """New articles are listed only in a dry run, all of them."""
    save(*(article_json(number, schemaMarkup=MARKUP) for number in range(4)))
    later = {"schemaMarkup": MARKUP, "updatedAt": "2026-01-01T00:00:00Z"}
    articles = [article_json(number) for number in range(4, 25)]
    articles += [article_json(0, slug="moved", title="New", schemaMarkup=MARKUP), article_json(1, views=7, **later)]
    articles += [article_json(2, **later), article_json(3, schemaMarkup=MARKUP)]
    changed = ["moved: title, slug (was slug-0), metaTitle", "slug-1: views", "slug-2: updatedAt"]
    new = [f"slug-{number}: new" for number in range(4, 25)]
    dry_run = import_articles(app, *articles, options=["--dry-run"]).stdout.splitlines()
    assert dry_run[:-1] == [*changed, *new]
    assert import_articles(app, *articles).stdout.splitlines()[:-1] == changed
    again = [article_json(number, category="") for number in range(4, 25)]
    assert import_articles(app, *again).stdout.splitlines()[19:-1] == ["slug-23: category", "… and 1 more"]


# Interruptions


def interrupt(*_arguments, **_options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "place", ["transfer.checks.CheckedArticles.add", "transfer.plan.match_articles", "transfer.writer._Writer.write"]
)
def test_interrupted_import_has_written_nothing(app, save, exported, monkeypatch, tmp_path, place):
    """While the articles are read, matched and written."""
    save(minimal_json(1))
    before = exported()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(place, interrupt)
    result = import_articles(app, minimal_json(1, title="New"), minimal_json(2), options=["--redirects", "new.csv"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Interrupted: nothing was written" in result.stderr
    assert (exported(), list(tmp_path.glob("*.csv"))) == (before, [])


def test_others_can_write_while_the_articles_are_read(app, save, sql, exported, monkeypatch):
    def read_while_another_program_writes(*arguments):
        yield from parse_json_lines(*arguments)
        sql("UPDATE article SET title = 'Theirs' WHERE slug = 'slug-1'")

    save(minimal_json(1), minimal_json(2))
    monkeypatch.setattr("transfer.sources.parse_json_lines", read_while_another_program_writes)
    result = import_articles(app, minimal_json(1), minimal_json(3))
    assert result.stdout.splitlines() == ["slug-1: title", "1 new, 1 changed, 0 unchanged (new: 1 published)"]
    assert values(exported, "title") == ["Title 1", "Title 2", "Title 3"]


@pytest.mark.sqlite
def test_dry_run_takes_no_lock(app, save, database):
    save(minimal_json(1))
    with other_writer(database):
        result = import_articles(app, minimal_json(1, title="New"), minimal_json(2), options=["--dry-run"])
    assert "1 new, 1 changed, 0 unchanged" in result.stdout


def test_report_begins_with_what_may_be_hidden(importer):
    files = {"posts/a.md": post("", "[gallery ids=1] [b](/b)"), "posts/b.md": post("audience: members", "Text")}
    report = importer.imports(files)
    words = ["members", "gallery", "--site"]
    assert sorted(words, key=report.index) == words
    assert importer.run("import", "posts", "--publish", "--dry-run").stderr == report  # also if nothing changes


def test_lines_of_the_report_are_short(app, key):
    articles = [
        minimal_json(n, slug=f"{n}-{'x' * 190}", contentHtml=f"<a href='{'y' * 200}/{n}'>&amp;</a>") for n in range(9)
    ]
    result = import_articles(app, *articles, {"slug": "z" * 200, "w" * 500: 1}, options=["--dry-run", "--skip-invalid"])
    assert result.exit_code == 0
    assert 250 < max(map(len, result.stderr.splitlines())) <= 300
