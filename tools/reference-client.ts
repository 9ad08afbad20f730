/** Generates the filters and orders of the client's lists, from the definitions that the node uses. */
import type {
  FilterDefinition,
  FilterKind,
  ListDefinition,
} from "../packages/node/src/read/list-definition.ts";
import { LISTS } from "../packages/node/src/read/lists.ts";

/** Names of the generated types, by the path of the list. */
const NAMES: Readonly<Record<string, string>> = {
  "/blocks": "Block",
  "/delegates/{id}/blocks": "ForgedBlock",
  "/transactions": "Transaction",
  "/votes": "Vote",
  "/blocks/{id}/transactions": "BlockTransaction",
  "/wallets/{id}/transactions": "WalletTransaction",
  "/wallets/{id}/transactions/sent": "SentTransaction",
  "/wallets/{id}/transactions/received": "ReceivedTransaction",
  "/wallets": "Wallet",
  "/wallets/top": "RichestWallet",
  "/wallets/{id}/history": "Balance",
  "/delegates/{id}/voters": "Voter",
  "/delegates": "Delegate",
  "/locks": "Lock",
  "/wallets/{id}/locks": "WalletLock",
  "/entities": "Entity",
  "/uniks": "Token",
  "/peers": "Peer",
};

/** Type of a value, by the kind of its filter. */
const TYPES: Readonly<Record<FilterKind, string>> = {
  address: "string",
  addressList: "string",
  addresses: "readonly string[]",
  blockId: "string",
  delegateState: '"resigned" | "never-forged"',
  entityName: "string",
  expirationType: "1 | 2",
  flag: "boolean",
  hex: "string",
  hex64: "string",
  ids: "string | readonly string[]",
  int: "Integer",
  ip: "string",
  members: "Readonly<Record<string, unknown>>",
  namePart: "string",
  percentage: "number | string",
  positive: "Integer",
  publicKey: "string",
  text: "string",
  uint: "Integer",
  username: "string",
  usernames: "readonly string[]",
  vendorField: "string",
  versionRange: "string",
};

const LINE_WIDTH = 110;

const INTRODUCTION = `/**
 * Filters and orders of the lists, generated from packages/node/src/read/lists.ts by \`npm run reference\`: do not
 * edit. An object must satisfy all given filters.
 */
import type { Integer, Interval, OrderBy } from "./responses.ts";
`;

/** Returns the file of the client. */
export function clientLists(): string {
  const written: Written[] = [];
  const texts = LISTS.map((list) => {
    const types = typesOf(list, written);
    written.push(types.written);
    return types.text;
  });
  return `${INTRODUCTION}\n${texts.join("").trimEnd()}\n`;
}

type Member = { readonly name: string; readonly text: string };

/** A list whose types are written, for lists that have some of its filters or the same orders. */
type Written = { readonly name: string; readonly orders: string; readonly parameters: readonly Member[] };

function typesOf(list: ListDefinition, written: readonly Written[]): { text: string; written: Written } {
  const name = NAMES[list.path];
  if (name === undefined) throw new Error(`tools/reference-client.ts has no name for the list ${list.path}`);
  const filters = Object.entries(list.filters).filter(([, { isIgnored }]) => !isIgnored);
  const parameters = filters
    .filter(([, { query }]) => query)
    .map(([member, filter]) => memberOf(member, filter, TYPES[filter.kind]));
  const members = list.searchPath === undefined ? [] : filters.filter(([, { search }]) => search);
  const orders = list.orders.join();
  const searched = members.map(([member, filter]) => memberOf(member, filter, searchType(filter)));
  const text = [
    orderType(
      `${name}Order`,
      list.orders,
      written.find((other) => other.orders === orders),
    ),
    filterType(`${name}Filter`, parameters, written),
    filterType(`${name}SearchFilter`, searched, []),
  ].join("");
  return { text, written: { name, orders, parameters } };
}

function memberOf(name: string, { note }: FilterDefinition, type: string): Member {
  const comment = note === undefined ? "" : `  /** ${note} */\n`;
  return { name, text: `${comment}  readonly ${name}?: ${type};\n` };
}

/** Returns a type, derived from another list that has all these members and more. */
function filterType(name: string, members: readonly Member[], written: readonly Written[]): string {
  if (members.length === 0) return "";
  const texts = new Set(members.map(({ text }) => text));
  const base = written.find(({ parameters }) =>
    texts.isSubsetOf(new Set(parameters.map(({ text }) => text))),
  );
  if (base === undefined) return `export type ${name} = ${extendedType(members, written)};\n\n`;
  const omitted = base.parameters.filter(({ text }) => !texts.has(text));
  const part = partOf(`${base.name}Filter`, members, omitted);
  const line = `export type ${name} = ${part};`;
  const wrapped = () => line.replace("<", "<\n  ").replace(", ", ",\n  ").replace(/>;$/, "\n>;");
  return `${line.length <= LINE_WIDTH ? line : wrapped()}\n\n`;
}

/** Returns a type of all members, which extends another list that has fewer of them. */
function extendedType(members: readonly Member[], written: readonly Written[]): string {
  const texts = new Set(members.map(({ text }) => text));
  const base = written.find(
    ({ parameters }) => parameters.length > 0 && parameters.every(({ text }) => texts.has(text)),
  );
  const known = new Set(base?.parameters.map(({ text }) => text));
  const added = `{\n${[...texts].filter((text) => !known.has(text)).join("")}}`;
  return base === undefined ? added : `${base.name}Filter & ${added}`;
}

/** Selects members of a type by the shorter list of names. */
function partOf(type: string, kept: readonly Member[], omitted: readonly Member[]): string {
  const namesOf = (members: readonly Member[]) => members.map(({ name }) => `"${name}"`).join(" | ");
  if (omitted.length === 0) return type;
  return kept.length < omitted.length
    ? `Pick<${type}, ${namesOf(kept)}>`
    : `Omit<${type}, ${namesOf(omitted)}>`;
}

function searchType({ kind, search }: FilterDefinition): string {
  if (search !== "interval") return TYPES[kind];
  return TYPES[kind] === "Integer" ? "Interval" : `Interval<${TYPES[kind]}>`;
}

/** Returns nothing for the orders of another list. Formats the type as the formatter of the repository does. */
function orderType(name: string, orders: readonly string[], base: Written | undefined): string {
  if (base) return "";
  const fields = orders.map((field) => `"${field}"`);
  const line = `export type ${name} = OrderBy<${fields.join(" | ")}>;`;
  if (line.length <= LINE_WIDTH) return `${line}\n\n`;
  const union = `  ${fields.join(" | ")}`;
  const lines = union.length <= LINE_WIDTH ? union : fields.map((field) => `  | ${field}`).join("\n");
  return `export type ${name} = OrderBy<\n${lines}\n>;\n\n`;
}
