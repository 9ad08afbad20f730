#!/usr/bin/env bash
# Texts as parameters of type timestamp, boolean and bytea, with postgres.js and pg
#
# One would guess: both clients send a text as it is, and PostgreSQL reads it by its own rules: microseconds stay, a timestamp without
# a time zone stays what it says, 'yes' and 't' are true, '\x00ff' are two bytes.
# What happens: pg does so. postgres.js converts the text itself, by the type of the parameter. A timestamp becomes a Date: microseconds
# are cut to milliseconds, and a time without a zone is taken for local time and stored in UTC. For a boolean, every text is false, even
# 'true': only the value `true` is true. The text '\x00ff' becomes the six bytes of its letters. The server reads the text if the query
# casts it twice, `${value}::text::timestamptz`.
# Whom it hurts: pages of a mirror that continue after the last timestamp: postgres.js returns the row of the cursor again. Filters that
# come from a query string (`?active=true`) are inverted. A move from pg to postgres.js stores other rows.
# Versions: postgres 3.4.9, pg 8.23.1, PostgreSQL of the machine; found on 2026-11-28 with PostgreSQL 15 and Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
postgres=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
# The server refuses to run as root.
as_postgres() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
trap 'as_postgres "$postgres/pg_ctl" -D "$folder/data" -m immediate stop > /dev/null 2>&1 || true; rm -rf "$folder"' EXIT
cd "$folder"
chmod 777 "$folder"
as_postgres "$postgres/initdb" -D "$folder/data" -A trust -N -U postgres > server.log
as_postgres "$postgres/pg_ctl" -D "$folder/data" -w start -l "$folder/data/log" \
  -o "-c listen_addresses= -c unix_socket_directories=$folder -c timezone=UTC" > server.log
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts pg@8.23.1 postgres@3.4.9
cat > finding.mjs <<'JS'
import pg from "pg";
import postgres from "postgres";

const [host] = process.argv.slice(2);
const client = new pg.Client({ host, user: "postgres", database: "postgres" });
await client.connect();
const sql = postgres({ host, user: "postgres", database: "postgres", max: 1 });
const { version } = (await client.query("SELECT current_setting('server_version') AS version")).rows[0];
console.log(`Node.js ${process.version}, PostgreSQL ${version}, TZ ${process.env.TZ}`);

/** [text, type, what both return as text] */
const CASES = [
  ["2026-01-01 00:00:00.123456+00", "timestamptz", "2026-01-01 00:00:00.123456+00", "2026-01-01 00:00:00.123+00"],
  ["2026-01-01 00:00:00", "timestamp", "2026-01-01 00:00:00", "2026-01-01 05:00:00"],
  ["true", "boolean", "true", "false"],
  ["TRUE", "boolean", "true", "false"],
  ["yes", "boolean", "true", "false"],
  ["t", "boolean", "true", "false"],
  ["1", "boolean", "true", "false"],
  ["\\x00ff", "bytea", "\\x00ff", "\\x5c7830306666"],
  ["9007199254740993", "bigint", "9007199254740993", "9007199254740993"],
  ["12345678901234567890.10", "numeric", "12345678901234567890.10", "12345678901234567890.10"],
];
let isAsFound = true;
for (const [text, type, expectedPg, expectedPostgres] of CASES) {
  const query = `SELECT $1::${type}::text AS value`;
  const seenPg = (await client.query(query, [text])).rows[0].value;
  const seenPostgres = (await sql.unsafe(query, [text]))[0].value;
  isAsFound &&= seenPg === expectedPg && seenPostgres === expectedPostgres;
  console.log(`${JSON.stringify(text).padEnd(34)}${type.padEnd(13)}pg ${seenPg.padEnd(33)}postgres.js ${seenPostgres}`);
}

// The next page of a list whose cursor is the timestamp of its last row, as the server wrote it.
await client.query("CREATE TABLE blocks (height bigint, time timestamptz)");
await client.query("INSERT INTO blocks VALUES (1, '2026-01-01 00:00:00.123456+00'), (2, '2026-01-01 00:00:00.2+00')");
const cursor = (await client.query("SELECT time::text FROM blocks WHERE height = 1")).rows[0].time;
const pages = {
  pg: (await client.query("SELECT height FROM blocks WHERE time > $1 ORDER BY time", [cursor])).rows,
  "postgres.js": await sql`SELECT height FROM blocks WHERE time > ${cursor} ORDER BY time`,
  "postgres.js, cast twice": await sql`SELECT height FROM blocks WHERE time > ${cursor}::text::timestamptz ORDER BY time`,
};
for (const [name, rows] of Object.entries(pages)) {
  const heights = rows.map(({ height }) => height).join(" ");
  isAsFound &&= heights === (name === "postgres.js" ? "1 2" : "2");
  console.log(`rows after the first one, ${name}: ${heights}`);
}
await client.end();
await sql.end();
if (!isAsFound) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
npm ls --depth=0 | tail -n +2
TZ=America/New_York node finding.mjs "$folder"
