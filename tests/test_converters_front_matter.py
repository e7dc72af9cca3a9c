"""Front matter: field aliases, dates, drafts, slugs, invalid values, and reports of unused fields."""

import re
from unicodedata import normalize
from zoneinfo import ZoneInfo

import pytest
from helpers import save_articles
from importer import post

SITE = "https://blog.example.com"
BANNER = "https://a.example/a.jpg"


# Fields


@pytest.mark.parametrize(
    ("field", "value", "front_matter"),
    [
        ("publishedAt", "2026-01-02T00:00:00.000Z", ["publishDate: 2026-01-02"]),
        ("metaDesc", "In short", ["excerpt: In short", "summary: In short"]),
        ("keywords", ["one", "two words"], ["tags: one, two words"]),
        ("keywords", ["1", "true", "x"], ["tags: [1, true, x]"]),
        ("category", "News", ["categories: [News, Food]", "categories: Other\ncategory: News"]),
        ("bannerUrl", "https://a.example/a%20b.jpg", ["cover: https://a.example/a b.jpg"]),
        ("bannerUrl", "https://cdn.example/a.jpg", ["image: //cdn.example/a.jpg"]),
        ("bannerUrl", BANNER, [f"featured_image: {BANNER}", f"image: {{src: '{BANNER}', alt: x}}"]),
        ("bannerUrl", BANNER, [f"hero: {{image: {{url: '{BANNER}'}}}}", f"images: ['{BANNER}']"]),
        ("slug", "menu-spring-menu", ["slug: /menu/spring menu/"]),
        ("slug", "menu", ["Slug: menu"]),
        ("id", "a-17", ["id: a-17"]),
    ],
)
def test_field_aliases_are_recognized(importer, field, value, front_matter):
    for fields in front_matter:
        importer.write({"a.md": post(fields)})
        assert "slug" not in importer.imports("a.md")
        (article,) = importer.articles().values()
        assert article[field] == value


def test_titles_stay_as_typed(importer):
    titles = {"a": "Option<T> & Result<T, E>", "b": "Using <b> &lt;tags&gt;", "c": "<Suspense>", "d": "«\xa0Oui\xa0»"}
    importer.write({f"{name}.md": f'---\ntitle: "{title}"\n---\n' for name, title in titles.items()})
    importer.imports(".")
    assert {slug: article["title"] for slug, article in importer.articles().items()} == titles


def test_article_matches_by_id_or_slug(app, importer):
    save_articles(app, {"id": "mine", "slug": "menu", "title": "Old", "contentHtml": "", "status": "published"})
    importer.write({"menu.md": post("id: theirs"), "other.md": post("id: mine")})
    for slug in ("menu", "other"):
        assert importer.run("import", f"{slug}.md").stdout.endswith("0 new, 1 changed, 0 unchanged\n")
        assert {slug: article["id"] for slug, article in importer.articles().items()} == {slug: "mine"}


def test_unused_fields_are_reported(importer):
    fields = (
        "excerpt: E\ndescription: D\ncover: {src: /a.jpg, alt: Alt, credit: ''}\nimages: [/b.jpg]\nnoindex: 1\nempty:"
    )
    importer.write({"a.md": post(f"categories: [X, Y, Z]\n{fields}")})
    report = importer.imports("a.md", "--site", SITE)
    assert sorted(re.findall(r"([\w.]+) \(1\)", report)) == ["Y", "Z", "cover.alt", "excerpt", "images", "noindex"]
    article = importer.only()
    assert (article["category"], article["metaDesc"], article["bannerUrl"]) == ("X", "D", f"{SITE}/a.jpg")


def test_thousands_of_unused_fields_are_counted(importer):
    importer.write({"a.md": post("\n".join(f"field{number}: x" for number in range(3000)))})
    (line,) = importer.imports("a.md").splitlines()
    assert re.search(r"field9 \(1\).*, and 29\d\d more: a", line)
    assert len(line) <= 300


