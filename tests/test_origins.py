"""Which stored article an imported one is: origins, moved files, slugs, and the service's own formats."""

import json
import re

import pytest
from helpers import LISTS, json_lines, minimal_json
from importer import counts, ghost, post, wordpress

TABLE = "slug,title,date,body\n"


def publish(importer, *arguments):
    """Import and publish; return the numbers in the summary."""
    return counts(importer.run("import", *arguments, "--publish"))


def origin_of(article):
    """Return the source and the key of an exported article."""
    return (article["source"], article["sourceKey"]) if "source" in article else None


# Origins


@pytest.mark.parametrize(
    ("files", "origin"),
    [
        ({"a.xml": wordpress({"post_id": 17}, site="https://www.A.example/")}, ("wordpress:a.example", "17")),
        ({"a.xml": wordpress({}, site="http://ü.example:8080/a/b")}, ("wordpress:ü.example:8080/a/b", "1")),
        (ghost({"id": f"{7:024}"}), ("ghost", f"{7:024}")),
        ({"posts/2026-01-01-menu.md": post()}, ("markdown", "2026-01-01-menu")),
        ({"posts/food/_posts/menu.html": post("slug: soup")}, ("markdown", "food/menu")),
        ({"posts/_drafts/menu.md": post()}, ("markdown", "menu")),
        ({"menu.md": post("id: 7")}, ("markdown", "menu")),
        ({"a.csv": "id,slug,title,body\n7,menu,A,x\n"}, ("csv", "menu")),
        ({"a.json": json.dumps(minimal_json(1))}, None),
    ],
)
def test_origin_is_the_source_and_its_number_path_or_slug(importer, files, origin):
    importer.run("import", files)
    assert origin_of(importer.only()) == origin


@pytest.mark.parametrize(
    "files", [{"a.xml": wordpress({})}, ghost({}), {"a.md": post()}, {"a.json": json.dumps(minimal_json(1))}]
)
def test_source_can_have_any_name_without_spaces(importer, files):
    importer.run("import", files, "--source", "food:a/b?")
    assert importer.only()["source"] == "food:a/b?"


def test_record_and_its_source_exclude_each_other(importer):
    """Otherwise, one article would have two texts."""
    importer.run("import", {"a.csv": TABLE + "menu,A,2026-01-01,x\n"})
    record = json_lines([minimal_json(1, id=importer.only()["id"], slug="other")])
    result = importer.run("import", {"a.csv": TABLE + "menu,A,2026-01-01,x\n", "b.jsonl": record})
    assert (result.exit_code, "menu" in result.stderr) == (1, True)


def test_new_article_whose_id_another_source_has_is_left_alone(importer, save):
    save(minimal_json(1, source="shop", sourceKey="7"))
    record = {"a.json": json.dumps(minimal_json(1, slug="other"))}
    assert publish(importer, record, "--source", "feed") == {"left alone": 1}
    assert importer.states() == {"slug-1": "published"}


# Moved articles


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a.xml": wordpress({"post_id": 1})}, {"a.xml": wordpress({"post_id": 2, "content": "New"})}),
        ({"posts/a.md": post(date="2025-01-01")}, {"posts/archive/a.md": post(text="New")}),
        ({"posts/a.md": post()}, {"posts/b.md": post(text="New")}),
        ({"posts/_drafts/a.md": "---\ntitle: A\n---\n"}, {"posts/_posts/2026-01-01-a.md": "---\ntitle: A\n---\nNew"}),
        ({"posts/a.md": post("draft: true")}, {"posts/b.md": post("slug: a", title="B", date="2026-02-02")}),
    ],
    ids=["WordPress", "folder and date", "name", "dated", "finished draft"],
)
def test_moved_article_is_found(importer, tmp_path, before, after):
    publish(importer, before)
    stored = importer.only()
    for name in before:
        (tmp_path / name).unlink()
    assert publish(importer, after, "--unpublish-missing") == {"changed": 1}
    assert importer.only()["id"] == stored["id"]
    assert importer.only()["sourceKey"] != stored["sourceKey"]
    assert publish(importer, after) == {"unchanged": 1}


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ({"posts/new.md": post(title="Other")}, {"new": 1}),  # with the same date
        ({"posts/new.md": post("slug: a", title="Other")}, {"left alone": 1}),
        ({"posts/new.md": post(date="2026-02-02")}, {"new": 1}),
        ({"posts/new.md": post(title="Undated", date="")}, {"new": 1}),  # No date is the same as no other.
        ({"posts/new.md": post(title="Twins")}, {"new": 1}),  # two stored ones have this title and date
        ({"posts/new.md": post("slug: b", title="Twins")}, {"unchanged": 1}),  # only one has the slug, too
        ({"posts/new.md": post(), "posts/other.md": post()}, {"new": 2}),  # either may have moved
        ({"posts/new.md": post(), "posts/a.md": post()}, {"new": 1, "unchanged": 1}),  # nothing is missing
    ],
)
def test_article_is_only_matched_if_no_other_one_may_be_meant(importer, tmp_path, after, expected):
    twins = {f"posts/{name}.md": post(title="Twins") for name in "bc"}
    publish(importer, {"posts/a.md": post(), "posts/d.md": post(title="Undated", date="")} | twins)
    for name in "abcd":
        (tmp_path / f"posts/{name}.md").unlink()
    assert publish(importer, after) == expected


