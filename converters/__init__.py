"""Convert other systems' files to typed article records, without a database, Flask or click.

- `wordpress`, `ghost`, `markdown` and `csv_files` are the systems, each with one entry point, `read_…`.
- `records` defines what they yield, and `note_kinds` the kinds of notes that they share.
- `field_mapping` makes an article from named fields, as Markdown and CSV have them. It uses `field_names`,
  `source_fields` and `publication`.
- `values`, `dates`, `slugs` and `scalars` convert values. `relative_urls` and `old_urls` are about addresses.
- `leftover_markup` reports what stays in the content. `html_elements` and `media_suffixes` are lists.
- `front_matter` parses and writes front matter, also for `transfer.article_files`.

Systems import the other modules, never each other. A converter is an iterator over
articles, ignored items and mistakes. It never reports, and raises only if its source cannot be read any further.
"""
