#!/usr/bin/env bash
# Integers of 64 bits as fields of a time series in the line protocol of InfluxDB
#
# One would guess: a method for integer fields writes a bigint, or a text of digits, with all its digits, or throws.
# What happens: `intField` of the client for version 2 and `setIntegerField` of that for version 3 round both above 2^53, without an
# error. `uintField` of the first client keeps all digits, `setUintegerField` of the second one rounds. influx 5.12.0 throws for a bigint,
# and rounds a text. All three write the rounded number as an exact integer ("...i").
# Whom it hurts: balances, fees and supplies in smallest units, ids and times in nanoseconds on dashboards: sums differ, and ids of
# neighbours become equal. Write such a value as a text field, or the line itself.
# Versions: see below; found on 2026-11-29 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @influxdata/influxdb-client@1.35.0 @influxdata/influxdb3-client@2.1.0 influx@5.12.0
cat > finding.mjs <<'JS'
import { createServer } from "node:http";
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);
const two = load("@influxdata/influxdb-client");
const three = load("@influxdata/influxdb3-client");
const { FieldType, InfluxDB } = load("influx");
const AMOUNT = 2n ** 53n + 1n;

/** Writes a point with influx to a server that keeps the body. */
async function withInflux(value) {
  let body = "";
  const server = createServer((request, response) => {
    request.on("data", (bytes) => (body += bytes)).on("end", () => response.writeHead(204).end());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const schema = [{ measurement: "m", fields: { a: FieldType.INTEGER }, tags: [] }];
  try {
    await new InfluxDB({ host: "127.0.0.1", port: server.address().port, database: "d", schema }).writePoints([{ measurement: "m", fields: { a: value } }]);
  } finally {
    server.close();
  }
  return body;
}

const WRITERS = {
  "influxdb-client 1.35.0, intField": (value) => new two.Point("m").intField("a", value).toLineProtocol(),
  "influxdb-client 1.35.0, uintField": (value) => new two.Point("m").uintField("a", value).toLineProtocol(),
  "influxdb3-client 2.1.0, setIntegerField": (value) => three.Point.measurement("m").setIntegerField("a", value).toLineProtocol(),
  "influxdb3-client 2.1.0, setUintegerField": (value) => three.Point.measurement("m").setUintegerField("a", value).toLineProtocol(),
  "influx 5.12.0, INTEGER": withInflux,
};
console.log(`Node.js ${process.version}; the value is ${AMOUNT}`);
const seen = [];
for (const [name, write] of Object.entries(WRITERS)) {
  for (const value of [AMOUNT, String(AMOUNT)]) {
    let written;
    try {
      written = /a=(\S+)/.exec(await write(value))[1];
    } catch {
      written = "throws";
    }
    seen.push(written);
    console.log(`${name.padEnd(42)}${(typeof value).padEnd(8)}${written}`);
  }
}
const [exact, rounded] = ["9007199254740993", "9007199254740992"];
const expected = [`${rounded}i`, `${rounded}i`, `${exact}u`, `${exact}u`, `${rounded}i`, `${rounded}i`, `${rounded}u`, `${rounded}u`, "throws", `${rounded}i`];
if (String(seen) !== String(expected)) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