@pytest.mark.parametrize("flag", ["textEdited", "publicationEdited"])
def test_draft_that_is_yours_is_not_matched_by_its_slug(importer, save, flag):
    save(minimal_json(1, slug="a", status="draft", source="markdown", sourceKey="a") | {flag: True})
    new = {"posts/b.md": post("slug: a", title="B", date="2026-02-02")}
    assert publish(importer, new) == {"left alone": 1}


def test_article_of_an_unknown_origin_may_be_any_stored_one(importer):
    """So another record with the same title and date does not take that over."""
    options = "--source", "shop", "--skip-invalid"
    importer.run("import", {"a.jsonl": json_lines([minimal_json(1)])}, *options)
    lines = json_lines([minimal_json(2, title="Title 1", slug="other")])
    importer.run("import", {"a.jsonl": "{\n" + lines}, *options)
    assert importer.values("sourceKey") == {"slug-1": "id-0001", "other": "id-0002"}


# Left alone


def test_new_article_whose_slug_belongs_to_another_is_left_alone(importer, save):
    save(minimal_json(1, slug="menu", title="Mine"))
    for _ in range(2):
        result = importer.run("import", {"posts/menu.md": post(title="Theirs"), "posts/soup.md": post(title="Soup")})
        assert counts(result)["left alone"] == 1
        assert re.search("menu.md.*Mine", result.stderr)
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
    (["a", "b", "c"], ["b", "c", "a"], ["b", "c", "a"]),  # a cycle
    (["a", "b", "c"], ["b", "c", "d"], ["b", "c", "d"]),  # a chain
    (["a", "b", "c"], ["b", "c", "mine"], ["a", "b", "c"]),  # a chain that ends at a slug which another article keeps
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
    printed = importer.run("import", export(after, "New"), "--publish", "--yes").stderr
    titles = importer.values("title")
    assert [titles[slug] for slug in result] == [f"New {n}" for n in range(1, len(result) + 1)]
    assert titles["mine"] == "Title 1"
    assert all(slug in printed for slug in result) or result != before


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
    files = {}
    for number, year in [*years.items()][::order]:
        date = f"{year}-12-31" if year else ""
        files[f"{number}/{number}.md"] = post("slug: review", title=f"Post {number}", date=date)
    return files


REPEATED_SLUGS = [  # the years of stored posts and of those imported then, and the slugs of these
    ({2: 2022}, {1: 2021, 2: 2022}, {1: "review-2021-12-31", 2: "review"}),
    ({1: 2021, 2: 2022}, {1: 2023, 2: 2022, 3: 2024}, {1: "review", 2: "review-2022-12-31", 3: "review-2024-12-31"}),
]


@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
@pytest.mark.parametrize(("before", "after", "slugs"), REPEATED_SLUGS)
def test_stored_articles_keep_their_slugs(importer, before, after, slugs, order):
    publish(importer, reviews(before, order))
    for _ in range(2):
        numbers = publish(importer, reviews(after, order))
        assert importer.values("title") == {slug: f"Post {number}" for number, slug in slugs.items()}
    assert numbers == {"unchanged": len(after)}


def test_moved_article_is_found_by_its_slug_without_the_date(importer):
    publish(importer, reviews({1: 2021, 2: 2022}))
    moved = {"3/3.md": post("slug: review", title="Post 2", date="2024-12-31")}
    assert publish(importer, "1", moved) == {"unchanged": 1, "changed": 1}
    assert importer.values("sourceKey") == {"review": "1", "review-2022-12-31": "3"}