def test_report_covers_only_new_and_changed_articles(importer):
    importer.write({f"a/post-{n}.md": post("author: A") for n in range(5)})
    assert importer.imports("a").endswith(": author (5): post-0, post-1, post-2, …\n")
    importer.write({"a/post-3.md": post("author: A", "New")})
    result = importer.run("import", "a")
    assert result.stdout.endswith("\n0 new, 1 changed, 4 unchanged\n")
    assert result.stderr.endswith(": author (1): post-3\n")


@pytest.mark.parametrize(
    ("first", "second"), [("Draft: false", "draft: true"), ("Date: 2020-01-01", "date: 2035-01-01")]
)
def test_conflicting_spellings_of_a_field_are_an_error(importer, first, second):
    importer.write({"a.md": f"---\ntitle: A\npublishDate: 2026-01-01\n{first}\n{second}\n---\n"})
    result = importer.run("import", "a.md")
    assert result.exit_code == 1
    assert f" as {first.partition(':')[0]}" in result.stderr
    assert importer.states() == {}


# Dates


DATES = {  # read in Los Angeles
    "2022-07-08T07:00:00.000Z": ["Jul 08 2022", "July 8, 2022"],
    "2025-01-02T08:00:00.000Z": ["2025-1-2"],
    "2025-12-31T08:00:00.000Z": ["31-Dec-25"],
    "2025-12-31T08:05:00.000Z": ["31 Dec 2025 12:05 am"],
    "2025-12-31T23:00:00.000Z": ["2025/12/31 23:00:00 UTC", "20251231T230000Z"],
    "2026-01-01T04:00:00.000Z": [
        "Wed Dec 31 2025 23:00:00 GMT-0500 (Eastern Standard Time)",
        "Wednesday, December 31st, 2025 at 8 p.m.",
    ],
    "2026-01-01T07:59:00.000Z": ["December 31, 2025 11:59 PM"],
    "2026-03-01T08:00:00.000Z": ["2026-03-01", "01.03.26"],
    "2026-03-01T09:00:00.000Z": ["2026-03-01 10:00:00 +01:00", "Sun, 01 Mar 2026 10:00:00 +0100"],
    "2026-03-01T10:00:00.000Z": [
        *("2026-03-01T10:00:00Z", "2026-03-01 10:00:00 UTC"),
        *(f"Sun, 01 Mar 2026 10:00:00 {zone}" for zone in ("-0000", "GMT")),
    ],
    "2026-03-01T15:00:00.000Z": ["2026-03-01 10:00:00 -0500"],
    "2026-03-01T18:00:00.000Z": [
        *("1.03.2026 10:00", "01.03.2026 10", "2026-03-01 10:00", "2026-03-01T10", "2026-03-01 10", "2026-03-01 1000"),
    ],
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


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Los_Angeles", "Pacific/Kiritimati", "UTC"])
def test_date_without_a_time_is_that_day_in_utc(importer, zone):
    importer.write({"a.md": post("publishDate: 2026-03-04"), "b.csv": "slug,title,date,body\nb,B,04.03.2026,x\n"})
    importer.imports("a.md", "b.csv", "--timezone", zone)
    assert {article["publishedAt"][:10] for article in importer.articles().values()} == {"2026-03-04"}


def test_article_without_a_date_is_a_draft_or_keeps_its_date(importer):
    importer.write({"2026-01-01-named.md": "---\ntitle: A\n---\n", "none.md": "---\ntitle: B\n---\n"})
    assert "saved as drafts (1): none\n" in importer.imports(".")
    assert importer.states() == {"none": "draft", "named": "published"}
    assert importer.articles()["named"]["publishedAt"] == "2026-01-01T00:00:00.000Z"
    importer.run("publish", "none")
    importer.write({"none.md": "---\ntitle: C\n---\n"})
    importer.imports(".")
    assert (importer.articles()["none"]["title"], importer.states()["none"]) == ("C", "published")


def test_unused_date_is_reported_if_it_differs(importer):
    text = "---\ntitle: A\n{}\n---\n"
    same, other = "date: 2026-01-02\npublished: Jan 2, 2026", "date: 2026-01-02\npublish_date: 2026-03-01"
    importer.write({"posts/a.md": text.format(same), "posts/b.md": text.format(other)})
    (line,) = importer.imports("posts").splitlines()
    assert "publish_date" in line
    assert line.endswith(" date (1): b")
    dates = {slug: article["publishedAt"][:10] for slug, article in importer.articles().items()}
    assert dates == {"a": "2026-01-02", "b": "2026-03-01"}


def test_site_and_time_zone_default_to_the_settings(app, importer, monkeypatch):
    importer.write({"a.md": "---\ntitle: A\ndate: 2026-01-01 08:00\n---\n[b](/b)"})
    importer.imports("a.md", "--site", SITE, "--timezone", "Europe/Berlin")
    monkeypatch.setitem(app.config, "SITE_URL", SITE)
    monkeypatch.setitem(app.config, "TIMEZONE", ZoneInfo("Europe/Berlin"))
    assert importer.run("import", "a.md").stdout == "0 new, 0 changed, 1 unchanged\n"


def test_invalid_site_or_time_zone_is_a_usage_error(importer):
    importer.write({"a.md": post()})
    options = "--site www.example.com", "--site https://a.example/\udcff", "--timezone Mars/Base", "--timezone ../x"
    assert [importer.run("import", "a.md", *option.split()).exit_code for option in options] == [2] * 4


# Drafts


SWITCHES = {
    "draft": [
        *("draft: TRUE", "draft: Yes", "draft: on", "draft: 1", "draft: y", "'draft ': true", "Draft?: yes"),
        *("isDraft: true", "draft: false\nis-draft: true", "draft: false\nstatus: draft"),
        *("published: no", "published: 0", "publish: false", "is_published: 0", "publish: true\npublished: false"),
        *("status: Draft", "draft: true\nstatus: published", "status: published\nstate: draft"),
    ],
    "published": [
        *("draft: 'off'", "draft: N", "draft:", "is_draft: no", "published: y", "published: true"),
        *("Status: PUBLISHED", "post_status: publish"),
    ],
}


def test_every_spelling_of_draft_and_published_is_understood(importer):
    for state, fields in SWITCHES.items():
        importer.write({f"posts/{state}-{number}.md": post(field) for number, field in enumerate(fields)})
    assert importer.imports("posts") == ""
    states = importer.states()
    assert len(states) == sum(map(len, SWITCHES.values()))
    assert states == {slug: slug.partition("-")[0] for slug in states}


@pytest.mark.parametrize(
    ("fields", "options", "state"),
    [
        ("date: 2026-01-01", [], "draft"),  # a nightly import must not publish it again
        ("date: 2026-01-01\ndraft: false", [], "published"),
        ("date: 2026-01-01\npublished: true", [], "published"),  # Jekyll
        ("draft: false", [], "draft"),
        ("date: 2026-01-01", ["--unpublish-missing"], "published"),
    ],
)
def test_drafts_are_published_only_if_the_source_says_so(importer, fields, options, state):
    importer.write({"a.md": "---\ntitle: A\ndraft: true\n---\n"})
    importer.imports("a.md")
    importer.write({"a.md": f"---\ntitle: A\n{fields}\n---\n"})
    importer.imports("a.md", *options)
    assert importer.states() == {"a": state}


HIDING_FIELDS = [  # values that show the article, and that hide it
    ("private", "false", "true"),
    ("is_private", "no", "yes"),
    ("hidden", "'off'", "on"),
    ("unlisted", "0", "1"),
    ("visibility", "Public", "members"),
    ("public", "true", "false"),
    ("live", "yes", "no"),
    ("password", "''", "secret"),
    ("build", "{}", "{render: never}"),
    ("scheduled", "false", "2030-01-01"),
    ("eleventyExcludeFromCollections", "false", "true"),
    ("wip", "n", "until May"),
    ("permalink", "", "false"),
    ("build", "{}", "{render: false}"),
    ("archived", "no", "true"),
]


@pytest.mark.parametrize(("field", "shown", "hidden"), HIDING_FIELDS)
def test_field_that_hides_an_article_makes_it_a_draft(importer, field, shown, hidden):
    importer.write({"posts/a.md": post(f"{field}: {shown}"), "posts/b.md": post(f"{field}: {hidden}")})
    (line,) = importer.imports("posts").splitlines()
    assert f": {field}" in line
    assert line.endswith(" (1): b")
    assert "secret" not in line
    assert importer.states() == {"a": "published", "b": "draft"}


@pytest.mark.parametrize("name", ["expiryDate", "unpublishDate"])
def test_expired_hugo_article_is_a_draft(importer, name):
    importer.write({"posts/past.md": post(f"{name}: 2026-02-01"), "posts/later.md": post(f"{name}: 2999-01-01")})
    drafts, dropped = importer.imports("posts").splitlines()
    assert f"{name} (1)" in drafts
    assert f"{name} (1)" in dropped
    assert importer.states() == {"past": "draft", "later": "published"}


def test_own_article_file_below_drafts_is_a_draft(importer):
    front_matter = "---\ntitle: A\nslug: a\nstatus: published\npublishedAt: 2026-01-01T00:00:00Z\n---\n"
    importer.write({"posts/_drafts/a.html": front_matter + "<p>A</p>\n"})
    importer.imports("posts")
    assert importer.states() == {"a": "draft"}


# Invalid values


INVALID = {
    "draft": ["falsch", "soon", "[true]"],
    "published": ["vielleicht"],
    "publish": ["2030-01-01"],
    "isDraft": ["maybe"],
    "status": ["Entwurf"],
    "expiryDate": ["next year"],
    "pubDate": ["Sun, 01 Mar 2026 08:00:00 +0100 tomorrow"],
    "date": [
        *("2026-03-01 08:00 CET", "2026-02-29", "03/01/2026", "Mon, 01 Mar 2026", "13:00 PM"),
        "2026-03-29 02:30",  # nonexistent in Berlin
    ],
    "lastmod": ["{a: b}"],
    "title": ["[a, b]"],
    "description": ["{a: b}"],
    "tags": ["{a: b}"],
    "categories": ["[[a]]"],
    "readTime": ["4 min"],
    "views": ["1.000"],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field in INVALID for value in INVALID[field]])
