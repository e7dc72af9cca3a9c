"""Which stored article an imported one is: origins, moved files, adoption, slugs, and the service's own formats."""

import json
import re

import pytest
from helpers import create_key, json_lines, minimal_json
from importer import counts, ghost, post, wordpress

A, B = "https://a.example", "https://www.b.example/blog/"
TABLE = "slug,title,date,body\n"


def publish(importer, *arguments):
    """Import and publish; return the numbers in the summary."""
    return counts(importer.run("import", *arguments, "--publish"))


# Origins


@pytest.mark.parametrize(
    ("files", "origin"),
    [
        ({"a.xml": wordpress({"post_id": 17}, site=A)}, "wordpress:a.example/17"),
        (ghost({"id": f"{7:024}"}), f"ghost/{7:024}"),
        ({"posts/2026-01-01-menu.md": post()}, "markdown/2026-01-01-menu"),
        ({"posts/food/_posts/menu.html": post("slug: soup")}, "markdown/food/menu"),
        ({"posts/_drafts/menu.md": post()}, "markdown/menu"),
        ({"menu.md": post("id: 7")}, "markdown/menu"),
        ({"a.csv": "id,slug,title,body\n7,menu,A,x\n"}, "csv/menu"),
        ({"a.json": json.dumps(minimal_json(1))}, None),
    ],
)
def test_origin_is_the_source_and_its_number_path_or_slug(importer, files, origin):
    importer.run("import", files)
    assert importer.only().get("origin") == origin


@pytest.mark.parametrize("files", [{"a.xml": wordpress({}, site=A)}, ghost({}), {"a.md": post()}])
def test_source_can_be_named(importer, files):
    importer.run("import", files, "--source", "food")
    assert importer.only()["origin"].startswith("food/")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a.xml": wordpress({"post_name": "old"})}, {"a.xml": wordpress({"post_name": "new", "title": "B"})}),
        (ghost({"slug": "old"}), ghost({"slug": "new", "title": "B"})),
        ({"a.md": post("slug: old")}, {"a.md": post("slug: new", title="B")}),
    ],
)
def test_article_is_found_after_its_slug_and_title_change(importer, before, after):
    publish(importer, before)
    id = importer.only()["id"]
    assert publish(importer, after) == {"changed": 1}
    assert (importer.only()["id"], importer.only()["slug"], importer.only()["title"]) == (id, "new", "B")
    assert publish(importer, after) == {"unchanged": 1}


def test_files_may_exchange_their_names(importer):
    files = {"posts/a.md": post(text="x"), "posts/b.md": post(text="y", title="B", date="2026-01-02")}
    publish(importer, files)
    ids = importer.values("id")
    swapped = dict(zip(files, reversed(files.values()), strict=True))
    assert publish(importer, swapped) == {"changed": 2}
    assert importer.values("title") == {"a": "B", "b": "A"}
    assert importer.values("id") == {"a": ids["b"], "b": ids["a"]}


def test_two_new_files_never_share_what_one_has_left(importer):
    """Which of them has moved is unknown, so both are new, and nobody's text replaces the published one."""
    publish(importer, {"posts/a.md": post("slug: old", "Old", title="News")})
    files = {
        "posts/b.md": post("slug: first", "First", title="News"),
        "posts/c.md": post("slug: second", "Second", title="News"),
    }
    (importer.folder / "posts/a.md").unlink()
    importer.run("import", files)
    assert importer.states() == {"old": "published", "first": "pending", "second": "pending"}


def test_record_and_its_source_exclude_each_other(importer):
    """Otherwise, one article would have two texts."""
    importer.run("import", {"a.csv": TABLE + "menu,A,2026-01-01,x\n"})
    record = json_lines([minimal_json(1, id=importer.only()["id"], slug="other")])
    result = importer.run("import", {"a.csv": TABLE + "menu,A,2026-01-01,x\n", "b.jsonl": record})
    assert (result.exit_code, "csv/menu" in result.stderr) == (1, True)


def test_new_post_does_not_take_the_id_of_another_article(importer, save):
    save(minimal_json(1, id="wordpress-a.example-1", slug="mine"))
    assert publish(importer, {"a.xml": wordpress({"post_name": "menu"}, site=A)}) == {"new": 1}
    assert importer.values("id")["mine"] == "wordpress-a.example-1"


