/** Generates the page of events: when each occurs, its content, and a real example. */
import type { TSchema } from "typebox";
import { isRemembered } from "../packages/node/src/event-log/history.ts";
import {
  EVENTS,
  type Event,
  isChainFact,
  isRetraction,
  loggedName,
  retractionNameOf,
} from "../packages/node/src/events/catalogue.ts";
import { DATA_SCHEMAS } from "../packages/node/src/events/schemas.ts";
import { present } from "../packages/node/src/platform/present.ts";
import { deliveryId } from "../packages/node/src/webhooks/matching/drafts.ts";
import { bodyOf } from "../packages/node/src/webhooks/model/message.ts";
import { CHAINS } from "../packages/node/test-support/chain/fixtures.ts";
import { eventsOfChain } from "../packages/node/test-support/events/samples.ts";

/** The members of a schema that the page shows. */
type Schema = {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};

const INTRODUCTION = `# Events

A webhook or a stream subscribes to these names, one by one or by a pattern such as \`transaction.*\`.

Facts of a block are published when the block is on disk, in this order: missed slots, the round, each transaction with
its effects, wallets, the block itself, the blocks that it made final. If the block is reverted, the event in the third column retracts each delivered
fact, with the same content ([reorganisations.md](../guides/reorganisations.md)). A replay
([webhooks.md](../guides/webhooks.md#replay-the-past)) repeats the events that stored blocks contain (last column).

Amounts are strings of digits in the smallest unit, 100,000,000 to a token. The examples, with their ids, keys and
signatures, come from the chains of the tests.
`;

export async function eventsPage(): Promise<string> {
  const examples = await findExamples();
  const schemas = new Map<string, Schema>();
  for (const schema of Object.values(DATA_SCHEMAS)) addTitled(schema as Schema, schemas);
  return [
    INTRODUCTION,
    "| event | published when | retracted by | replayed |",
    "|---|---|---|---|",
    ...Object.entries(EVENTS).map(([name, when]) => eventRow(name, when)),
    "",
    "## A whole message",
    "",
    "```json",
    messageOf(present(examples.get("transaction.applied"))),
    "```",
    "",
    "## Content of `data`",
    "",
    ...[...examples.keys()].sort().flatMap((name) => eventSection(name, present(examples.get(name)))),
    "## Types",
    "",
    ...[...schemas].flatMap(([title, schema]) => contentSection(title, schema)),
  ].join("\n");
}

/** The shortest event of each name. */
async function findExamples(): Promise<Map<string, Event>> {
  const examples = new Map<string, Event>();
  for (const chain of CHAINS) {
    for (const event of await eventsOfChain(chain)) {
      const known = examples.get(event.name);
      if (!known || JSON.stringify(event).length < JSON.stringify(known).length)
        examples.set(event.name, event);
    }
  }
  return examples;
}

const eventRow = (name: string, when: string): string => {
  const isFact = isChainFact(name) && !isRetraction(name);
  return `| [\`${name}\`](#${anchorOf(loggedName(name))}) | ${when} | ${isFact ? `\`${retractionNameOf(name)}\`` : ""} | ${isRemembered(name) ? "yes" : ""} |`;
};

/** Converts a heading to its anchor, as GitHub does. */
const anchorOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9-]/g, "");

function messageOf({ id: factId, name, height, blockId, data }: Event): string {
  const source = { ...(height !== undefined && { height }), ...(blockId !== undefined && { blockId }) };
  const id = deliveryId("", 1, { id: factId, ...source, timesReverted: 0 });
  const content = { dataText: JSON.stringify(data) };
  const delivery = {
    webhook: 1,
    id,
    event: name,
    ...source,
    timeMs: 1_795_223_920_000,
    content,
  };
  return pretty(JSON.parse(bodyOf(delivery)));
}

function eventSection(name: string, { data }: Event): string[] {
  const schema: Schema | undefined = DATA_SCHEMAS[name] as TSchema | undefined;
  if (schema === undefined) return [`### ${name}`, "", "No `data`.", ""];
  return [
    `### ${name}`,
    "",
    `${sentence(typeOf(schema))}.`,
    "",
    "```json",
    pretty(shortened(data)),
    "```",
    "",
  ];
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function contentSection(title: string, { properties = {}, required = [] }: Schema): string[] {
  return [
    `### ${title}`,
    "",
    "| member | type | meaning |",
    "|---|---|---|",
    ...Object.entries(properties).map(([name, schema]) => {
      const isOptional = !required.includes(name);
      return `| \`${name}\`${isOptional ? ", may be absent" : ""} | ${typeOf(schema)} | ${schema.description ?? ""} |`;
    }),
    "",
  ];
}

function typeOf({ type, title, items }: Schema): string {
  if (title !== undefined) return `[${title}](#${anchorOf(title)})`;
  if (type === "array" && items) return `a list of ${items.title === undefined ? "strings" : typeOf(items)}`;
  return type === "string" ? "string" : type === "boolean" ? "`true` or `false`" : (type ?? "any");
}

function addTitled(schema: Schema, schemas: Map<string, Schema>): void {
  if (schema.title !== undefined) schemas.set(schema.title, schema);
  for (const member of [...Object.values(schema.properties ?? {}), ...(schema.items ? [schema.items] : [])]) {
    addTitled(member, schemas);
  }
}

/** Shortens a long list to its first item. */
const shortened = (data: unknown): unknown => (Array.isArray(data) ? data.slice(0, 1) : data);

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
