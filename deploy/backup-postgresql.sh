#!/bin/sh
# Back up the PostgreSQL database to FOLDER, check that the file can be read to its end, then delete all but the newest
# 14 backups that this script made: backup-postgresql.sh FOLDER. It prints nothing unless something fails.
set -eu
[ "${1-}" ] || { echo "The folder for the backups is missing. Usage: backup-postgresql.sh FOLDER" >&2; exit 2; }
file="$1/articles-$(date -u +%Y%m%dT%H%M%SZ).dump"
pg_dump --format=custom --file="$file" articles
pg_restore --file=/dev/null "$file"
cd "$1"
ls | grep -E '^articles-[0-9]{8}T[0-9]{6}Z\.dump$' | head -n -14 | xargs -r rm --