def test_take_over_needs_another_system(importer):
    result = importer.run("import", {"a.json": json.dumps(minimal_json(1))}, "--take-over", "slug-1")
    assert (result.exit_code, "--take-over" in result.stderr) == (2, True)


def test_two_folders_are_two_sources_if_one_is_named(importer):
    """Otherwise, their files with the same names would be the same articles, or missing."""
    assert publish(importer, {"food/menu.md": post("slug: food", title="Food")}) == {"new": 1}
    travel = {"travel/menu.md": post("slug: travel", title="Travel")}
    assert publish(importer, travel, "--source", "travel", "--unpublish-missing") == {"new": 1}
    assert publish(importer, "food", "--unpublish-missing") == {"unchanged": 1}


# Moved articles

DATE = "2026-01-01"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a.xml": wordpress({"post_id": 1})}, {"a.xml": wordpress({"post_id": 2, "title": "B"})}),
        (ghost({"id": f"{1:024}"}), ghost({"id": f"{2:024}", "title": "B"})),
        ({"posts/a.md": post(date="2025-01-01")}, {"posts/archive/a.md": post(text="New")}),
        ({"posts/a.md": post()}, {"posts/b.md": post(text="New")}),
        ({"posts/_drafts/a.md": "---\ntitle: A\n---\n"}, {"posts/_posts/2026-01-01-a.md": "---\ntitle: A\n---\nNew"}),
        ({"a.csv": f"{TABLE}a,A,{DATE},Text\n"}, {"a.csv": f"{TABLE}b,A,{DATE},New\n"}),
    ],
    ids=["WordPress", "Ghost", "folder and date", "name", "draft", "row"],
)
def test_moved_article_is_found(importer, tmp_path, before, after):
    publish(importer, before)
    stored = importer.only()
    for name in before:
        (tmp_path / name).unlink()
    assert publish(importer, after) == {"changed": 1}
    assert importer.only()["id"] == stored["id"]
    assert importer.only().get("origin") != stored["origin"]
    assert publish(importer, after) == {"unchanged": 1}


@pytest.mark.parametrize(
    "after",
    [
        {"posts/new.md": post(title="Other")},  # with the same date
        {"posts/new.md": post(date="2026-02-02")},
        {"posts/new.md": post(title="Twins")},  # two stored ones have this title and date
        {"posts/new.md": post(), "posts/a.md": post()},  # nothing is missing
    ],
)
def test_article_is_new_if_it_may_be_another_one(importer, tmp_path, after):
    publish(importer, {"posts/a.md": post(), "posts/b.md": post(title="Twins"), "posts/c.md": post(title="Twins")})
    for name in "abc":
        (tmp_path / f"posts/{name}.md").unlink()
    assert publish(importer, after)["new"] == 1


# Articles from before 3.0.0, which have no origin


@pytest.mark.parametrize(
    ("stored", "is_adopted"),
    [
        ({"title": "Old", "publishedAt": "2026-01-01T00:00:00Z"}, True),
        ({"title": "A"}, True),
        ({"title": "A", "publishedAt": None}, True),
        ({"title": "Old"}, False),
        ({"title": "Old", "publishedAt": None}, False),
        ({"title": "A", "slug": "b", "publishedAt": "2026-01-01T00:00:00Z"}, False),
        ({"title": "A", "publishedAt": "2026-01-01T00:00:00Z", "origin": None}, False),
        ({"title": "A", "publishedAt": "2026-01-01T00:00:00Z", "origin": "csv/a"}, False),
    ],
)
def test_article_with_the_same_slug_and_title_or_date_is_adopted(importer, save, stored, is_adopted):
    """But never one of your own, which has no origin."""
    save(minimal_json(1, slug="a", origin="?") | stored)
    result = importer.run("import", {"a.md": post(text="New")})
    assert ("adopted" in counts(result)) == is_adopted
    assert (importer.articles()[stored.get("slug", "a")].get("origin") == "markdown/a") == is_adopted
    assert importer.run("import", "a.md").stdout.startswith("0 new, 0 changed, ")


