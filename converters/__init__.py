"""Convert other systems' files to articles, without a database, Flask or click.

- `wordpress`, `ghost`, `markdown` and `csv_files` are the systems. Each has a function `read_…`, which yields articles,
  ignored items and problems, and raises an exception if its source has no articles, or cannot be read past some point.
- `articles` defines what they yield, and `note_kinds` the kinds of notes that several of them make.
- `field_mapping` makes an article from named fields, as Markdown and CSV have them. `field_names` has their names, and
  `claims` what they say about publication.
- `decoding` turns bytes into text and JSON. `values`, `dates`, `slugs` and `scalars` convert values. `article_urls` and
  `old_urls` are about addresses, `media_suffixes` about files.
- `leftover_markup` notes or drops shortcodes and template tags that stay in the content.
- `front_matter` parses and writes front matter, also for `transfer.article_files`.

Systems import the other modules, never each other.
"""
