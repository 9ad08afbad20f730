#!/usr/bin/env bash
# What one client of PgBouncer leaves to the next one in transaction mode: notifications and settings
#
# One would guess: LISTEN has no effect there, as the manual says that it is not supported. Settings that PgBouncer tracks (`application_name`,
# `TimeZone`, `DateStyle`) belong to one client, all others reach the next client of the server connection.
# What happens: LISTEN works for the server connection: its notifications are sent to whichever client runs a query there next, here to the
# one that calls NOTIFY and listens to nothing. It stays so after the listener has left. `TimeZone` and `DateStyle` are
# restored for the other client, but `application_name` is not, if that client connected without one: it has the name of the other.
# `statement_timeout` reaches it, as one would guess.
# Whom it hurts: services behind a pooler that wake on notifications: the listener gets none, another process gets them, with no error on
# any side. Dashboards of pg_stat_activity blame the wrong service: set `application_name` in each client.
# Versions: PgBouncer and PostgreSQL of the machine, pg 8.23.1; found on 2026-11-28 with PgBouncer 1.18.0 and PostgreSQL 15.
set -euo pipefail
folder=$(mktemp -d)
postgres=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
# Neither server runs as root.
as_postgres() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
stop() {
  [ ! -e "$folder/data/pgbouncer.pid" ] || kill "$(cat "$folder/data/pgbouncer.pid")"
  as_postgres "$postgres/pg_ctl" -D "$folder/data" -m immediate stop > /dev/null 2>&1 || true
  rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
chmod 777 "$folder"
as_postgres "$postgres/initdb" -D "$folder/data" -A trust -N -U postgres > server.log
as_postgres "$postgres/pg_ctl" -D "$folder/data" -w start -l "$folder/data/log" \
  -o "-c listen_addresses= -c unix_socket_directories=$folder -c port=5432 -c timezone=UTC" > server.log
cat > pgbouncer.ini <<INI
[databases]
postgres = host=$folder port=5432 user=postgres
[pgbouncer]
unix_socket_dir = $folder
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 1
logfile = $folder/data/pgbouncer.log
pidfile = $folder/data/pgbouncer.pid
INI
PATH=$PATH:/usr/sbin
pgbouncer --version | head -1
as_postgres "$(command -v pgbouncer)" -q -d pgbouncer.ini
until [ -S "$folder/.s.PGSQL.6432" ]; do sleep 0.1; done
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts pg@8.23.1
cat > finding.mjs <<'JS'
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

const received = [];
async function connect(name) {
  const client = new pg.Client({ host: process.argv[2], port: 6432, user: "postgres", database: "postgres" });
  client.on("notification", ({ payload }) => received.push(`${payload} to ${name}`));
  await client.connect();
  return client;
}
const first = await connect("the listener");
const second = await connect("the other client");
const { server_version: version } = (await first.query("SHOW server_version")).rows[0];
const setting = async (client, name) => Object.values((await client.query(`SHOW ${name}`)).rows[0])[0];

await first.query("LISTEN blocks");
await second.query("SELECT pg_notify('blocks', 'block 1')");
await sleep(500);

const settings = {};
for (const [name, value] of [["TimeZone", "Asia/Tokyo"], ["DateStyle", "SQL, DMY"], ["application_name", "first"], ["statement_timeout", "1234ms"]]) {
  await first.query(`SET ${name} = '${value}'`);
  settings[name] = (await setting(second, name)) === value ? "reaches the other client" : "stays";
}
await first.end();
await second.query("SELECT pg_notify('blocks', 'block 2')");
await sleep(500);
await second.end();

console.log(`Node.js ${process.version}, PostgreSQL ${version}`);
for (const text of received) console.log(`notification: ${text}`);
for (const [name, text] of Object.entries(settings)) console.log(`${name}: ${text}`);
const seen = JSON.stringify([received, Object.values(settings)]);
const expected = JSON.stringify([
  ["block 1 to the other client", "block 2 to the other client"],
  ["stays", "stays", "reaches the other client", "reaches the other client"],
]);
if (seen !== expected) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
npm ls --depth=0 | tail -n +2
node finding.mjs "$folder"
