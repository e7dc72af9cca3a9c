"""Import of JSON articles: derived fields, updates, slugs, error reports, transactions."""

import json
import re
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest
from helpers import (
    LISTS,
    PAST,
    article_json,
    import_articles,
    iso,
    json_lines,
    minimal_json,
    run_command,
    subprocess_args,
    wait_for,
)
from importer import error_lines
from time_machine import travel

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_999, tzinfo=UTC)
MARKUP = {"@context": "https://schema.org", "@graph": [{"datePublished": "given"}]}
SUMMARY = re.compile(r"^(\d+) new, (\d+) changed, (\d+) unchanged(?: \(new: .*\))?\n\Z", re.MULTILINE)


@pytest.fixture
def counts(app, key):
    """Import articles for Acme; return the numbers of new, changed and unchanged ones."""

    def counts(*articles):
        result = import_articles(app, *articles)
        assert (result.exit_code, result.stderr) == (0, "")
        return tuple(map(int, SUMMARY.search(result.stdout).groups()))

    return counts


@pytest.fixture
def errors(app, key):
    """Run an import for Acme that must fail; return the lines of its error report."""
    return lambda *articles: error_lines(import_articles(app, *articles))


@pytest.fixture
def exported(articles):
    """Return a function that exports all of Acme's articles, with all fields, by id."""

    def exported():
        lines = articles("export", "--all-fields").stdout.splitlines()
        return {article["id"]: article for article in map(json.loads, lines)}

    return exported


def values(exported, name):
    """Return a field of all articles, ordered by id."""
    return [article[name] for article in exported().values()]


def found(client, query):
    """Return the ids that a list request finds, in order."""
    return [article["id"] for article in client.get(f"{LISTS[0]}?{query}").get_json()["data"]]


def posting(article):
    return article["schemaMarkup"]["@graph"][0]


# Derived fields

