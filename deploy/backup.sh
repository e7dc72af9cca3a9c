#!/bin/sh
# Back up the database to FOLDER, prove that the file can be restored, then delete all but the newest 14 backups that
# this script made: backup.sh FOLDER. It prints nothing unless something fails.
set -eu
[ "${1-}" ] || { echo "The folder for the backups is missing. Usage: backup.sh FOLDER" >&2; exit 2; }
file="$1/articles-$(date -u +%Y%m%dT%H%M%SZ).db"
trial=$(mktemp -d)
trap 'rm -r "$trial"' EXIT
(
    flask database backup "$file" &&
    DATABASE_URL="sqlite:///$trial/articles.db" flask database restore "$file" --yes
) 2>"$trial/log" || { cat "$trial/log" >&2; exit 1; }
cd "$1"
ls | grep -E '^articles-[0-9]{8}T[0-9]{6}Z\.db$' | head -n -14 | xargs -r rm --
