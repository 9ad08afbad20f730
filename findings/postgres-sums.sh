#!/usr/bin/env bash
# The sum of a bigint column, and numeric amounts, in lesser-known PostgreSQL clients
#
# One would guess: a client that returns `bigint` exactly returns `numeric` exactly, too, which is the type of `sum` of a bigint column; or it
# returns a text, as pg does. A type that it cannot read is an error.
# What happens: ts-postgres 2.0.4 returns null for numeric, so that `sum(amount)` is null; also for money, time, interval, inet and numeric[].
# slonik 47.3.2 returns bigint as bigint, and numeric as a number: 9007199254740995 becomes ...996. @databases/pg
# 6.1.0 rounds a bigint to a number (it warns), returns the elements of bigint[] as texts, and numeric as a text. pglite 0.5.16 returns small
# bigints as numbers and large ones as bigints, so that `a + 1` throws for large ones only. pg-promise returns texts.
# Whom it hurts: ledgers and dashboards on the tables of a node: null is read as "no payments", or as 0 by `?? 0`. Cast in SQL: `sum(amount)::text`.
# Versions: PostgreSQL of the machine and the packages above; found on 2026-11-28 with PostgreSQL 15, Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
postgres=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
# The server does not run as root.
as_postgres() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
stop() {
  as_postgres "$postgres/pg_ctl" -D "$folder/data" -m immediate stop > /dev/null 2>&1 || true
  rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
chmod 777 "$folder"
as_postgres "$postgres/initdb" -D "$folder/data" -A trust -N -U postgres > server.log
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
as_postgres "$postgres/pg_ctl" -D "$folder/data" -w start -l "$folder/data/log" \
  -o "-c listen_addresses=127.0.0.1 -c unix_socket_directories=$folder -c port=$port" > server.log
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts ts-postgres@2.0.4 slonik@47.3.2 @databases/pg@6.1.0 @electric-sql/pglite@0.5.16 \
  pg-promise@12.7.1
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";
import { PGlite } from "@electric-sql/pglite";
import { createPool, sql } from "slonik";
import { connect } from "ts-postgres";

const load = createRequire(import.meta.url);
const port = Number(process.argv[2]);
const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
const plain = await connect({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
const slonik = await createPool(url);
const databases = load("@databases/pg")({ connectionString: url, bigIntMode: "number" });
const lite = new PGlite();
const promise = load("pg-promise")()(url);
/** Two of them take templates, the others texts. */
const CLIENTS = {
  "ts-postgres 2.0.4": async (query) => [...(await plain.query(query(String.raw)))][0],
  "slonik 47.3.2": (query) => slonik.one(query(sql.unsafe)),
  "@databases/pg 6.1.0": async (query) => (await databases.query(query(databases.sql)))[0],
  "pglite 0.5.16": async (query) => (await lite.query(query(String.raw))).rows[0],
  "pg-promise 12.7.1": (query) => promise.one(query(String.raw)),
};
const QUERIES = {
  bigint: (text) => text`SELECT 9007199254740993::bigint AS v`,
  "small bigint": (text) => text`SELECT 5::bigint AS v`,
  "bigint[]": (text) => text`SELECT ARRAY[9007199254740993]::bigint[] AS v`,
  "sum of 9007199254740993 and 2": (text) => text`SELECT sum(a) AS v FROM (VALUES (9007199254740993::bigint), (2)) rows(a)`,
  numeric: (text) => text`SELECT 90071992547409.93000001::numeric AS v`,
};
const shown = (value) =>
  typeof value === "bigint" ? `${value}n` : Array.isArray(value) ? `[${value.map(shown)}]` : JSON.stringify(value);

console.log(`Node.js ${process.version}, ${(await promise.one("SHOW server_version")).server_version}`);
const seen = {};
for (const [name, read] of Object.entries(CLIENTS)) {
  seen[name] = [];
  console.log(name);
  for (const [type, query] of Object.entries(QUERIES)) {
    seen[name].push(shown((await read(query)).v));
    console.log(`  ${type.padEnd(32)}${seen[name].at(-1)}`);
  }
}
const expected = {
  "ts-postgres 2.0.4": ["9007199254740993n", "5n", "[9007199254740993n]", "null", "null"],
  "slonik 47.3.2": ["9007199254740993n", "5n", "[9007199254740993n]", "9007199254740996", "90071992547409.94"],
  "@databases/pg 6.1.0": ["9007199254740992", "5", '["9007199254740993"]', '"9007199254740995"', '"90071992547409.93000001"'],
  "pglite 0.5.16": ["9007199254740993n", "5", "[9007199254740993n]", '"9007199254740995"', '"90071992547409.93000001"'],
  "pg-promise 12.7.1": ['"9007199254740993"', '"5"', '["9007199254740993"]', '"9007199254740995"', '"90071992547409.93000001"'],
};
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
process.exit();
JS
npm ls --depth=0 | tail -n +2
node finding.mjs "$port"
