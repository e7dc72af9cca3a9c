#!/bin/sh
# Back up the database to FOLDER, then delete the oldest backups that this script made there, so that 14 are left:
# backup.sh FOLDER [POSTGRESQL_DATABASE]. It prints nothing unless something is wrong.
set -eu
[ "${1-}" ] || { echo "Name the folder for the backups: backup.sh FOLDER [POSTGRESQL_DATABASE]" >&2; exit 2; }
export FLASK_APP="$(cd "$(dirname "$0")/.." && pwd)/app.py"
cd "$1"
rm -rf .unfinished # of a backup that was killed
mkdir -m 700 .unfinished
name=articles-$(date -u +%Y%m%dT%H%M%SZ)
if [ "${2-}" ]; then
  new=$name.dump
  pg_dump --format=custom --file=".unfinished/$new" "$2"
else
  new=$name.db
  flask database backup ".unfinished/$new" 2>.unfinished/log || { cat .unfinished/log >&2; exit 1; }
fi
mv ".unfinished/$new" .
rm -r .unfinished
backups() { ls | grep -E '^articles-[0-9]{8}T[0-9]{6}Z\.(db|dump)$'; }
[ "$(backups | tail -n 1)" = "$new" ] || echo "$new is not the newest backup by its name: check the clock." >&2
backups | grep -Fvx "$new" | head -n -13 | xargs -r rm --
