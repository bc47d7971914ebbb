#!/bin/sh
# Makes the roles that docker-compose.yml connects as, each with its password, and Temporal's databases. The image runs it when
# it makes the database.
set -eu

run() {
  psql --set ON_ERROR_STOP=1 --quiet --username "$POSTGRES_USER" "$@"
}

run --dbname "$POSTGRES_DB" --file /roles/roles.sql
for database in temporal temporal_visibility; do
  if [ -z "$(run --dbname postgres --tuples-only --no-align --command "select 1 from pg_database where datname = '$database'")" ]; then
    run --dbname postgres --command "create database $database"
  fi
  run --dbname postgres --command "alter database $database owner to goniec_temporal"
  run --dbname postgres --command "revoke connect, temporary on database $database from public"
done
run --dbname "$POSTGRES_DB" --set owner="$POSTGRES_OWNER_PASSWORD" --set api="$POSTGRES_API_PASSWORD" --set worker="$POSTGRES_WORKER_PASSWORD" \
  --set admin="$POSTGRES_ADMIN_PASSWORD" --set temporal="$POSTGRES_TEMPORAL_PASSWORD" <<'SQL'
alter role goniec_owner password :'owner';
alter role goniec_api password :'api';
alter role goniec_worker password :'worker';
alter role goniec_admin password :'admin';
alter role goniec_temporal password :'temporal';
SQL