def test_article_with_the_id_of_an_earlier_version_is_adopted(importer, save):
    id, files = f"{0:024}", ghost({"title": "B"})
    save(minimal_json(1, id=id, slug="old", origin="?"))
    assert counts(importer.run("import", files)) == {"changed": 1, "adopted": 1}
    assert importer.only()["id"] == id


@pytest.mark.parametrize("date", ["2022-12-31", "soon"])
def test_posts_of_one_name_are_adopted_by_date(importer, save, date):
    """A post of 2021 never adopts that of 2022, even if the date of the latter is a mistake now."""
    save(minimal_json(1, slug="review", title="Review", publishedAt="2022-12-31T00:00:00Z", origin="?"))
    dates = {"a": "2021-12-31", "b": date}
    files = {f"posts/{name}.md": post("slug: review", title="Review", date=day) for name, day in dates.items()}
    importer.run("import", files | {"posts/c.md": post(title="C")}, "--skip-invalid")
    assert importer.articles()["review"]["publishedAt"][:4] == "2022"
    assert importer.articles()["review"]["origin"] == ("?" if date == "soon" else "markdown/b")


def test_adoption_is_no_change(importer, save):
    """Only articles whose text changes are named. None gets a new date: perhaps only the converter has changed."""
    date = "2026-01-01T00:00:00.000Z"
    save(*(minimal_json(n, slug=f"a{n}", title="A", publishedAt=date, origin="?") for n in range(2)))
    files = {"posts/a0.html": post(text="<p>Text</p>"), "posts/a1.html": post(text="<p>New</p>")}
    result = importer.run("import", files)
    assert counts(result) == {"changed": 1, "unchanged": 1, "adopted": 2}
    assert ("a0" in result.stderr, "a1" in result.stderr) == (False, True)
    assert set(importer.values("updatedAt").values()) == {date}


# Left alone


@pytest.mark.parametrize(
    ("after", "is_other"),
    [
        (post(text="Good", title="Review of 2025", date="2025-12-31"), True),
        (post(text="Good", title="Review of 2024", date="2025-12-31"), False),
        (post(text="Good", title="Review of 2025", date="2024-12-31"), False),
        (post(text="Bad", title="Review of 2025", date="2025-12-31"), False),
    ],
)
def test_other_article_under_the_same_path_is_left_alone(importer, after, is_other):
    """Such as the review of another year. The stored one is not missing."""
    publish(importer, {"review.md": post(text="Bad", title="Review of 2024", date="2024-12-31")})
    result = importer.run("import", {"review.md": after}, "--publish", "--unpublish-missing")
    assert counts(result) == ({"left alone": 1} if is_other else {"changed": 1})
    assert ("review" in result.stderr and "--take-over" in result.stderr) == is_other
    assert ("Bad" in importer.only()["contentHtml"]) == (is_other or "Bad" in after)
    assert importer.states() == {"review": "published"}
    assert importer.run("import", "review.md").stderr == (result.stderr if is_other else "")
    if is_other:
        assert publish(importer, "review.md", "--take-over", "review") == {"changed": 1}


def test_new_article_whose_slug_belongs_to_another_is_left_alone(importer, save):
    save(minimal_json(1, slug="menu", title="Mine"))
    for _ in range(2):
        result = importer.run("import", {"posts/menu.md": post(title="Theirs"), "posts/soup.md": post(title="Soup")})
        assert counts(result)["left alone"] == 1
        assert "menu" in result.stderr
    assert importer.values("title") == {"menu": "Mine", "soup": "Soup"}


@pytest.mark.parametrize("number", [2, 3])
def test_many_articles_left_alone_need_yes(importer, save, number):
    save(*(minimal_json(n, slug=f"a{n}") for n in range(number)))
    files = {f"posts/a{n}.md": post(title="Theirs") for n in range(6)}
    assert "--yes" in importer.run("import", files, "--dry-run").stderr or number < 3
    result = importer.run("import", files)
    assert (result.exit_code, len(importer.states())) == ((1, 3) if number == 3 else (0, 6))
    assert counts(importer.run("import", "posts", "--yes"))["left alone"] == number


