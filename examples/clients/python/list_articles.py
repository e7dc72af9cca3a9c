"""Print the day, the slug and the number of structured data nodes of each article."""

import os
import sys
from datetime import UTC
from zoneinfo import ZoneInfo

from articles import read_all

ZONE_NAME = os.environ.get("SITE_TIMEZONE") or "UTC"
try:
    ZONE = UTC if ZONE_NAME == "UTC" else ZoneInfo(ZONE_NAME)  # ZoneInfo needs data that Windows lacks
except (KeyError, OSError, ValueError):
    hint = ' If it is one, run "pip install tzdata".' if sys.platform == "win32" else ""
    sys.exit(f"SITE_TIMEZONE is invalid. Set it to a time zone, such as Europe/Berlin.{hint}")

try:
    for article in read_all():
        print(article.published_at.astimezone(ZONE).date(), article.slug, len(article.schema_markup.graph))
except RuntimeError as error:
    sys.exit(str(error))
