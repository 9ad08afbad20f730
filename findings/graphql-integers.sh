#!/usr/bin/env bash
# Integers of 64 bits as a scalar of a GraphQL server
#
# One would guess: a scalar for such integers always has one form in JSON, text or number, and takes what it returns.
# What happens: `BigInt` and `Long` of graphql-scalars 2.0.0 return a number up to 2^53 - 1, and a text above, so that the type of a
# member depends on its value. When it is loaded, a warning says that all of them become texts.
# The types of graphql-bigint 1.0.0, graphql-type-long 0.1.1 and graphql-type-bigint 1.0.0 return no integer above 2^53 - 1 at all, and the
# first and the third read a literal of 5 in a query as null. apollo-type-bigint 0.1.3 with "bigInt" returns texts, and refuses them as a variable.
# Whom it hurts: clients that compare or add amounts: the first large one is a text, and "5" + 1 is "51". Use String for amounts.
# Versions: see below; found on 2026-11-29 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts --legacy-peer-deps graphql@16.15.0 graphql-scalars@2.0.0 graphql-bigint@1.0.0 \
  graphql-type-long@0.1.1 graphql-type-bigint@1.0.0 apollo-type-bigint@0.1.3
cat > finding.mjs <<'JS'
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);
const { GraphQLObjectType, GraphQLSchema, graphql } = load("graphql");
const { GraphQLBigInt, GraphQLLong } = load("graphql-scalars");
const SCALARS = {
  "graphql-scalars 2.0.0, BigInt": GraphQLBigInt,
  "graphql-scalars 2.0.0, Long": GraphQLLong,
  "graphql-bigint 1.0.0": load("graphql-bigint"),
  "graphql-type-long 0.1.1": load("graphql-type-long"),
  "graphql-type-bigint 1.0.0": load("graphql-type-bigint").default ?? load("graphql-type-bigint"),
  'apollo-type-bigint 0.1.3, "bigInt"': new (load("apollo-type-bigint").default)("bigInt"),
};

/** Returns the JSON of a value, and what reaches the server as a literal of a query and as a variable with this JSON. */
async function formsOf(type, value) {
  let arrived;
  const returned = { type, resolve: () => value };
  const taken = { type, args: { x: { type } }, resolve: (_, { x }) => void (arrived = x) };
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: "Query", fields: { returned, taken } }) });
  const { data, errors } = await graphql({ schema, source: "{ returned }" });
  const json = errors ? "error" : JSON.stringify(data.returned);
  await graphql({ schema, source: `{ taken(x: ${value}) }` });
  const literal = String(arrived);
  arrived = "refused";
  if (!errors) await graphql({ schema, source: `query ($x: ${type.name}) { taken(x: $x) }`, variableValues: { x: data.returned } });
  return `${json}, literal ${literal}${errors ? "" : `, variable ${arrived}`}`;
}

console.log(`Node.js ${process.version}`);
const seen = [];
for (const [name, type] of Object.entries(SCALARS)) {
  for (const value of [5n, 2n ** 53n + 1n]) {
    seen.push(`${name}, ${value}: ${await formsOf(type, value)}`);
    console.log(seen.at(-1));
  }
}
const expected = `graphql-scalars 2.0.0, BigInt, 5: 5, literal 5, variable 5
graphql-scalars 2.0.0, BigInt, 9007199254740993: "9007199254740993", literal 9007199254740993, variable 9007199254740993
graphql-scalars 2.0.0, Long, 5: 5, literal 5, variable 5
graphql-scalars 2.0.0, Long, 9007199254740993: "9007199254740993", literal 9007199254740993, variable 9007199254740993
graphql-bigint 1.0.0, 5: 5, literal null, variable 5
graphql-bigint 1.0.0, 9007199254740993: error, literal null
graphql-type-long 0.1.1, 5: 5, literal 5, variable 5
graphql-type-long 0.1.1, 9007199254740993: error, literal null
graphql-type-bigint 1.0.0, 5: 5, literal null, variable 5
graphql-type-bigint 1.0.0, 9007199254740993: error, literal null
apollo-type-bigint 0.1.3, "bigInt", 5: "5", literal 5, variable refused
apollo-type-bigint 0.1.3, "bigInt", 9007199254740993: "9007199254740993", literal 9007199254740993, variable refused`;
if (seen.join("\n") !== expected) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
node finding.mjs