# Slugs

# slugs of stored posts 1, 2, 3 and so on, those that they are to get, and those that they have then
SLUGS = [
    (["a", "b"], ["b", "a"], ["b", "a"]),  # a cycle
    (["a", "b", "c"], ["b", "c", "a"], ["b", "c", "a"]),
    (["a", "b", "c"], ["b", "c", "d"], ["b", "c", "d"]),  # a chain
    (["a", "b", "c"], ["b", "c", "mine"], ["a", "b", "c"]),  # a chain that ends at a slug which another article keeps
    (["a", "b"], ["mine", "a"], ["a", "b"]),
]


@pytest.mark.parametrize("batch_size", [2, 600])
@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
@pytest.mark.parametrize(("before", "after", "result"), SLUGS)
def test_slugs_move_or_stay_in_any_order(importer, save, monkeypatch, before, after, result, order, batch_size):
    """A stored article that cannot get a slug keeps its own, everything else of it is written, and it is reported."""
    save(minimal_json(1, slug="mine"))
    monkeypatch.setattr("transfer.writer.BATCH_SIZE", batch_size)

    def export(slugs, title):
        numbered = enumerate(slugs, start=1)
        posts = [{"post_id": n, "post_name": slug, "title": f"{title} {n}", "content": "x"} for n, slug in numbered]
        return {"a.xml": wordpress(*posts[::order])}

    publish(importer, export(before, "Old"))
    printed = importer.run("import", export(after, "New"), "--publish").stderr
    titles = importer.values("title")
    assert [titles[slug] for slug in result] == [f"New {n}" for n in range(1, len(result) + 1)]
    assert titles["mine"] == "Title 1"
    lines = [line for line in printed.splitlines() if "mine" in line]
    assert [set(before) <= set(re.findall(r"\w+", line)) for line in lines] == [True] * (before == result)


# Repeated slugs


def test_dates_tell_posts_of_one_name_apart(importer, tmp_path):
    """The oldest keeps the slug, whose redirects lead to it."""
    files = {
        "posts/2022-12-30-year-in-review.md": "---\ntitle: Our 2022\npermalink: /2022/review/\n---\nThe oven.",
        "posts/archive/2021-12-29-year-in-review.md": "---\ntitle: Our 2021\n---\nThe wheel.",
    }
    result = importer.run("import", files, "--redirects", "old.csv")
    assert importer.values("title") == {"year-in-review": "Our 2021", "year-in-review-2022-12-30": "Our 2022"}
    assert (result.exit_code, "year-in-review-2022-12-30" in result.stderr) == (0, True)
    assert (tmp_path / "old.csv").read_text() == "old_url,slug\n/2022/review/,year-in-review-2022-12-30\n"


def reviews(years, order=1):
    """Return a folder for each number, with a file of this year, or without a date. They all have the same slug."""
    return {
        f"{number}/{number}.md": post(
            "slug: review", f"Text {number}", title=f"Post {number}", date=f"{year}-12-31" if year else ""
        )
        for number, year in [*years.items()][::order]
    }


REPEATED_SLUGS = {
    "the second first": ({2: 2022}, {1: 2021, 2: 2022}, {2: "review", 1: "review-2021-12-31"}),
    "a third": (
        {1: 2021, 2: 2022},
        {1: 2021, 2: 2022, 3: 2023},
        {1: "review", 2: "review-2022-12-31", 3: "review-2023-12-31"},
    ),
    "another date": ({1: 2021, 2: 2022}, {1: 2021, 2: 2023}, {1: "review", 2: "review-2022-12-31"}),
    "the same date later": ({1: 2021, 2: 2022}, {1: 2022, 2: 2022}, {1: "review", 2: "review-2022-12-31"}),
    "no date": ({}, {1: None, 2: 2022}, {1: "review", 2: "review-2022-12-31"}),
    "no date and new": ({1: 2021}, {1: 2021, 2: None}, {1: "review"}),
}


