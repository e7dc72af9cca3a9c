"""Import of CSV files."""

import csv
import io
import re

import pytest

FUTURE = "2099-01-31T09:30:00.000Z"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_of_a_spreadsheet_is_imported(importer, delimiter):
    """Spreadsheets write a byte order mark, CRLF, line breaks in cells, and trailing empty rows."""
    title, html = 'Äpfel, "süß"; sauer', "<p>a;\n\nb,\tc</p>"
    rows = [
        ["ID", "title", "Slug", "publishedAt", "views", "tags", "contentHtml", "Comment", "Comment", "Labels"],
        ["1", title, "aepfel", "2026-01-31 09:30", "12", "Obst, Süßes", html, "x", "x", "x"],
        ["2", "Später", "spaeter", FUTURE, "", "", "Text & <\nmehr\r\n\r\n<bob@example.com>", "", "", ""],
        [""] * 10,
    ]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    assert importer.imports({"a.csv": f"\ufeff{text.getvalue()}"}) == ""
    first, second = (importer.articles()[slug] for slug in ("aepfel", "spaeter"))
    expected = {"title": title, "views": 12, "keywords": ["Obst", "Süßes"], "contentHtml": html, "sourceKey": "aepfel"}
    assert first.items() >= expected.items()
    assert second["publishedAt"] == FUTURE
    assert second["contentHtml"] == "<p>Text &amp; &lt;<br>\nmehr</p>\n<p>&lt;bob@example.com&gt;</p>"


@pytest.mark.parametrize("notes", ["Notes, links, and so on", "Notes,\nlinks,\nand so on"])
def test_delimiters_in_quoted_names_of_columns_do_not_count(importer, notes):
    for header in (f'"Title";"Body";"{notes}"', f'"{notes}";"Title";"Body"'):
        importer.imports({"a.csv": f"{header}\na;a;a\n"})
        assert importer.only()["contentHtml"] == "<p>a</p>"


@pytest.mark.parametrize(("used", "other"), [",;", ";,", "\t,"])
def test_delimiter_splits_the_header_into_the_most_columns(importer, used, other):
    importer.imports({"a.csv": f"title{used}body{used}a{other}b\nA{used}x{used}\n"})
    assert importer.only()["title"] == "A"


STATEMENTS = [  # a column, its cells in two rows, and the states of these
    ("Draft?", "WAHR", "Falsch", "draft", "published"),
    ("visible", "0", "1", "draft", "published"),
    ("publish", "nein", "Wahr", "draft", "published"),
    ("state", "-2", "1", "draft", "published"),
    ("state", "in review", "published", "draft", "published"),
    ("state", "Texas", "in Ohio", "published", "published"),
    ("Published On", "", "2026-01-02", "pending", "published"),  # Webflow leaves out that of a draft
]


@pytest.mark.parametrize(("column", "first", "second", "first_state", "second_state"), STATEMENTS)
def test_columns_say_whether_a_row_is_published(importer, column, first, second, first_state, second_state):
    rows = f"A;x;01.03.2026;{first}", f"B;x;01.03.2026;{second}"
    importer.run("import", {"a.csv": "\n".join([f"Title;Body;Date;{column}", *rows])}, "--publish")
    assert importer.states() == {"a": first_state, "b": second_state}


def test_rows_with_the_same_slug_are_an_error_that_names_both(importer):
    rows = "tea,Tea,x,2026-01-01", "soup,Soup,x,2026-01-02", "tea,Green tea,x,2026-01-03"
    (error,) = importer.rejects({"a.csv": "\n".join(["Handle,Title,Body HTML,Published At", *rows])}).splitlines()
    assert all(words in error for words in ("row 2", "row 4", "slug 'tea'"))


def test_only_null_of_database_exports_is_empty(importer):
    row = "null,x,2026-01-01,NULL,\\N,FALSE,null;x"
    assert importer.imports({"a.csv": f"title,body,date,description,draft,authors,tags\n{row}\n"}) == ""
    assert importer.only()["keywords"] == ["null;x"]
    assert "metaDesc" not in importer.only()


def test_spreadsheet_errors_in_titles_and_slugs_are_errors(importer):
    rows = "#REF!,a,x", "A,#N/A,x", "#NAME?,b,x", "#1,c,x"
    printed = importer.rejects({"a.csv": "\n".join(["Title,slug,Body", *rows])})
    assert re.findall(r"a.csv, (row \d).*?: (\w+: '.*?')", printed) == [
        ("row 2", "Title: '#REF!'"),
        ("row 4", "Title: '#NAME?'"),
        ("row 3", "slug: '#N/A'"),
    ]


def test_cell_beyond_the_limit_of_pythons_csv_is_imported(importer):
    csv.field_size_limit(131_072)  # the default
    importer.imports({"a.csv": f"title,body\nA,{'x' * 131_073}\n"})
    assert len(importer.only()["contentHtml"]) > 131_073
