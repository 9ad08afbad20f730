#!/usr/bin/env bash
# Writing bigints to CSV and spreadsheets
#
# One would guess: a writer prints the digits of a bigint, or throws, as `JSON.stringify` does.
# What happens: jsonexport 3.2.0 and xlsx 0.18.5 leave the cell empty, without an error: a whole column of amounts is missing.
# convert-array-to-csv 2.0.0 prints bigints, but 0n as an empty text. json2csv 5.0.7, exceljs 4.4.0 and export-to-csv 1.5.0 throw.
# @json2csv/plainjs 7.0.8 (the successor of json2csv), csv-stringify, papaparse, fast-csv, csv-writer, json-2-csv and d3-dsv print all digits.
# Whom it hurts: bookkeeping that exports payments, after a program went from numbers to bigint: the file has all rows, and sums of an empty
# column are 0. Convert amounts to texts first; spreadsheets keep 15 digits of numbers anyway.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts jsonexport@3.2.0 xlsx@0.18.5 convert-array-to-csv@2.0.0 json2csv@5.0.7 exceljs@4.4.0 \
  export-to-csv@1.5.0 @json2csv/plainjs@7.0.8 csv-stringify@6.9.0 papaparse@5.7.1 fast-csv@5.0.8 csv-writer@1.6.0 json-2-csv@5.6.0 d3-dsv@3.0.2
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";
import { Parser } from "@json2csv/plainjs";
import { stringify } from "csv-stringify/sync";
import { csvFormat } from "d3-dsv";
import { asString, generateCsv, mkConfig } from "export-to-csv";
import { json2csv } from "json-2-csv";

const load = createRequire(import.meta.url);
const rows = [
  { id: "a", amount: 9_007_199_254_740_993n },
  { id: "b", amount: 0n },
];
const names = Object.keys(rows[0]);
const xlsx = load("xlsx");
const exceljs = load("exceljs");
const { createObjectCsvStringifier } = load("csv-writer");
const WRITERS = {
  "jsonexport 3.2.0": () => load("jsonexport")(rows),
  "xlsx 0.18.5": () => xlsx.utils.sheet_to_csv(xlsx.utils.json_to_sheet(rows)),
  "convert-array-to-csv 2.0.0": () => load("convert-array-to-csv").convertArrayToCSV(rows),
  "json2csv 5.0.7": () => new (load("json2csv").Parser)().parse(rows),
  "exceljs 4.4.0": async () => {
    const workbook = new exceljs.Workbook();
    const sheet = workbook.addWorksheet("payments");
    sheet.columns = names.map((name) => ({ header: name, key: name }));
    sheet.addRows(rows);
    return String(await workbook.csv.writeBuffer());
  },
  "export-to-csv 1.5.0": () => asString(generateCsv(mkConfig({ useKeysAsHeaders: true }))(rows)),
  "@json2csv/plainjs 7.0.8": () => new Parser().parse(rows),
  "csv-stringify 6.9.0": () => stringify(rows, { header: true }),
  "papaparse 5.7.1": () => load("papaparse").unparse(rows),
  "fast-csv 5.0.8": () => load("fast-csv").writeToString(rows, { headers: true }),
  "csv-writer 1.6.0": () => {
    const writer = createObjectCsvStringifier({ header: names.map((id) => ({ id, title: id })) });
    return `${writer.getHeaderString()}${writer.stringifyRecords(rows)}`;
  },
  "json-2-csv 5.6.0": () => json2csv(rows),
  "d3-dsv 3.0.2": () => csvFormat(rows),
};

console.log(`Node.js ${process.version}; the cells of ${rows.map(({ amount }) => `${amount}n`).join(" and ")}`);
const seen = {};
for (const [name, write] of Object.entries(WRITERS)) {
  try {
    const [, ...lines] = (await write()).trim().split(/\r?\n/);
    seen[name] = lines.map((line) => line.split(",")[1].replaceAll('"', "")).map((cell) => cell || "empty");
  } catch {
    seen[name] = ["throws"];
  }
  console.log(`${name.padEnd(30)}${seen[name].join(", ")}`);
}
const expected = {
  "jsonexport 3.2.0": "empty,empty",
  "xlsx 0.18.5": "empty,empty",
  "convert-array-to-csv 2.0.0": "9007199254740993,empty",
  "json2csv 5.0.7": "throws",
  "exceljs 4.4.0": "throws",
  "export-to-csv 1.5.0": "throws",
};
if (Object.entries(seen).some(([name, cells]) => String(cells) !== (expected[name] ?? "9007199254740993,0"))) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
