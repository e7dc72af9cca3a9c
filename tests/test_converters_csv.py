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
        ["ID", "title", "Slug", "publishedAt", "views", "tags", "contentHtml", "Comment", "Comment", "Labels"],
        ["1", title, "aepfel", "2026-01-31 09:30", "12", "Obst, Süßes", html, "x", "x", "x"],
        ["2", "Später", "spaeter", FUTURE, "", "", "Text & <\nmehr\r\n\r\n<bob@example.com>", "", "", ""],
        [""] * 10,
    ]
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerows(rows)
    first_line = "sep=|\r\n" if separator == "|" else ""
    assert importer.imports({"a.csv": f"\ufeff{first_line}{text.getvalue()}"}) == ""
    first, second = (importer.articles()[slug] for slug in ("aepfel", "spaeter"))
    expected = {"title": title, "views": 12, "keywords": ["Obst", "Süßes"], "contentHtml": html, "origin": "csv/aepfel"}
    assert first.items() >= expected.items()
    assert second["publishedAt"] == FUTURE
    assert second["contentHtml"] == "<p>Text &amp; &lt;<br>\nmehr</p>\n<p>&lt;bob@example.com&gt;</p>"


STATEMENTS = [  # column, a value that withholds a row, and one that publishes it
    ("Draft?", "Yes", "No"),
    ("Draft", "WAHR", "Falsch"),
    ("draft", "1", ""),
    ("Status", "0", "1"),
    ("Status", "Off", "On"),
    ("Status", "draft", "published"),
    ("Published", "No", ""),
    ("Published On", "", "2024-01-01"),  # Webflow's, which is empty if the item was never published
]


@pytest.mark.parametrize(("column", "withheld", "published"), STATEMENTS)
def test_row_is_published_unless_a_column_says_otherwise(importer, column, withheld, published):
    rows = f"Wahr;x;01.03.2026;{withheld}", f"B;x;01.03.2026;{published}"
    result = importer.run("import", {"a.csv": "\n".join([f"Title;Body;Date;{column}", *rows])}, "--publish")
    assert importer.states() == {"wahr": "pending", "b": "published"}
    assert "(1): wahr" in result.stderr


def test_rows_with_the_same_slug_are_a_mistake_that_names_both(importer):
    rows = "Tea,x,2026-01-01", "Soup,x,2026-01-02", "Tea,x,2026-01-03"
    (mistake,) = importer.rejects({"a.csv": "\n".join(["title,body,date", *rows])}).splitlines()
    assert all(words in mistake for words in ("row 2", "row 4", "slug: 'tea'"))
    assert "origin" not in mistake


def test_only_null_of_database_exports_is_empty(importer):
    row = "A,x,2026-01-01,NULL,\\N,FALSE,false;null"
    assert importer.imports({"a.csv": f"title,body,date,description,draft,category,tags\n{row}\n"}) == ""
    article = importer.only()
    assert ("metaDesc" in article, article["status"]) == (False, "published")
    assert (article["category"], article["keywords"]) == ("FALSE", ["false;null"])


def test_invalid_cells_are_mistakes_that_name_their_row(importer):
    rows = "#REF!,a,,x", "A,#N/A,,x", "A,b,#BEZUG!,x", "A,c,VRAI,x", "A,d,2,x", "A,e,,#NAME?"
    printed = importer.rejects({"a.csv": "\n".join(["Title,slug,Draft,Body", *rows])})
    assert re.findall(r"a.csv, (row \d).*?: (\w+: '.*?')", printed) == [
        *(("row 2", "Title: '#REF!'"), ("row 3", "slug: '#N/A'"), ("row 4", "Draft: '#BEZUG!'")),
        *(("row 5", "Draft: 'VRAI'"), ("row 6", "Draft: '2'"), ("row 7", "Body: '#NAME?'")),
    ]


def test_errors_in_other_cells_are_left_out_and_reported(importer):
    rows = "#METOO!,#NV,#N/A,2026-01-01,x", "#NV?,,#FALL!,2026-01-01,x"
    printed = importer.imports({"a.csv": "\n".join(["title,Description,tags,date,body", *rows])})
    assert "not understood: Description (1): metoo; tags (1): metoo\n" in printed
    assert importer.values("keywords") == {"metoo": [], "nv": ["#FALL!"]}


def test_spaces_after_a_closing_quotation_mark_are_ignored(importer):
    rows = (
        '"A" ,"x, ""y"" , z\n"" , 5" ,"2026-01-01" ',
        '5" pipe , "x" y,2026-01-02',
        '"C","<p>"" ,"" </p>"  ,2026-01-03',
    )
    importer.imports({"a.csv": "\r\n".join(["title,body,date", *rows])})
    assert importer.values("title") == {"a": "A", "5-pipe": '5" pipe', "c": "C"}
    texts = {"a": '<p>x, "y" , z<br>\n" , 5</p>', "5-pipe": '<p>"x" y</p>', "c": '<p>" ," </p>'}
    assert importer.values("contentHtml") == texts


def test_empty_cell_of_content_is_reported(importer):
    printed = importer.imports({"a.csv": "title,contentHtml,date\nA,x,2026-01-01\nC,,2026-01-01"})
    assert "content (1): c\n" in printed


def test_cell_beyond_the_limit_of_pythons_csv_is_imported(importer):
    csv.field_size_limit(131_072)  # the default
    importer.imports({"a.csv": f"title,body\nA,{'x' * 131_073}\n"})
    assert len(importer.only()["contentHtml"]) > 131_073


def test_cell_that_excel_has_cut_is_reported(importer):
    lengths = {"a": 32_766, "b": 32_767, "c": 32_768}
    rows = [f"{slug},{'<p>' + 'x' * (length - 3)}\n" for slug, length in lengths.items()]
    emoji = f"d,<p>{'x' * (32_764 - 2)}😀\n"  # two characters in Excel
    printed = importer.imports({"a.csv": "".join(["title,Body\n", *rows, emoji])})
    assert "Body (2): b, d." in printed


def test_slug_in_another_encoding_is_reported(importer):
    printed = importer.imports({"a.csv": "title,slug,body,date\nA,caf\ufffd,x,2026-01-01\n"})
    assert "caf\ufffd" in printed