def test_invalid_value_is_reported_with_its_field(importer, field, value):
    title = "" if field == "title" else "title: A\n"
    importer.write({"a.md": f"---\n{title}created: 2026-01-01\n{field}: {value}\n---\n"})
    result = importer.run("import", "a.md", "--timezone", "Europe/Berlin")
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()[1:]
    assert line.startswith(f"a.md, slug 'a': {field}: ")
    assert importer.states() == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n\n---\ntitle: A\n---\n", "a.md: line 3: "),
        ("\ufeff\ufeff---\ntitle: A\n---\n", "a.md: line 1: "),
        ("---\ntitle: A\n", "second one is missing"),
        ('{\n  "title": "A"\n}\n', "YAML"),
        ("---json\n{}\n---\n", "YAML"),
        ("---\nlayout: page\ndate: 2026-01-01\n---\nNot found", "a.md, slug 'a': title: "),
    ],
)
def test_file_with_invalid_front_matter_is_reported(importer, text, words):
    importer.write({"a.md": text, "b.md": post()})
    result = importer.run("import", "a.md", "b.md", "--skip-invalid")
    assert words in result.stderr
    assert importer.states() == {"b": "published"}


@pytest.mark.parametrize(
    "text",
    [
        "+++\n" + ".".join("a" * 40_000) + " = 1\n+++\n",
        "---\ntitle: x\n--- x\n" * 100_000,
        "---\ntitle: A\nlastmod: '" + "2026-01-01 (" * 200_000 + "'\n---\n",
    ],
)
def test_hostile_front_matter_is_one_short_error(importer, text):
    importer.write({"a.md": text})
    result = importer.run("import", "a.md")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 2)
    assert len(result.stderr) < 1000


