#!/usr/bin/env bash
# Amounts with 8 decimals under the JSON schema `{ "type": "number", "multipleOf": 0.00000001 }`
#
# One would guess: validators that are not built for speed alone compare decimals exactly here, or with a tolerance; ajv has the option
# `multipleOfPrecision` for it.
# What happens: of 20,000 amounts that have at most 8 decimals, is-my-json-valid refuses 86 %, z-schema 36 %, ajv, djv and tv4 15 %, typebox
# 4 %, and ajv with `multipleOfPrecision: 8` still 7 %, such as 8751.3923645. jsonschema, @cfworker/json-schema, schemasafe and hyperjump take
# all. The same schema is thus another rule in each program.
# Whom it hurts: payment services whose contract (OpenAPI) says `multipleOf`: a client's validator refuses valid amounts that the server
# sent, for some amounts only, so that tests with 1.5 pass. Use texts with a pattern, or integers of the smallest unit.
# Versions: see below; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts ajv@8.20.0 jsonschema@1.5.0 @cfworker/json-schema@4.1.6 @exodus/schemasafe@1.3.0 \
  z-schema@6.0.2 is-my-json-valid@2.20.6 tv4@1.3.0 djv@2.1.4 @hyperjump/json-schema@1.18.0 @hyperjump/browser@1.3.1 typebox@1.4.3
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";
import { Validator as Cfworker } from "@cfworker/json-schema";
import { registerSchema, validate } from "@hyperjump/json-schema/draft-2020-12";
import { Number as TypeNumber } from "typebox";
import { Compile } from "typebox/compile";

const load = createRequire(import.meta.url);
const schema = { type: "number", multipleOf: 1e-8 };
const Ajv = load("ajv").default;
const { Validator: JsonSchema } = load("jsonschema");
const jsonSchema = new JsonSchema();
const cfworker = new Cfworker(schema);
const ZSchema = load("z-schema");
const zSchema = new ZSchema();
const tv4 = load("tv4");
const Djv = load("djv");
const djv = new Djv();
djv.addSchema("amount", schema);
registerSchema({ $schema: "https://json-schema.org/draft/2020-12/schema", ...schema }, "https://example.org/amount");
const hyperjump = await validate("https://example.org/amount");
const typebox = Compile(TypeNumber({ multipleOf: 1e-8 }));
const VALIDATORS = {
  "jsonschema 1.5.0": (value) => jsonSchema.validate(value, schema).valid,
  "@cfworker/json-schema 4.1.6": (value) => cfworker.validate(value).valid,
  "@exodus/schemasafe 1.3.0": load("@exodus/schemasafe").validator(schema),
  "@hyperjump/json-schema 1.18.0": (value) => hyperjump(value).valid,
  "typebox 1.4.3": (value) => typebox.Check(value),
  "ajv 8.20.0, precision 8": new Ajv({ multipleOfPrecision: 8 }).compile(schema),
  "ajv 8.20.0": new Ajv().compile(schema),
  "djv 2.1.4": (value) => djv.validate("amount", value) === undefined,
  "tv4 1.3.0": (value) => tv4.validate(value, schema),
  "z-schema 6.0.2": (value) => zSchema.validate(value, schema),
  "is-my-json-valid 2.20.6": load("is-my-json-valid")(schema),
};

/** Always the same amounts: integers of 1 to 15 digits, written with 8 decimals and read as a JSON parser does. */
let state = 1;
const random = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
const amounts = Array.from({ length: 20_000 }, () => {
  const units = `${Math.floor(random() * 10 ** (1 + Math.floor(random() * 15)))}`.padStart(9, "0");
  return JSON.parse(`${BigInt(units.slice(0, -8))}.${units.slice(-8)}`);
});

console.log(`Node.js ${process.version}; refused of ${amounts.length} amounts`);
const seen = {};
for (const [name, isValid] of Object.entries(VALIDATORS)) {
  const refused = amounts.filter((amount) => !isValid(amount));
  seen[name] = refused.length;
  console.log(`${name.padEnd(32)}${`${refused.length}`.padStart(6)}  ${refused.slice(0, 3).join(", ")}`);
}
const expected = [0, 0, 0, 0, 780, 1_324, 3_042, 3_042, 2_907, 7_194, 17_103];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
