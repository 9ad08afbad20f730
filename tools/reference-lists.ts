/** Generates the page of lists: the filters and orders of each list of the API. */
import { listParameters, searchMembers } from "../packages/node/src/http/requests/list-schemas.ts";
import type { FilterDefinition, ListDefinition } from "../packages/node/src/read/list-definition.ts";
import { LISTS } from "../packages/node/src/read/lists.ts";

/** The members of a schema that the page shows. */
type Schema = {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
};

type Schemas = Readonly<Record<string, Schema | undefined>>;

const INTRODUCTION = `# Lists

Filters and orders of the lists of the API. A row must match all filters of a request; \`orderBy\` is a field, followed by \`:asc\` or
\`:desc\`. A filter in the column "search" is a member of the body; an interval is \`{"from": n, "to": n}\`, both ends are included, and
each is optional. Pages and cursors: [api.md](../guides/api.md). \`/nfts\` has the filters and orders of \`/uniks\`.
`;

export const listsPage = (): string => [INTRODUCTION, ...LISTS.flatMap(chapter)].join("\n");

function chapter(list: ListDefinition): string[] {
  const { path, searchPath, orders, defaultOrder } = list;
  const search = searchPath ? ` and \`POST ${searchPath}\`` : "";
  return [
    `## ${path}`,
    "",
    `\`GET ${path}\`${search}. Order: ${orders.map((name) => `\`${name}\``).join(", ")}; default \`${defaultOrder.field}:${defaultOrder.direction}\`.`,
    "",
    "| filter | list | search | note |",
    "|---|---|---|---|",
    ...Object.keys(list.filters).map((name) => row(list, name)),
    "",
  ];
}

function row(list: ListDefinition, name: string): string {
  const parameters: Schemas = listParameters(list);
  const members: Schemas = list.searchPath ? searchMembers(list) : {};
  const isInterval = list.filters[name]?.search === "interval" && name in members;
  const note = noteOf(list.filters[name]);
  return `| \`${name}\` | ${textOf(parameters[name])} | ${isInterval ? "interval" : textOf(members[name])} | ${note} |`;
}

const noteOf = ({ note = "", isIgnored }: Partial<FilterDefinition> = {}): string =>
  isIgnored ? "Has no effect." : note;

/** Returns the description of a schema, or its values. */
function textOf(schema: Schema | undefined): string {
  if (!schema) return "";
  const { description, enum: values, type, items, minItems = 0, maxItems, anyOf } = schema;
  if (description !== undefined) return description.replaceAll("|", "\\|");
  if (values) return [...new Set(values.map(String))].join(" or ");
  if (anyOf) return anyOf.map(textOf).join("; or ");
  if (type === "array")
    return `${minItems} ${maxItems === undefined ? "or more" : `to ${maxItems}`}: ${textOf(items)}`;
  return type === "object" ? "an object" : "a string";
}