@pytest.mark.parametrize("year", [2021, None])
def test_repeated_slug_without_different_dates_is_an_error(importer, year):
    """Of all but a stored one. The errors name each other."""
    first, second = importer.rejects(reviews({1: year, 2: year})).splitlines()
    assert re.search("1.md, .*slug: 'review' .*2.md", first)
    assert re.search("2.md, .*slug: 'review' .*1.md", second)
    importer.run("import", "1")
    (mistake,) = importer.rejects("1", "2").splitlines()
    assert re.search("2.md, .*1.md", mistake)
    assert counts(importer.run("import", "1", "2", "--skip-invalid")) == {"unchanged": 1, "invalid": 1}


def test_date_that_would_make_a_slug_too_long_is_an_error(importer):
    files = {f"{year}/{year}.md": post(f"slug: {'x' * 195}", date=f"{year}-01-01") for year in (2021, 2022)}
    assert importer.rejects(files).startswith("2022/2022.md")


def test_published_article_gets_the_slug_before_a_draft(importer):
    draft = {"posts/a.md": post("slug: menu\ndraft: true", title="Old", date="2020-01-01")}
    publish(importer, draft | {"posts/b.md": post("slug: menu", title="New")})
    assert importer.values("title") == {"menu": "New", "menu-2020-01-01": "Old"}


def test_date_is_not_appended_if_another_article_has_that_slug(importer):
    files = reviews({1: 2021, 2: 2022}) | {"3/3.md": post("slug: review-2022-12-31", title="Post 3")}
    for expected in ({"new": 2, "left alone": 1}, {"unchanged": 2, "left alone": 1}):
        result = importer.run("import", files)
        assert (counts(result), "2.md" in result.stderr) == (expected, True)
    assert importer.values("title") == {"review": "Post 1", "review-2022-12-31": "Post 3"}


# Formats of this service


@pytest.mark.parametrize(
    ("record", "slug"),
    [
        ({"id": "id-0001", "slug": "new"}, "a"),
        ({"slug": "a"}, "a"),
        ({"slug": "a", "source": "csv", "sourceKey": "a"}, "a"),
        ({"id": "unknown", "slug": "new"}, None),
        ({"slug": "new"}, None),
    ],
)
def test_record_is_found_by_id_or_else_by_slug(importer, save, record, slug):
    save(minimal_json(1, slug="a", source="csv", sourceKey="a"))
    stored = importer.values("id")
    values = {"title": "New", "contentHtml": ""} | record
    assert importer.articles_command("import", "-", input=json.dumps(values)).exit_code == 0
    (changed,) = (article for article in importer.articles().values() if article["title"] == "New")
    assert changed["id"] == stored[slug] if slug else changed["id"] not in stored.values()


@pytest.mark.parametrize(("key", "status"), [("id", "draft"), ("slug", "pending")])
def test_own_article_belongs_to_a_named_source_from_then_on(importer, save, key, status):
    """It has the same id or, if the record has none, the same slug. Both statuses withhold it."""
    save(minimal_json(1))
    feed = {"feed.json": json.dumps([minimal_json(1, id="id-0001" if key == "id" else None)])}
    result = importer.run("import", feed, "--source", "shop")
    assert (counts(result), "slug-1: source" in result.stdout) == ({"changed": 1}, True)
    assert origin_of(importer.only()) == ("shop", "id-0001" if key == "id" else "slug-1")
    importer.run("import", {"feed.json": json.dumps([minimal_json(1, status=status)])}, "--source", "shop")
    assert importer.states() == {"slug-1": "draft"}


def test_markup_that_would_be_derived_is_not_stored(importer, save, client):
    """An article of another instance, for example."""
    save(minimal_json(1))
    feed = {"feed.json": client.get(LISTS[0]).text}
    importer.run("delete", "slug-1", "--yes")
    importer.run("import", feed, "--source", "shop")
    assert "schemaMarkup" not in importer.only()
    assert counts(importer.run("import", feed, "--source", "shop")) == {"unchanged": 1}