# Slugs


SLUGS = {
    "ខ្ញុំស្រឡាញ់ ភ្នំពេញ": "ខ្ញុំស្រឡាញ់-ភ្នំពេញ",
    "ශ්\u200dරී ලංකාව": "ශ්\u200dරී-ලංකාව",
    "می\u200cروم به خانه": "می\u200cروم-به-خانه",
    "తెలుగు వంట": "తెలుగు-వంట",
    "שָׁלוֹם עולם": "שָׁלוֹם-עולם",
    "Ελληνικά Ψωμί": "ελληνικά-ψωμί",
    "がぎぐ パン": "がぎぐ-パン",
    "Ёлка и йод": "ёлка-и-йод",
    "Łódź – Žižkov & Straße? Да!": "łodz-zizkov-straße-да",
    "Phở bò": "pho-bo",
    "İstanbul": "istanbul",
    "☕️ Coffee 1️⃣": "coffee-1",
    "한국어 " * 90: "-".join(["한국어"] * 42),
}


def test_slug_from_a_title_keeps_the_words_of_every_script(importer):
    rows = [f"{normalize('NFD', title)};x\n" for title in SLUGS]
    importer.write({"a.csv": "title;body\n" + "".join(rows)})
    importer.imports("a.csv")
    assert set(importer.articles()) == {normalize("NFC", slug) for slug in SLUGS.values()}