@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
@pytest.mark.parametrize(("before", "after", "slugs"), REPEATED_SLUGS.values(), ids=REPEATED_SLUGS)
def test_stored_articles_keep_their_slugs(importer, before, after, slugs, order):
    if before:
        publish(importer, reviews(before, order))
    publish(importer, reviews(after, order))
    assert importer.values("title") == {slug: f"Post {number}" for number, slug in slugs.items()}
    assert "new" not in publish(importer, reviews(after, -order))
    assert importer.values("title") == {slug: f"Post {number}" for number, slug in slugs.items()}


@pytest.mark.parametrize("year", [2021, None])
def test_repeated_slug_without_different_dates_is_an_error(importer, year):
    mistake = importer.rejects(reviews({1: year, 2: year}))
    assert re.search("2.md, .*slug: 'review' .*1.md", mistake)
    assert counts(importer.run("import", "1", "2", "--skip-invalid"))["new"] == 1


@pytest.mark.parametrize(
    "files",
    [
        {"a.csv": f"{TABLE}review,A,2021-12-31,x\nreview,B,2022-12-31,x\n"},
        reviews({1: 2021}) | {"a.jsonl": json_lines([minimal_json(1, slug="review")])},
        {"a.jsonl": json_lines([minimal_json(1, slug="review")])} | reviews({1: 2021}),
    ],
    ids=["rows", "file and record", "record and file"],
)
def test_rows_and_records_never_share_a_slug(importer, files):
    mistake = importer.rejects(files)
    assert len(re.findall("slug 'review'", mistake)) == 2


def test_date_is_not_appended_if_another_article_has_that_slug(importer, save):
    """Unless --take-over gives it to the source."""
    save(minimal_json(1, slug="review-2022-12-31"))
    result = importer.run("import", reviews({1: 2021, 2: 2022}))
    assert (counts(result)["left alone"], "review-2022-12-31" in result.stderr) == (1, True)
    assert publish(importer, "1", "2", "--take-over", "review-2022-12-31")["changed"] == 2
    assert importer.values("title") == {"review": "Post 1", "review-2022-12-31": "Post 2"}


def test_date_is_not_appended_if_another_file_has_that_slug(importer):
    files = reviews({1: 2021, 2: 2022}) | {"3/3.md": post("slug: review-2022-12-31", title="Post 3")}
    assert counts(importer.run("import", files)) == {"new": 2, "left alone": 1}
    assert importer.values("title") == {"review": "Post 1", "review-2022-12-31": "Post 3"}


def test_date_is_not_appended_if_the_slug_would_be_too_long(importer):
    files = {f"{n}.md": post(f"slug: {'x' * 190}", title=f"Post {n}", date=f"202{n}-12-31") for n in (1, 2)}
    assert counts(importer.run("import", files)) == {"new": 1, "left alone": 1}


# --take-over


def test_take_over_gives_a_stored_article_to_the_source(importer, save):
    """Even if it was edited here."""
    save(minimal_json(1, slug="mine"), minimal_json(2, slug="edited", origin="markdown/edited", edited=True))
    files = {"posts/mine.md": post(title="Theirs"), "posts/edited.md": post(title="Theirs")}
    assert publish(importer, files) == {"unchanged": 1, "left alone": 1}
    assert publish(importer, "posts", "--take-over", "mine", "--take-over", "edited")["changed"] == 2
    assert set(importer.values("title").values()) == {"Theirs"}
    assert importer.values("id") == {"mine": "id-0001", "edited": "id-0002"}
    assert importer.values("edited") == {"mine": None, "edited": None}
    assert publish(importer, "posts") == {"unchanged": 2}


def test_all_articles_of_a_blog_that_moved_can_be_taken_over(importer):
    """By their slugs, since the new blog may number its posts differently, or give a number to another post."""
    publish(importer, {"a.xml": wordpress({}, {}, {}, site=A)})
    ids = importer.values("id")
    moved = {}, {"post_id": 9, "post_name": "post-2"}, {"post_name": "other", "title": "B"}
    taken = "--take-over", "wordpress:a.example/"
    assert publish(importer, {"a.xml": wordpress(*moved, site=B)}, *taken) == {"new": 1, "changed": 2}
    assert importer.values("id").items() >= ids.items()
    sources = {slug: origin.rpartition("/")[0] for slug, origin in importer.values("origin").items()}
    new = dict.fromkeys(("post-1", "post-2", "other"), "wordpress:b.example/blog")
    assert sources == new | {"post-3": "wordpress:a.example"}
    assert publish(importer, "a.xml") == {"unchanged": 3}