def test_views_follow_the_source_of_an_edited_article(importer, save):
    for views in (5, 9):
        importer.run("import", {"feed.json": json.dumps(minimal_json(1, views=views))}, "--source", "shop")
        save({"id": "id-0001", "slug": "slug-1", "title": "Mine", "contentHtml": ""})
        assert (importer.only()["title"], importer.only()["views"]) == ("Mine", views)


MISTAKES = {  # records over article 1, which has an origin, and what the error says
    "an unknown id, so the slug is taken": ([minimal_json(1, id="new")], "line 1, slug 'slug-1': slug: .*Title 1"),
    "the origin of a stored article": (
        [minimal_json(1), minimal_json(2, source="csv", sourceKey="a")],
        "line 2, slug 'slug-2': .*slug-1",
    ),
    "an id twice": ([minimal_json(2), minimal_json(2, slug="other")], "line 2, slug 'other': .* id .*line 1"),
    "a slug twice": ([minimal_json(2), minimal_json(3, slug="slug-2")], "line 2, slug 'slug-2': .* slug .*line 1"),
    "an origin twice": (
        [minimal_json(number, source="csv", sourceKey="b") for number in (2, 3)],
        "line 2, slug 'slug-3': .*line 1",
    ),
    "half an origin": ([minimal_json(2, source="csv")], "line 1, slug 'slug-2': source: .*sourceKey"),
}


@pytest.mark.parametrize(("records", "words"), MISTAKES.values(), ids=MISTAKES)
def test_records_never_share_an_id_a_slug_or_an_origin(importer, save, records, words):
    save(minimal_json(1, source="csv", sourceKey="a"))
    (mistake,) = importer.rejects({"a.jsonl": json_lines(records)}).splitlines()
    assert re.search(words, mistake)


FLAGS = {"source": "csv", "sourceKey": "a", "textEdited": True, "publicationEdited": True}


def test_record_never_disturbs_the_origin_of_a_stored_article(importer, save):
    save(minimal_json(1, **FLAGS))
    save(minimal_json(1, source="csv", sourceKey="b", textEdited=False, publicationEdited=False))
    assert FLAGS.items() <= importer.only().items()


def test_fields_that_only_3_0_0_exported_are_ignored(importer, save):
    save(minimal_json(1, origin="csv/a", claim="withheld", claimedAt="2026-01-01T00:00:00Z", edited=True))
    assert importer.states() == {"slug-1": "published"}
    assert origin_of(importer.only()) is None


# Edited here


TEXT, PUBLICATION = "textEdited", "publicationEdited"


@pytest.mark.parametrize(
    ("change", "flags"),
    [
        ({"title": "Mine"}, {TEXT}),
        ({"slug": "mine"}, {TEXT}),
        ({"createdAt": "2020-01-01T00:00:00.000Z"}, {TEXT}),
        ({"status": "draft"}, {PUBLICATION}),
        ({"publishedAt": "2026-02-01T00:00:00.000Z"}, {PUBLICATION}),
        ({"views": 7}, set()),
        ({}, set()),
    ],
)
def test_import_leaves_alone_what_a_record_has_changed(importer, save, change, flags):
    publish(importer, {"a.md": post()})
    save(importer.only() | change)
    before = importer.only()
    assert before.keys() & {TEXT, PUBLICATION} == flags
    publish(importer, {"a.md": post(title="Theirs", date="2027-02-02")})
    after = importer.only()
    assert after["title"] == (before["title"] if TEXT in flags else "Theirs")
    is_kept = (after["status"], after["publishedAt"]) == (before["status"], before["publishedAt"])
    assert is_kept == (PUBLICATION in flags)


def test_source_withdraws_and_moves_an_edited_article(importer, save):
    """Everything but its status and its date stays as it was edited."""
    publish(importer, {"a.md": post()})
    save(importer.only() | {"title": "Mine"})
    result = importer.run("import", {"a.md": post("draft: true", "New", date="2026-02-02"), "b.md": post(title="B")})
    assert counts(result) == {"new": 1, "changed": 1}
    assert "a: publishedAt, status (now draft)" in result.stdout
    article = importer.articles()["a"]
    assert (article["title"], article["status"], article["publishedAt"][:10]) == ("Mine", "draft", "2026-02-02")


def test_slug_that_is_yours_is_not_reported_as_kept(importer, save):
    publish(importer, {"a.md": post()})
    save(importer.only() | {"title": "Mine"})
    result = importer.run("import", {"a.md": post("slug: b")})
    assert (importer.only()["slug"], result.stderr) == ("a", "")