@pytest.mark.parametrize("field", ["live: nein", "public: non", "visible: FALSCH", "online: 0.0"])
def test_switches_that_are_not_understood_are_mistakes(importer, field):
    importer.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\n{field}\n---\n"})
    name, value = field.split(": ")
    assert f"{name}: '{value}' must be" in importer.run("import", "a.md").stderr


def test_latest_of_several_dates_is_used_if_in_the_future(importer):
    importer.write({"a.md": "---\ntitle: A\ndate: 2024-01-02\npublished: 2050-01-01\n---\n"})
    assert "published instead of date" in importer.imports("a.md")
    assert importer.states() == {"a": "scheduled"}


def test_false_leaves_an_optional_text_out(importer):
    fields = "".join(f"{name}: false\n" for name in ("category", "tags", "image", "description"))
    importer.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\n{fields}---\nText\n"})
    assert importer.imports("a.md", "--site", "https://www.example.com") == ""
    assert {"false"}.isdisjoint(map(str, importer.only().values()))


@pytest.mark.parametrize("image", ["true", "none", "heroPicture", "'[[a.png]]'", "'@assets/a.png'", "'~/a.png'"])
def test_image_that_is_no_url_is_dropped_and_reported(importer, image):
    importer.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\nimage: {image}\n---\nText\n"})
    assert f"picture: {image.strip(chr(39))} (1): a" in importer.imports("a.md", "--site", "https://www.example.com")
    assert not importer.only().get("bannerUrl")


def test_changed_slug_is_reported_with_its_old_url(importer):
    importer.write({"a.md": "---\ntitle: A\ndate: 2026-01-01\nslug: 2024/my-post\n---\nText\n"})
    printed = importer.run("import", "a.md", "--redirects", "r.csv").stderr
    assert "were changed" in printed
    assert "/2024/my-post,2024-my-post" in (importer.folder / "r.csv").read_text()


def test_blank_title_is_missing(importer):
    importer.write({"a.md": '---\ntitle: "  "\n---\nText\n'})
    assert "title: Missing" in importer.run("import", "a.md").stderr


def test_merge_keys_of_yaml_are_an_error(importer):
    importer.write({"a.md": "---\ntitle: A\ndate: 2026-01-01\n<<: {draft: true}\n---\nText\n"})
    result = importer.run("import", "a.md")
    assert (result.exit_code, "line 4: The merge key <<" in result.stderr) == (1, True)
