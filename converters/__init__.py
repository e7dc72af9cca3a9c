"""Convert other systems' files to articles, without a database, Flask or click.

- `wordpress`, `ghost`, `markdown` and `csv_files` are the systems. Each has a function `read_…`, which yields articles,
  ignored items and problems, and raises an exception only if its source cannot be read any further.
- `articles` defines what they yield, and `note_kinds` the kinds of notes that several of them make.
- `field_mapping` makes an article from named fields, as Markdown and CSV have them. It uses `field_names`,
  `source_fields` and `publication`.
- `decoding` turns bytes into text and JSON. `values`, `dates`, `slugs` and `scalars` convert values. `urls` and
  `old_urls` are about addresses.
- `leftover_markup` notes markup that stays in the content. `html_elements` and `media_suffixes` are lists.
- `front_matter` parses and writes front matter, also for `transfer.article_files`.

Systems import the other modules, never each other.
"""
