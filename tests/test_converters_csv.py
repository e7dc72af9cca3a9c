"""Import of CSV files."""

import csv
import io
import re

import pytest

FUTURE = "2099-01-31T09:30:00.000Z"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_csv_of_a_spreadsheet_is_imported(importer, separator):
    """Spreadsheets write a byte order mark, CRLF, line breaks in cells, and trailing empty rows."""
    title, html = 'Äpfel, "süß"; sauer', "<p>a;\n\nb,\tc</p>"
    rows = [
        ["id", "title", "Slug", "publishedAt", "views", "tags", "contentHtml", "Comment", "tags", "Tags"],
        ["1", title, "aepfel", "2026-01-31 09:30", "12", "Obst, Süßes", html, "x", "x", "x"],
        ["2", "Später", "spaeter", FUTURE, "", "", "Text & <\nmehr\r\n\r\n<bob@example.com>", "", "", ""],
        [""] * 10,
    ]
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerows(rows)
    first_line = "sep=|\r\n" if separator == "|" else ""
    printed = importer.imports({"a.csv": f"\ufeff{first_line}{text.getvalue()}"})
    assert all(f"{name} (1)" in printed for name in ("Tags", "Comment", "tags in column 9"))
    first, second = importer.articles().values()
    assert (first["id"], first["title"], first["views"]) == ("1", title, 12)
    assert (first["keywords"], first["contentHtml"]) == (["Obst", "Süßes"], html)
    assert second["publishedAt"] == FUTURE
    assert second["contentHtml"] == "<p>Text &amp; &lt;<br>\nmehr</p>\n<p>&lt;bob@example.com&gt;</p>"


def test_draft_and_visibility_columns_hide_articles(importer):
    rows = "A;x;01.03.2026;Yes;Public", "B;x;01.03.2026;No;Private", "C;x;01.03.2026;No;Public"
    (line,) = importer.imports({"a.csv": "\n".join(["Title;Body;Date;Draft?;Visibility", *rows])}).splitlines()
    assert "Visibility: private (1): b" in line
    assert importer.states() == {"a": "draft", "b": "draft", "c": "published"}


def test_null_values_of_database_exports_are_empty(importer):
    assert importer.imports({"a.csv": "title,body,date,description,draft,tags\nA,x,2026-01-01,NULL,\\N,NULL\n"}) == ""
    article = importer.only()
    assert ("metaDesc" in article, article["keywords"], article["status"]) == (False, [], "published")


@pytest.mark.parametrize("name", ["a.tsv", "a.xlsx", "a.ods"])
def test_other_spreadsheet_formats_are_a_usage_error(importer, name):
    result = importer.run("import", {name: "title\tbody\n"})
    assert (result.exit_code, "CSV" in result.stderr) == (2, True)


@pytest.mark.parametrize("name", ["draft", "Date", "Status"])
def test_repeated_publication_column_is_rejected(importer, name):
    assert f"'{name}' twice" in importer.rejects({"a.csv": f"title,body,{name},{name}\nA,x,,\n"})


def test_invalid_cells_are_mistakes_that_name_their_row(importer):
    rows = "#REF!,a,,,", "A,#N/A,,,", "A,a,#BEZUG!,,", "A,b,,#NV,", "A,c,,#NAME?,", "A,d,,,WAHR", "A,e,,,2"
    printed = importer.rejects({"a.csv": "\n".join(["title,slug,tags,Description,Draft,body", *rows])})
    assert re.findall(r"a.csv, (row \d), slug '\w': (\w+: '.*?')", printed) == [
        *(("row 2", "title: '#REF!'"), ("row 3", "slug: '#N/A'"), ("row 4", "tags: '#BEZUG!'")),
        *(("row 5", "Description: '#NV'"), ("row 6", "Description: '#NAME?'")),
        *(("row 7", "Draft: 'WAHR'"), ("row 8", "Draft: '2'")),
    ]


def test_empty_content_is_reported(importer):
    printed = importer.imports({"a.csv": "title,contentHtml,publishedAt\nA,,2026-01-01\nB,x,2026-01-01\n"})
    assert printed == "Articles without any content (1): a\n"
