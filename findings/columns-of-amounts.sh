#!/usr/bin/env bash
# Amounts with 8 decimals and integers of 64 bits in a Parquet file
#
# One would guess: a reader returns a DECIMAL as an exact text or object, since exactness is its purpose, and unsigned integers unsigned.
# What happens, for the amounts 90071992547.40993001 and 12.34567891: hyparquet 1.33.0 returns rounded numbers. apache-arrow 21.2.0 drops
# the decimal point, so that 12.34567891 prints as 1234567891. @dsnp/parquetjs 1.8.8 returns 16 bytes for more than 18 digits and a
# number for fewer, and -1n for the unsigned 2^64 - 1. parquetjs-lite 0.8.7 writes the bigint 2^53 + 1 as 2^53. DuckDB 1.5.6 is exact.
# Whom it hurts: bookkeeping and analyses that read exports of chains and banks: sums are off by cents, or by a factor of 10^8.
# Store smallest units as INT64, which these readers return as bigint, or read texts.
# Versions: see below; found on 2026-11-29 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @duckdb/node-api@1.5.6-r.1 hyparquet@1.33.0 @dsnp/parquetjs@1.8.8 parquetjs-lite@0.8.7 \
  parquet-wasm@0.8.0 apache-arrow@21.2.0
cat > finding.mjs <<'JS'
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";

const load = createRequire(import.meta.url);
const { DuckDBInstance } = load("@duckdb/node-api");
const database = await (await DuckDBInstance.create(":memory:")).connect();
await database.run(`COPY (SELECT 18446744073709551615::UBIGINT AS count, 90071992547.40993001::DECIMAL(20, 8) AS long, 12.34567891::DECIMAL(18, 8) AS short)
  TO 'amounts.parquet' (FORMAT parquet)`);
const rowsOf = (sql) => database.runAndReadAll(sql);

async function firstRow(name) {
  const reader = await load(name).ParquetReader.openFile("amounts.parquet");
  const row = await reader.getCursor().next();
  await reader.close();
  return row;
}

async function writtenByLite() {
  const { ParquetSchema, ParquetWriter } = load("parquetjs-lite");
  const writer = await ParquetWriter.openFile(new ParquetSchema({ count: { type: "INT64" } }), "written.parquet");
  await writer.appendRow({ count: 2n ** 53n + 1n });
  await writer.close();
  return (await rowsOf("SELECT * FROM 'written.parquet'")).getRowObjectsJson()[0];
}

function withArrow() {
  const bytes = load("parquet-wasm/node").readParquet(readFileSync("amounts.parquet")).intoIPCStream();
  return load("apache-arrow").tableFromIPC(bytes).get(0).toJSON();
}

const READERS = {
  "DuckDB 1.5.6, getRowObjectsJson": async () => (await rowsOf("SELECT * FROM 'amounts.parquet'")).getRowObjectsJson()[0],
  "hyparquet 1.33.0": async () => (await parquetReadObjects({ file: await asyncBufferFromFile("amounts.parquet") }))[0],
  "@dsnp/parquetjs 1.8.8": () => firstRow("@dsnp/parquetjs"),
  "parquet-wasm 0.8.0 and apache-arrow 21.2.0": withArrow,
  "2^53 + 1 written by parquetjs-lite 0.8.7": writtenByLite,
};
const textOf = (value) => (value instanceof Uint8Array && value.constructor.name !== "Uint32Array" ? `${value.length} bytes` : `${typeof value} ${value}`);
const seen = [];
console.log(`Node.js ${process.version}`);
for (const [name, read] of Object.entries(READERS)) {
  const row = await read();
  seen.push(Object.entries(row).map(([member, value]) => `${member}: ${textOf(value)}`).join(", "));
  console.log(`${name.padEnd(44)}${seen.at(-1)}`);
}
const expected = [
  "count: string 18446744073709551615, long: string 90071992547.40993001, short: string 12.34567891",
  "count: bigint 18446744073709551615, long: number 90071992547.40993, short: number 12.34567891",
  "count: bigint -1, long: 16 bytes, short: number 12.34567891",
  "count: bigint 18446744073709551615, long: object 9007199254740993001, short: object 1234567891",
  "count: string 9007199254740992",
];
if (String(seen) !== String(expected)) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
process.exit();
JS
node finding.mjs
