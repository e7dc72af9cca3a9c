#!/bin/sh
# Back up the PostgreSQL database to FOLDER, check that the file can be read to its end, then delete all but the newest
# 14: backup-postgresql.sh FOLDER. It prints nothing unless something fails.
set -eu
file="$1/articles-$(date -u +%Y%m%dT%H%M%SZ).dump"
pg_dump --format=custom --file="$file" articles
pg_restore --file=/dev/null "$file"
ls "$1"/articles-*.dump | head -n -14 | xargs -r rm --