DESCRIPTIONS = {
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
    "<p>One\x0b two\x1b\ufffe &#x7;three</p>": "One two three",  # characters that XML forbids are dropped
    "": "",
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


def test_meta_description_is_visible_text_up_to_155(save, exported):
    """Truncated after a word, within 155 characters."""
    save(*(minimal_json(number, contentHtml=html) for number, html in enumerate(DESCRIPTIONS)))
    assert {article["contentHtml"]: article["metaDesc"] for article in exported().values()} == DESCRIPTIONS


def test_unclosed_tags_take_linear_time(key, database):
    """A backtracking regular expression would take an hour."""
    pieces = ["<!--", "<script>", "<a ", '<a "', "<", "<p '", "<style", "&", "</", "<script>x</script "]
    articles = [minimal_json(n, contentHtml=piece * (100_000 // len(piece))) for n, piece in enumerate(pieces)]
    command = subprocess_args(database, "-m", "flask", "articles", "import", "-")
    result = subprocess.run(**command, input=json_lines(articles), timeout=12)
    assert result.stdout.startswith("10 new, ")


def test_reading_time_is_238_words_a_minute_rounded_up(save, exported):
    minutes = {0: 1, 1: 1, 238: 1, 239: 2, 2380: 10}
    save(*(minimal_json(words, contentHtml=f"<p>{'word ' * words}</p>") for words in minutes))
    assert values(exported, "readTime") == list(minutes.values())


def test_derived_markup_matches_the_article(save, exported):
    draft = article_json(2, status="draft", publishedAt=None, bannerUrl="")
    save(article_json(1, contentHtml=f"<p>{'word ' * 500}</p>"), draft)
    article, draft = exported().values()
    assert (article["metaTitle"], article["readTime"]) == ("Title 1", 3)
    assert article["metaDesc"] == " ".join(["word"] * 31) + "…"  # the 155th character is within a word
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
    assert not {"datePublished", "image"} & posting(draft).keys()
    assert posting(draft)["dateModified"] == iso(PAST)


def test_derived_markup_cannot_break_out_of_a_script(save, exported):
    save(article_json(1, title="What </Script> does", contentHtml="&lt;!-- and &lt;/script&gt; < b"))
    (article,) = exported().values()
    assert posting(article)["headline"] == "What < /Script> does"
    assert posting(article)["description"] == "< !-- and < /script> < b"
    assert article["metaTitle"] == "What </Script> does"


# New and changed articles


def test_repeated_import_changes_nothing(counts, exported):
    sparse = [minimal_json(1), minimal_json(2, publishedAt=None), minimal_json(3, status="published", publishedAt=None)]
    sparse[0].pop("id")
    articles = [*sparse, *map(article_json, range(10, 1210))]  # more than one batch
    assert counts(*articles) == (1203, 0, 0)
    before = exported()
    assert counts(*articles) == (0, 0, 1203)
    assert exported() == before


def test_search_and_title_order_follow_a_new_title_and_slug(save, client):
    save(article_json(1), article_json(2), article_json(3))
    save(article_json(2, title="Ärger"), article_json(3, slug="Über"))
    assert found(client, "q=arger slug-2") == ["id-0002"]
    assert found(client, "q=title") == ["id-0003", "id-0001"]
    assert found(client, "q=uber title") == ["id-0003"]
    assert found(client, "q=slug-3") == []
    assert found(client, "orderBy=title&order=asc") == ["id-0002", "id-0001", "id-0003"]


def test_new_article_gets_a_random_id_and_no_views(save, exported):
    save(article_json(1, id=None, views=None), article_json(2, id=None))
    assert [len(id) for id in exported()] == [36, 36]
    assert {article["slug"]: article["views"] for article in exported().values()} == {"slug-1": 0, "slug-2": 2}


def test_missing_dates_are_those_of_the_first_import(counts, exported):
    """`createdAt` defaults to a publication in the past."""
    articles = [article_json(number, createdAt=None) for number in range(3)]
    articles[1]["publishedAt"] = None
    articles[2]["publishedAt"] = "2999-01-01T00:00:00Z"
    for days, expected in ((0, (3, 0, 0)), (1, (0, 0, 3))):
        with travel(NOW + timedelta(days=days), tick=False):
            assert counts(*articles) == expected
    assert values(exported, "publishedAt")[:2] == [iso(PAST), iso(NOW)]
    assert values(exported, "createdAt") == [iso(PAST), iso(NOW), iso(NOW)]


def test_omitted_fields_are_preserved_derived_or_emptied(counts, save, exported):
    """Id, status, dates and views are preserved; category, keywords and banner are emptied."""
    save(article_json(1, readTime=9, metaTitle="Mine", metaDesc="Mine", schemaMarkup=MARKUP, views=5))
    kept = article_json(1, views=5, updatedAt=iso(NOW))
    empty = {"category": "", "keywords": [], "bannerUrl": ""}
    article = {name: kept[name] for name in ("title", "slug", "contentHtml")}
    with travel(NOW, tick=False):
        assert counts(article) == (0, 1, 0)
    assert counts(article) == (0, 0, 1)
    (stored,) = exported().values()
    assert posting(stored)["headline"] == "Title 1"
    derived = {"readTime": 1, "metaTitle": "Title 1", "metaDesc": "Content of number 1."}
    assert stored == kept | derived | empty | {"schemaMarkup": stored["schemaMarkup"]}


# The time of the last update


def test_updated_at_moves_if_the_content_changes(counts, save, exported):
    new = {"title": "New", "slug": "new", "contentHtml": "<p>New</p>", "category": "", "keywords": [], "bannerUrl": ""}
    new |= {"readTime": 2.5, "metaDesc": "New", "metaTitle": "New", "schemaMarkup": MARKUP}
    save(*(article_json(number) for number in range(11)))
    articles = [article_json(number, updatedAt=None, **{name: new[name]}) for number, name in enumerate(new)]
    with travel(NOW, tick=False):
        assert counts(*articles, article_json(10, updatedAt=None)) == (0, 10, 1)
    assert values(exported, "updatedAt") == [iso(NOW)] * 10 + [iso(PAST)]
    assert {posting(article)["dateModified"] for article in [*exported().values()][:9]} == {iso(NOW)}


def test_updated_at_stays_if_the_content_is_unchanged(counts, save, exported):
    changes = [{}, {"views": 99}, {"status": "draft"}, {"createdAt": "2020-01-01T00:00:00.000Z"}]
    changes.append({"publishedAt": "2025-05-01T00:00:00.000Z"})
    save(*(article_json(number) for number in range(6)))
    articles = [article_json(number, updatedAt=None, **change) for number, change in enumerate(changes)]
    given = article_json(5, updatedAt="2025-12-01T01:00:00.123456+01:00")  # stored as given
    assert counts(*articles, given) == (0, 5, 1)
    assert values(exported, "updatedAt") == [iso(PAST)] * 5 + ["2025-12-01T00:00:00.123Z"]
    for change, article in zip([*changes, {}], exported().values(), strict=True):
        assert change.items() <= article.items()


@pytest.mark.parametrize(
    ("published_at", "expected"), [(iso(PAST), iso(PAST)), ("2999-01-01T00:00:00.000Z", iso(NOW)), (None, iso(NOW))]
)
def test_updated_at_of_a_new_article_is_its_publication(counts, exported, published_at, expected):
    with travel(NOW, tick=False):
        counts(article_json(1, publishedAt=published_at, status=None, updatedAt=None))
    assert values(exported, "updatedAt") == [expected]


@pytest.mark.parametrize(
    ("stored", "given", "title", "expected"),
    [
        ("2062-01-01T00:00:00.000Z", "2025-04-01T00:00:00.000Z", "Title 1", "2025-04-01T00:00:00.000Z"),
        ("2062-01-01T00:00:00.000Z", None, "Title 1", "2062-01-01T00:00:00.000Z"),
        ("2062-01-01T00:00:00.000Z", "2025-04-01T00:00:00.000Z", "New", iso(NOW)),
        (iso(PAST), "2025-02-01T00:00:00.000Z", "Title 1", iso(PAST)),
        (iso(PAST), "2025-02-01T00:00:00.000Z", "New", iso(NOW)),
        (iso(PAST), "2025-04-01T00:00:00.000Z", "New", "2025-04-01T00:00:00.000Z"),
    ],
)
def test_earlier_updated_at_only_corrects_a_future_one(counts, exported, stored, given, title, expected):
    with travel(NOW, tick=False):
        counts(article_json(1, updatedAt=stored))
        counts(article_json(1, updatedAt=given, title=title))
    assert values(exported, "updatedAt") == [expected]


def test_derived_markup_follows_every_kind_of_change(run, save, counts, exported, sql):
    save(article_json(1))
    with travel(NOW, tick=False):
        assert counts(*exported().values()) == (0, 0, 1)
    sql("UPDATE article SET title = 'Now', updated_at = '2025-06-01 00:00:00'")
    run("customers", "rename", "Acme", "Bolt")
    run("articles", "publish", "slug-1", "--at", "2020-01-01T00:00:00Z")
    graph = posting(exported()["id-0001"])
    assert (graph["headline"], graph["publisher"]["name"]) == ("Now", "Bolt")
    assert (graph["dateModified"], graph["datePublished"]) == ("2025-06-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z")


def test_json_written_by_another_tool_is_compared_by_value(run, save, exported, sql):
    save(article_json(1, keywords=["tea", "é"]), article_json(2, schemaMarkup=MARKUP))
    sql("UPDATE article SET keywords = ? WHERE id = 'id-0001'", '[ "tea",\n\r "\\u00e9" ]')
    sql("UPDATE article SET schema_markup = ? WHERE id = 'id-0002'", json.dumps(MARKUP, indent=1))
    for options in ([], ["--all-fields"]):
        lines = run("articles", "export", *options).stdout
        with travel(NOW, tick=False):
            assert run("articles", "import", "-", input=lines).stdout == "0 new, 0 changed, 2 unchanged\n"
    assert values(exported, "updatedAt") == [iso(PAST)] * 2
    assert exported()["id-0001"]["keywords"] == ["tea", "é"]


# Slugs and ids


def test_slugs_can_be_swapped_and_passed_on(counts, save, client, exported):
    save(article_json(1), article_json(2), article_json(3))
    assert counts(article_json(1, slug="slug-2"), article_json(2, slug="slug-1")) == (0, 2, 0)
    assert values(exported, "slug") == ["slug-2", "slug-1", "slug-3"]
    assert found(client, "q=slug-2") == ["id-0001"]
    # A new article takes a slug that another one gives up later in the same import, in another batch.
    rest = [article_json(number, title="Rest") for number in range(100, 700)]
    assert counts(article_json(9, slug="slug-3"), *rest, article_json(3, slug="old-slug-3")) == (601, 1, 0)
    assert values(exported, "slug")[2:4] == ["old-slug-3", "slug-3"]
    assert found(client, "q=slug-3 title 9") == ["id-0009"]


def test_new_id_cannot_take_the_slug_of_another_article(errors, save, exported):
    save(article_json(1))
    (line,) = errors(article_json(2), article_json(3, slug="slug-1"))
    for part in ("standard input, line 2, slug 'slug-1': slug: ", "id-0001", "another slug", "use its id"):
        assert part in line
    assert list(exported()) == ["id-0001"]


def test_duplicate_ids_and_slugs_name_both_places(errors, save):
    save(article_json(1))
    rest = [article_json(number) for number in range(100, 700)]  # in another batch
    for articles, places, twice in (
        ([article_json(2), *rest, article_json(2, slug="x")], ("x", "slug-2"), "id 'id-0002'"),
        ([article_json(2), article_json(3, slug="slug-2")], ("slug-2", "slug-2"), "slug 'slug-2'"),
        ([article_json(1, id=None), article_json(1, slug="moved")], ("moved", "slug-1"), "id 'id-0001'"),
    ):
        (line,) = errors(*articles)
        assert line.startswith(
            f"standard input, line {len(articles)}, slug '{places[0]}': The article with the {twice} "
        )
        also = f"also in standard input, line 1, slug '{places[1]}'."
        assert line.endswith(f"{also} Remove one, or change its {twice.split()[0]}.")


# Errors


def test_errors_name_the_article_field_value_and_reason(errors, exported):
    invalid = [
        minimal_json(2, readTime="3", bannerUrl="https://www.example.com/Größe 3.jpg"),
        minimal_json(3, colour="red", views=-1),
        {"slug": "only"},
        minimal_json(5, slug=7),
        [],
        minimal_json(8, _schema=1, title="Bell\7", keywords=["a\x1b"], slug="x" * 201),
    ]
    long_slug = f"{'x' * 37}…{'x' * 38}"
    expected = [
        ("line 2, slug 'slug-2'", "bannerUrl", "'https://www.example.com/Größe 3.jpg'", "%20"),
        ("line 2, slug 'slug-2'", "readTime", "'3'", "number of minutes"),
        ("line 3, slug 'slug-3'", "colour", "", "remove it"),
        ("line 3, slug 'slug-3'", "views", "-1", "0 to 9007199254740992"),
        ("line 4, slug 'only'", "contentHtml", "", "Missing"),
        ("line 4, slug 'only'", "title", "", "Missing"),
        ("line 5", "slug", "7", "text"),
        ("line 6", "", "", "object"),
        (f"line 7, slug '{long_slug}'", "_schema", "", "remove it"),
        (f"line 7, slug '{long_slug}'", "keywords", "['a\\x1b']", "control characters"),
        (f"line 7, slug '{long_slug}'", "slug", f"'{long_slug}'", "1 to 200"),
        (f"line 7, slug '{long_slug}'", "title", "'Bell\\x07'", "control characters"),
    ]
    for line, (where, field, value, reason) in zip(errors(minimal_json(1), *invalid), expected, strict=True):
        assert line.startswith(f"standard input, {where}: {field}{': ' * bool(field)}{value}"), line
        assert reason in line
    assert exported() == {}


def test_report_lists_three_articles_per_error_and_a_count(errors):
    """An error is a field and a reason. After 20 of them, only their number is reported."""
    same = [minimal_json(number, title=1, **({"contentHtml": 1} if number % 2 else {})) for number in range(1, 1001)]
    lines = errors(*same)
    assert [re.split(", slug| more", line)[0] for line in lines] == [
        *("standard input, line 1", "standard input, line 3", "standard input, line 5"),
        "… and 497",
        *("standard input, line 1", "standard input, line 2", "standard input, line 3"),
        "… and 997",
    ]
    other = [minimal_json(number, **{f"field{number}": 1}) for number in range(100)]
    assert errors(*other)[19:] == [
        "standard input, line 20, slug 'slug-19': field19: Unknown field: remove it.",
        "… and 80 more.",
    ]


def test_unknown_field_error_suggests_the_right_name(errors):
    for name, field in (
        *(("html", "contentHtml"), ("body", "contentHtml"), ("content", "contentHtml"), ("tags", "keywords")),
        *(("published_at", "publishedAt"), ("meta_description", "metaDesc"), ("image", "bannerUrl")),
        *(("ContentHTML", "contentHtml"), ("read-time", "readTime")),
    ):
        (line,) = errors(minimal_json(1, **{name: "x"}))
        assert line.endswith(f"{name}: Unknown field: did you mean {field}?"), name
    (line,) = errors(minimal_json(1, quux="x"))
    assert line.endswith("quux: Unknown field: remove it.")


SUSPICIOUS = {
    "entities": [{"title": "Q&amp;A"}],
    "Markdown": [{"contentHtml": "# Menu"}, {"contentHtml": "See [here](https://a.b)"}],
    "encoding": [{"title": "GrÃ¼ÃŸe"}, {"contentHtml": "<p>itâ€™s</p>"}],
    "relative": [
        {"contentHtml": html} for html in ('<a class="x" href="/about">x</a>', "<p><img src=a.jpg>", "<img src='./b'>")
    ],
}
UNSUSPICIOUS = (
    *({"title": "Q&A; R&D &c."}, {"title": "IRMÃ”"}, {"contentHtml": "1. One [two] *three*"}),
    {"contentHtml": '<a href="#top"></a><a href="mailto:a@b"></a><a href="tel:1"></a><img src="data:,">'},
    {"contentHtml": '<a href="https://a.b/c"></a><a href="//a.b/c"></a>&lt;a href="/x"&gt; src="/x" <b>'},
)


def test_suspicious_content_is_reported_with_slugs(app, key):
    fields = [*chain.from_iterable(SUSPICIOUS.values()), {"contentHtml": '<a href="/4">4</a>'}, *UNSUSPICIOUS]
    articles = [minimal_json(number, **changed) for number, changed in enumerate(fields)]
    result = import_articles(app, *articles)
    slugs = iter(article["slug"] for article in articles)
    for (word, wrong), line in zip(SUSPICIOUS.items(), result.stderr.splitlines(), strict=True):
        assert word in line
        names = ", ".join(next(slugs) for _ in wrong)
        assert line.endswith(f" ({len(wrong)}): {names}" if len(wrong) < 3 else f" (4): {names}, …")
    assert import_articles(app, *articles).stderr == ""  # reported only when something changes
    again = import_articles(app, *articles[1:], minimal_json(0, title="A &lt; B"))
    assert again.stderr.count("\n") == 1


def test_error_report_is_short_and_printable(app, key):
    invalid = minimal_json(1, slug="\x1b[2J\n" * 50, **{f"\x1b[31m{number}" * 999: 1 for number in range(50)})
    command = "articles", "import", "-"
    result = run_command(app, *command, input=json_lines([invalid]), color=True)
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr
    assert result.stderr.count("\n") == 22
    assert all(len(line) <= 500 for line in result.stderr.splitlines())


# --skip-invalid


def test_skip_invalid_imports_the_valid_articles(app, key, exported):
    articles = [minimal_json(1), minimal_json(2, title=7, views=-1), minimal_json(3, slug="slug-1")]
    articles += [minimal_json(1, slug="again"), {}, minimal_json(4)]
    result = import_articles(app, *articles, options=["--skip-invalid"])
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (
        0,
        "2 new, 0 changed, 0 unchanged, 4 invalid (new: 2 published)",
    )
    assert [line in result.stderr for line in ("line 1", "line 2, slug 'slug-2': title", "line 3", "line 4")] == [
        True
    ] * 4
    assert values(exported, "slug") == ["slug-1", "slug-4"]


def test_skip_invalid_does_not_swap_slugs(app, save, exported):
    save(*(minimal_json(number) for number in range(1, 6)))
    swapped = [minimal_json(1, slug="slug-2"), minimal_json(2, slug="slug-1")]
    moved = [minimal_json(3, slug="free"), minimal_json(4, slug="slug-3"), minimal_json(9, slug="slug-4")]
    result = import_articles(app, *swapped, *moved, options=["--skip-invalid"])
    assert result.stdout.splitlines()[-1].startswith("1 new, 2 changed, 0 unchanged, 2 invalid")
    assert values(exported, "slug") == ["slug-1", "slug-2", "free", "slug-3", "slug-5", "slug-4"]


@pytest.mark.parametrize(
    ("given", "options", "exit_code"),
    [
        ([{}], [], 1),
        ([], [], 0),
        ([minimal_json(1)], ["--unpublish-missing"], 2),
        ([{}, minimal_json(1)], ["x.csv"], 1),
    ],
)
def test_skip_invalid_needs_valid_articles_and_sources(app, key, exported, tmp_path, given, options, exit_code):
    (tmp_path / "x.csv").write_text('title,body\nA,"x')
    options = [tmp_path / option if option == "x.csv" else option for option in options]
    assert import_articles(app, *given, options=["--skip-invalid", *options]).exit_code == exit_code
    assert exported() == {}


# Transactions


def test_dry_run_reports_the_same_and_writes_nothing(app, save, exported):
    save(minimal_json(1), minimal_json(2), minimal_json(3))
    before = exported()
    articles = [minimal_json(1, slug="slug-2"), minimal_json(2, slug="slug-1"), minimal_json(3), minimal_json(4)]
    articles += [minimal_json(5, publishedAt="2999-01-01T00:00:00Z"), minimal_json(6, publishedAt=None)]
    articles += [minimal_json(7, status="draft")]
    dry_run = import_articles(app, *articles, options=["--dry-run"])
    assert exported() == before
    summary = "4 new, 2 changed, 1 unchanged (new: 1 published, 1 scheduled, 2 draft)"
    assert dry_run.stdout.splitlines()[-1] == f"{summary} (dry run: nothing was written)"
    assert import_articles(app, *articles).stdout.splitlines()[-1] == summary
    assert import_articles(app, minimal_json(8, slug="slug-4"), options=["--dry-run"]).exit_code == 1


def test_dry_run_lists_the_changed_fields_of_each_article(app, save, sql):
    save(*(article_json(number, schemaMarkup=MARKUP) for number in range(3)))
    articles = [article_json(0, schemaMarkup=MARKUP, slug="moved", title="New", updatedAt=None)]
    articles += [article_json(1, schemaMarkup=MARKUP, updatedAt="2026-01-01T00:00:00Z", views=7)]
    articles += [article_json(2, schemaMarkup=MARKUP, updatedAt="2026-01-01T00:00:00Z")]
    articles += [article_json(number) for number in range(3, 25)]
    lines = import_articles(app, *articles, options=["--dry-run"]).stdout.splitlines()
    assert lines[:4] == ["moved: title, slug, metaTitle", "slug-1: views", "slug-2: updatedAt", "slug-3: new"]
    assert lines[19:21] == ["slug-19: new", "… and 5 more"]
    assert len(lines) == 22
    sql("UPDATE article SET folded_title = '' WHERE id = 'id-0001'")
    only_search = import_articles(app, article_json(1, schemaMarkup=MARKUP), options=["--dry-run"])
    assert only_search.stdout.startswith("slug-1: search\n")


def test_import_lists_the_articles_it_changes(app, save):
    save(*(minimal_json(number) for number in range(25)))
    changed = [minimal_json(number, category="News") for number in range(25)]
    lines = import_articles(app, *map(minimal_json, range(30, 60)), *changed).stdout.splitlines()
    assert lines[:20] == [f"slug-{number}: category" for number in range(20)]
    assert lines[20] == "… and 5 more"
    assert len(lines) == 22


@pytest.mark.slow
@pytest.mark.sqlite
def test_readers_see_an_import_completely_or_not_at_all(save, client, sql, database, tmp_path):
    save(*map(article_json, range(20)))
    file, wal = tmp_path / "new.jsonl", database.with_name(database.name + "-wal")
    file.write_text(json_lines(minimal_json(number, title="New", contentHtml="x" * 7500) for number in range(20_000)))
    command = subprocess_args(database, "-m", "flask", "articles", "import", str(file)) | {"stdin": subprocess.PIPE}

    def titles(take):
        response = client.get(f"{LISTS[1]}?take={take}").get_json()
        return response["meta"]["total"], {article["title"] for article in response["data"]}

    complete = "19980 new, 20 changed, 0 unchanged (new: 19980 published)"
    for is_interrupted, status, printed in ((True, 1, "Interrupted: nothing was written."), (False, 0, complete)):
        sql("PRAGMA wal_checkpoint(TRUNCATE)")
        with subprocess.Popen(**command) as process:
            wait_for(lambda: wal.exists() and wal.stat().st_size > 500_000, lambda: "nothing is written")
            for number in range(20):  # different pages, so none comes from the cache
                assert titles(100 - number) == (20, {f"Title {number}" for number in range(20)})
            if is_interrupted:
                process.send_signal(signal.SIGINT)
            assert "".join(process.communicate(timeout=60)).splitlines()[-1] == printed
        assert process.returncode == status
    assert titles(100) == (20_000, {"New"})
