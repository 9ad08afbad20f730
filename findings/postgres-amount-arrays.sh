#!/usr/bin/env bash
# Amounts of type numeric in a column and in an array, with clients of PostgreSQL for Node.js
#
# One would guess: pg returns `numeric` as text, because a number cannot hold it, and so the elements of a `numeric[]`. A parser that is
# set for `bigint` with `setTypeParser` also applies to `bigint[]`.
# What happens: pg returns the elements of `numeric[]` as rounded numbers, although the value alone is text: 12345678901234567890.10
# becomes 12345678901234567000. `array_agg` of sums of a bigint column is such an array, because the sum is numeric. pg-query-stream and
# pg-logical-replication use the same parsers. `bigint[]` is a list of texts, also if `bigint` has a parser. postgres.js returns texts
# for all of them.
# Whom it hurts: programs that read lists of amounts from a database or a replication slot: the values alone are exact in the tests, the
# lists are wrong above 2^53. Set the parser of the array (1231, 1016), or cast to text[].
# Versions: see below; found on 2026-11-28 with PostgreSQL 15 and Node.js 20 and 24.
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
  -o "-c listen_addresses= -c unix_socket_directories=$folder -c wal_level=logical" > server.log
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts \
  pg@8.23.1 pg-query-stream@4.17.0 pg-logical-replication@2.5.0 postgres@3.4.9
cat > finding.mjs <<'JS'
import pg from "pg";
import { LogicalReplicationService, PgoutputPlugin } from "pg-logical-replication";
import QueryStream from "pg-query-stream";
import postgres from "postgres";

const options = { host: process.argv[2], user: "postgres", database: "postgres" };
const client = new pg.Client(options);
await client.connect();
const sql = postgres({ ...options, max: 1 });
const { version } = (await client.query("SELECT current_setting('server_version') AS version")).rows[0];
console.log(`Node.js ${process.version}, PostgreSQL ${version}`);
await client.query("CREATE TABLE payments (id int PRIMARY KEY, amount numeric, amounts numeric[], heights bigint[])");
await client.query("CREATE PUBLICATION changes FOR TABLE payments");
await client.query("SELECT pg_create_logical_replication_slot('slot', 'pgoutput')");
const replicated = new Promise((resolve, reject) => {
  const service = new LogicalReplicationService(options, { acknowledge: { auto: false, timeoutSeconds: 0 } });
  service.on("error", reject);
  service.on("data", (_, message) => {
    if (message.tag === "insert") service.stop().then(() => resolve(message.new));
  });
  service.subscribe(new PgoutputPlugin({ protoVersion: 1, publicationNames: ["changes"] }), "slot").catch(reject);
});
const AMOUNT = "12345678901234567890.10";
await client.query(`INSERT INTO payments VALUES (1, ${AMOUNT}, ARRAY[${AMOUNT}], ARRAY[9007199254740993])`);

const READ = "SELECT amount, amounts, heights FROM payments";
const SUMS = `SELECT array_agg(total) AS totals FROM (SELECT sum(amount) AS total FROM (VALUES (9007199254740993::bigint)) v (amount)) s`;
const show = ({ amount, amounts, heights }) => [amount, amounts[0], heights[0]].map((value) => `${typeof value} ${value}`).join(", ");
const first = async (rows) => {
  for await (const row of rows) return row;
};
const seen = {
  pg: show((await client.query(READ)).rows[0]),
  "pg-query-stream": show(await first(client.query(new QueryStream(READ)))),
  "pg-logical-replication": show(await replicated),
  "postgres.js": show((await sql.unsafe(READ))[0]),
  "pg, array_agg of sums": String((await client.query(SUMS)).rows[0].totals[0]),
  "postgres.js, array_agg of sums": String((await sql.unsafe(SUMS))[0].totals[0]),
};
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);
const parsed = (await client.query("SELECT 5::bigint AS alone, ARRAY[5::bigint] AS list")).rows[0];
seen["pg with a parser of bigint"] = `alone ${typeof parsed.alone}, in an array ${typeof parsed.list[0]}`;
await client.query("SELECT pg_drop_replication_slot('slot')").catch(() => {});
await client.end();
await sql.end();
for (const [name, value] of Object.entries(seen)) console.log(`${name.padEnd(32)}${value}`);
const rounded = `string ${AMOUNT}, number 12345678901234567000, string 9007199254740993`;
const expected = {
  pg: rounded,
  "pg-query-stream": rounded,
  "pg-logical-replication": rounded,
  "postgres.js": `string ${AMOUNT}, string ${AMOUNT}, string 9007199254740993`,
  "pg, array_agg of sums": "9007199254740992",
  "postgres.js, array_agg of sums": "9007199254740993",
  "pg with a parser of bigint": "alone bigint, in an array string",
};
const isAsFound = JSON.stringify(seen) === JSON.stringify(expected);
if (!isAsFound) console.log("The behaviour has changed.");
process.exit(isAsFound ? 0 : 1);
JS
npm ls --depth=0 | tail -n +2
node finding.mjs "$folder"