def test_name_of_a_source_can_be_introduced_later(importer):
    publish(importer, {"posts/a.md": post(), "posts/b.md": post(title="B")})
    named = "posts", "--source", "food"
    result = importer.run("import", *named, "--take-over", "markdown/")
    assert (counts(result), result.stdout.splitlines()[:2]) == ({"changed": 2}, ["a: source", "b: source"])
    assert publish(importer, *named) == {"unchanged": 2}


@pytest.mark.parametrize(("given", "named"), [("none", "none"), ("mine", "mine"), ("csv/", "csv"), ("soup", "other")])
def test_take_over_of_what_is_not_there_is_an_error(importer, save, given, named):
    """`soup` is the slug of another stored article; the source's own is stored as `other`."""
    save(minimal_json(1, slug="mine"), minimal_json(2, slug="soup"), minimal_json(3, slug="other", origin="markdown/a"))
    mistake = importer.rejects({"posts/a.md": post("slug: soup"), "posts/b.md": post(title="B")}, "--take-over", given)
    assert named in mistake


# Formats of this service


@pytest.mark.parametrize(
    ("record", "slug"),
    [
        ({"id": "id-0001", "origin": "csv/b", "slug": "new"}, "a"),
        ({"id": "unknown", "origin": "csv/b", "slug": "new"}, "b"),
        ({"origin": "csv/b", "slug": "new"}, "b"),
        ({"slug": "a"}, "a"),
        ({"slug": "a", "origin": "csv/c"}, "a"),
        ({"id": "unknown", "slug": "new"}, None),
        ({"slug": "new"}, None),
    ],
)
def test_record_is_found_by_id_then_origin_then_slug(importer, save, record, slug):
    save(minimal_json(1, slug="a", origin="csv/a"), minimal_json(2, slug="b", origin="csv/b"))
    stored = importer.values("id")
    values = {"title": "New", "contentHtml": ""} | record
    assert importer.articles_command("import", "-", input=json.dumps(values)).exit_code == 0
    (changed,) = (article for article in importer.articles().values() if article["title"] == "New")
    assert changed["id"] == stored[slug] if slug else changed["id"] not in stored.values()


def test_record_may_remove_the_date_from_a_slug(importer, save):
    save(minimal_json(1, slug="menu-2026-01-01"))
    save(minimal_json(1, slug="menu"))
    assert importer.states() == {"menu": "published"}


MISTAKES = {  # records over article 1, which has an origin, and what the mistake says
    "an unknown id, so the slug is taken": ([minimal_json(1, id="new")], "line 1, slug 'slug-1': slug: .*id-0001"),
    "the origin of a stored article": (
        [minimal_json(1), minimal_json(2, origin="csv/a")],
        "line 2, slug 'slug-2': origin: 'csv/a'.*slug-1",
    ),
    "an id twice": (
        [minimal_json(2), minimal_json(2, slug="other")],
        "line 2, slug 'other': id: 'id-0002'.*line 1, slug 'slug-2'",
    ),
    "a slug twice": (
        [minimal_json(2), minimal_json(3, slug="slug-2")],
        "line 2, slug 'slug-2': slug: 'slug-2'.*line 1, slug 'slug-2'",
    ),
    "an origin twice": (
        [minimal_json(number, origin="csv/b") for number in (2, 3)],
        "line 2, slug 'slug-3': origin: 'csv/b'.*line 1, slug 'slug-2'",
    ),
}


@pytest.mark.parametrize(("records", "words"), MISTAKES.values(), ids=MISTAKES)
def test_records_never_share_an_id_a_slug_or_an_origin(importer, save, records, words):
    save(minimal_json(1, origin="csv/a"))
    (mistake,) = importer.rejects({"a.jsonl": json_lines(records)}).splitlines()
    assert re.search(words, mistake)


