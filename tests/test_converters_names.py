"""docs/fields.md lists every name that front matter and CSV columns may use."""

import re

from helpers import read_page, section
from importer import SITE, post

from converters.claims import EXPIRY_DATE, SWITCHES
from converters.field_names import FIELD_BY_ALIAS, IMPORT_FIELDS, OWN_FIELDS, plain_name
from converters.old_urls import PRESENT_ALIASES
from converters.values import IMAGE_KEYS

NAMES = section(read_page("docs/fields"), "Accepted names")


def names(text):
    return [plain_name(name) for name in re.findall(r"`([^`]*)`", text)]


FIELDS, OTHERS = (
    [(names(first), names(second)) for first, second in re.findall(r"^\| (`.*?) \| (.*?) \|$", table, re.MULTILINE)]
    for table in NAMES.split("\n\nA banner ")
)


def test_every_name_of_a_field_is_documented():
    documented = {field: set(others) for fields, others in FIELDS for field in fields}
    expected = {field.lower(): set() for field in IMPORT_FIELDS if field not in OWN_FIELDS}
    for alias, field in FIELD_BY_ALIAS.items():
        if field not in OWN_FIELDS:
            expected[field.lower()] |= {alias} - {field.lower()}
    expected["category"].add("categories")
    assert documented == expected


def test_every_documented_name_is_understood():
    documented = {name for others, _ in OTHERS for name in others}
    switches = {*SWITCHES, *(f"is{name}" for name in SWITCHES)}
    assert documented <= {*switches, EXPIRY_DATE, *PRESENT_ALIASES, "aliases", "redirectfrom"}
    assert set(IMAGE_KEYS) <= set(names(NAMES))


def test_case_spaces_and_punctuation_of_names_do_not_matter(importer):
    importer.imports({"a.md": post("Featured image URL: /a.jpg\nSEO-Title: T\nPost_Summary: S")}, "--site", SITE)
    article = importer.only()
    assert (article["bannerUrl"], article["metaTitle"], article["metaDesc"]) == (f"{SITE}/a.jpg", "T", "S")
