#!/usr/bin/env bash
# Searches without regard to case over several columns of PostgreSQL, of which one has the collation "C"
#
# One would guess: in a database with the locale of a language, `concat_ws(' ', name, code) ILIKE '%ü%'` finds the name "Überweisung",
# as `name ILIKE '%ü%'` does, whatever collation `code` has; or PostgreSQL reports that it cannot choose a collation.
# What happens: "C", which is often given to columns of ids for fast comparisons, applies to the whole expression, without a notice.
# ILIKE, ~*, lower and initcap then change letters of ASCII only, so that the row is not found even by its exact name if the other side
# is a parameter: `lower(concat_ws(' ', name, code)) LIKE '%' || lower($1) || '%'` compares "Überweisung" with "überweisung". `||` and
# `coalesce` do the same. ORDER BY sorts such an expression by bytes. Full text search is not affected, and upper only if the stored
# letter is a small one. In a database with the locale C both sides change ASCII only, so that tests on one show nothing.
# Whom it hurts: search fields over several columns, lists that are sorted by a composed name.
# Versions: PostgreSQL of the machine; found on 2026-11-30 with PostgreSQL 15, with the provider ICU.
set -euo pipefail
folder=$(mktemp -d)
postgres=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
# The server refuses to run as root.
as_postgres() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
trap 'as_postgres "$postgres/pg_ctl" -D "$folder/data" -m immediate stop > /dev/null 2>&1 || true; rm -rf "$folder"' EXIT
cd "$folder"
chmod 777 "$folder"
as_postgres "$postgres/initdb" -D "$folder/data" -A trust -N -U postgres -E UTF8 --locale C.UTF-8 --locale-provider icu \
  --icu-locale de-DE > server.log
as_postgres "$postgres/pg_ctl" -D "$folder/data" -w start -l "$folder/data/log" \
  -o "-c listen_addresses= -c unix_socket_directories=$folder" > server.log
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts pg@8.23.1
cat > finding.mjs <<'JS'
import pg from "pg";

const client = new pg.Client({ host: process.argv[2], user: "postgres", database: "postgres" });
await client.connect();
const one = async (sql, values) => Object.values((await client.query(sql, values)).rows[0])[0];
console.log(`PostgreSQL ${await one("SELECT current_setting('server_version')")}`);
await client.query(`CREATE TABLE payees (name text, code text COLLATE "C")`);
await client.query("INSERT INTO payees VALUES ('Überweisung', 'a1'), ('zuletzt', 'a1')");

const NAME = "Überweisung";
/** [what, rows found in composed texts, expression over the text, parameter] */
const SEARCHES = [
  ["ILIKE", 0, (text) => `${text} ILIKE '%überw%'`],
  ["~*", 0, (text) => `${text} ~* 'überw'`],
  ["lower of both, exact name", 0, (text) => `lower(${text}) LIKE '%' || lower($1) || '%'`, NAME],
  ["upper of both, exact name", 1, (text) => `upper(${text}) LIKE '%' || upper($1) || '%'`, NAME],
  ["initcap", 0, (text) => `initcap(lower(${text})) LIKE 'Überweisung%'`],
  ["full text", 1, (text) => `to_tsvector('german', ${text}) @@ to_tsquery('german', 'überweisung')`],
];
const TEXTS = {
  name: "name",
  concat_ws: "concat_ws(' ', name, code)",
  "||": "(name || ' ' || code)",
  coalesce: "coalesce(name, code)",
};
let isAsFound = true;
for (const [what, expected, search, value] of SEARCHES) {
  const found = [];
  for (const text of Object.values(TEXTS)) {
    const sql = `SELECT count(*)::int FROM payees WHERE ${search(text)}`;
    found.push(await one(sql, value === undefined ? [] : [value]));
  }
  isAsFound &&= found.join() === [1, expected, expected, expected].join();
  console.log(what.padEnd(28), Object.keys(TEXTS).map((text, index) => `${text}: ${found[index]}`).join(", "));
}
for (const text of ["name", "concat_ws(' ', name, code)"]) {
  const { rows } = await client.query(`SELECT name FROM payees ORDER BY ${text}`);
  const names = rows.map(({ name }) => name).join(", ");
  isAsFound &&= names === (text === "name" ? "Überweisung, zuletzt" : "zuletzt, Überweisung");
  console.log(`ORDER BY ${text}: ${names}`);
}
await client.end();
if (!isAsFound) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
npm ls --depth=0 | tail -n +2
node finding.mjs "$folder"