@pytest.mark.parametrize(
    "second", [{"id": "id-0001", "slug": "new"}, {"id": None, "slug": "slug-1"}], ids=["id", "slug"]
)
@pytest.mark.parametrize("mistake", [{"views": -1}, {"title": "x" * 256}, {"views": -1, "slug": "moved"}])
def test_second_record_does_not_replace_the_one_with_a_mistake(importer, save, mistake, second):
    """The first one may be the stored article."""
    save(minimal_json(1))
    lines = json_lines([minimal_json(1) | mistake, minimal_json(1, title="New") | second, minimal_json(3)])
    result = importer.run("import", {"a.jsonl": lines}, "--skip-invalid")
    assert re.search(r"line 2, .*(line 1|'slug-1' already|Title 1)", result.stderr)
    assert importer.values("title") == {"slug-1": "Title 1", "slug-3": "Title 3"}


def test_slug_of_an_article_with_a_mistake_is_not_given_away(importer):
    """Post 1 is in the export, but has a mistake, so it is unknown which slug it will have."""
    publish(importer, {"a.xml": wordpress({"post_name": "menu", "title": "First"})})
    posts = {"post_name": "old-menu", "post_date_gmt": "2026-02-30 08:00:00"}, {"post_name": "menu"}, {}
    result = importer.run("import", {"a.xml": wordpress(*posts)}, "--skip-invalid")
    assert result.exit_code == 0
    assert importer.values("title") == {"menu": "First", "post-3": "A"}


HIDDEN = {"origin": "csv/a", "claim": "withheld", "claimedAt": "2026-01-01T00:00:00.000Z", "edited": True}


def test_export_restores_origins_in_an_empty_database(importer, app, save):
    save(minimal_json(1, **HIDDEN), minimal_json(2, origin="?"), minimal_json(3, origin="?"), minimal_json(4))
    exported = importer.run("export").stdout
    assert HIDDEN.items() <= json.loads(exported.splitlines()[0]).items()
    create_key(app, "Copy")
    copy = "--customer", "Copy"
    assert importer.articles_command("import", "-", *copy, input=exported).exit_code == 0
    assert importer.run("export", *copy).stdout == exported


def test_record_never_disturbs_the_origin_of_a_stored_article(importer, save):
    save(minimal_json(1, **HIDDEN))
    other = {"origin": "csv/b", "claim": "published", "claimedAt": "2027-01-01T00:00:00Z", "edited": False}
    save(minimal_json(1, **other))
    assert HIDDEN.items() <= importer.only().items()


# Edited here


@pytest.mark.parametrize(
    ("change", "is_edited"),
    [
        (lambda importer, save, article: save(article | {"title": "Mine"}), True),
        (lambda importer, save, article: save(article | {"slug": "mine"}), True),
        (lambda importer, save, article: save(article), False),
        (lambda importer, save, article: save(article | {"views": 7}), False),
        (lambda importer, save, article: importer.run("unpublish", "a"), False),
        (lambda importer, save, article: importer.run("publish", "a", "--at", "2030-01-01"), False),
    ],
    ids=["title", "slug", "nothing", "views", "unpublish", "publish"],
)
def test_change_of_the_text_marks_an_article_as_edited(importer, save, change, is_edited):
    publish(importer, {"a.md": post()})
    change(importer, save, importer.only())
    assert importer.only().get("edited", False) == is_edited
    before = importer.only()
    result = importer.run("import", {"a.md": post(text="New", title="Theirs")}, "--publish")
    assert counts(result) == ({"unchanged": 1} if is_edited else {"changed": 1})
    assert importer.only()["title"] == (before["title"] if is_edited else "Theirs")


def test_source_withdraws_and_moves_an_edited_article(importer, save):
    """Everything but its claim, its status and its date stays as it was edited."""
    publish(importer, {"a.md": post()})
    save(importer.only() | {"title": "Mine"})
    result = importer.run("import", {"a.md": post("draft: true", "New", date="2026-02-02")} | {"b.md": post()})
    assert counts(result) == {"new": 1, "changed": 1}
    assert "a" in result.stderr.split()
    article = importer.articles()["a"]
    assert (article["title"], article["status"], article["publishedAt"][:10]) == ("Mine", "pending", "2026-02-02")
