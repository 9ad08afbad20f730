/**
 * Every list of the OpenAPI document, in each of its orders and by each of its filters: the first page,
 * the middle and the end. One request at a time, to measure the query and not the queue.
 */
import { Agent, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { present } from "../../packages/node/src/platform/present.ts";
import { openDatabase } from "../../packages/node/src/store/engine/database.ts";
import type { Dataset } from "./dataset.ts";

export type QueryFigures = {
  readonly query: string;
  readonly rows: number;
  readonly asked: number;
  readonly firstMs: number;
  /** Time from the first request to the first response within the goal; absent if there was none. */
  readonly settledMs: number | undefined;
  /** Times after that. */
  readonly p99Ms: number;
  /** Responses other than 200. */
  readonly failed: number;
};

/** Requests of a query: as many as fit into the time, but at least some. */
const MAX_REQUESTS = 102;
const MIN_REQUESTS = 9;
const MAX_MS = 250;
/** Time in which the node must have built its caches of a list after the first request. */
const MAX_SETTLING_MS = 8_000;

type Schema = { readonly pattern?: string; readonly properties?: Record<string, Schema> };
type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> };
};
type Document = { readonly paths: Record<string, { readonly get?: Operation; readonly post?: Operation }> };
type Query = { readonly path: string; readonly parameters: string; readonly body?: object };

/**
 * @param goalMs time for a response
 * @param only part of the path of the lists to measure
 */
export async function* measurePages(
  { dataset, goalMs, only }: { dataset: Dataset; goalMs: number; only: string },
  port: number,
): AsyncGenerator<QueryFigures> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const document = JSON.parse((await ask(agent, port, { path: "openapi.json", parameters: "" })).text);
  for (const query of queriesOf(document as Document, samplesOf(dataset))) {
    if (query.path.includes(only)) yield measure(agent, port, query, goalMs);
  }
  agent.destroy();
}

/** Values of rows in the middle of the chain, by the names of parameters. */
function samplesOf({ path }: Dataset) {
  const database = openDatabase(path, { readonly: true });
  const row = (sql: string) => present(database.prepare<Record<string, string | number>>(sql).get());
  const { height } = row("SELECT MAX(height) / 2 AS height FROM blocks");
  const block =
    row(`SELECT id_text AS id, id_text AS blockId, height, version, lower(hex(public_key)) AS generatorPublicKey, reward,
    total_fee AS totalFee, total_amount AS totalAmount, number_of_transactions AS numberOfTransactions,
    timestamp FROM blocks JOIN generators ON number = generator WHERE height = ${height}`);
  const transaction =
    row(`SELECT transactions.id_text AS id, lower(hex(public_key)) AS senderPublicKey, nonce, amount, fee, type,
    type_group AS typeGroup, timestamp, transactions.version, vendor_field AS vendorField
    FROM transactions JOIN senders ON number = sender JOIN blocks USING (height) WHERE height = ${height} AND vendor_field IS NOT NULL LIMIT 1`);
  const busiest = row(`SELECT address AS recipientId FROM transactions JOIN recipients ON number = recipient
    GROUP BY recipient ORDER BY COUNT(*) DESC LIMIT 1`);
  const sender = row(`SELECT address, address AS senderId, public_key AS publicKey, balance, vote
    FROM wallets WHERE public_key = '${transaction.senderPublicKey}'`);
  const token = row("SELECT id, owner AS ownerId FROM tokens LIMIT 1");
  const delegate = row("SELECT username, public_key AS vote FROM wallets WHERE username IS NOT NULL LIMIT 1");
  database.close();
  const few = {
    secondPublicKey: present(sender.publicKey),
    producedBlocks: 1,
    voteBalance: 1,
    lockedBalance: 1,
  };
  const wallet = { ...few, ...sender, username: present(delegate.username), vote: present(delegate.vote) };
  return {
    /** Values for a path segment, by the previous segment. */
    ids: {
      blocks: [present(height)],
      delegates: [present(delegate.username)],
      rounds: [1],
      wallets: [present(busiest.recipientId), present(sender.address)],
      uniks: [present(token.id)],
      nfts: [present(token.id)],
    } as Record<string, readonly (string | number)[] | undefined>,
    values: (path: string): Record<string, unknown> => {
      if (path.includes("transactions") || path.includes("votes")) {
        const addresses = [busiest.recipientId, sender.address];
        return { ...transaction, ...busiest, senderId: sender.senderId, blockId: block.blockId, addresses };
      }
      if (path.includes("blocks")) return { ...block, previousBlock: block.id };
      if (path.includes("uniks") || path.includes("nfts")) return token;
      return { ...wallet, addresses: [sender.address] };
    },
  };
}

function* queriesOf({ paths }: Document, samples: ReturnType<typeof samplesOf>): Generator<Query> {
  for (const [template, { get, post }] of Object.entries(paths)) {
    const [collection = ""] = template.slice(1).split("/");
    const isPaged = (operation?: Operation) => operation?.parameters?.some(({ name }) => name === "limit");
    const ids = template.includes("{") ? (samples.ids[collection] ?? []) : [""];
    for (const id of ids) {
      const path = template.replace(/\{\w+\}/, `${id}`).slice(1);
      if (path.includes("{") || path.includes("unconfirmed") || path === "peers") continue;
      const values = samples.values(template);
      if (isPaged(get)) {
        const inQuery = present(present(get).parameters).filter((parameter) => parameter.in === "query");
        const schemas = Object.fromEntries(inQuery.map(({ name, schema }) => [name, schema]));
        for (const [name, value] of choices(schemas, values)) {
          yield { path, parameters: name === undefined ? "" : `${name}=${encodeURIComponent(`${value}`)}` };
        }
      }
      if (isPaged(post)) {
        const schemas = present(post).requestBody?.content["application/json"]?.schema.properties ?? {};
        for (const [name, value] of choices(schemas, values)) {
          yield { path, parameters: "", body: name === undefined ? {} : { [name]: value } };
        }
      }
    }
  }
}

const PAGING = ["page", "limit", "offset", "cursor"];

/** No parameter, each order, and each filter that has a sample. */
function* choices(schemas: Record<string, Schema>, values: Record<string, unknown>) {
  yield [undefined, undefined] as const;
  for (const [name, { pattern, properties }] of Object.entries(schemas)) {
    if (PAGING.includes(name)) continue;
    const fields = name === "orderBy" && /\(([\w|]+)\):/.exec(pattern ?? "")?.[1]?.split("|");
    if (fields) {
      for (const field of fields) for (const way of ["asc", "desc"]) yield [name, `${field}:${way}`] as const;
    } else if (values[name] !== undefined && values[name] !== null) {
      const value = values[name];
      yield [name, properties?.from ? { from: value, to: value } : value] as const;
    }
  }
}

async function measure(agent: Agent, port: number, query: Query, goalMs: number): Promise<QueryFigures> {
  const startMs = performance.now();
  const first = await ask(agent, port, query);
  const rows = Number(JSON.parse(first.text).meta?.totalCount ?? 0);
  let [last, settledMs] = [first, first.tookMs];
  while (last.tookMs > goalMs && settledMs < MAX_SETTLING_MS) {
    await setTimeout(last.tookMs);
    last = await ask(agent, port, query, `offset=${Math.floor(rows / 2)}&${unlike(Math.round(settledMs))}`);
    settledMs = performance.now() - startMs;
  }
  const takenMs: number[] = [];
  let failed = 0;
  for (
    let index = 0, spentMs = 0;
    index < MAX_REQUESTS && (index < MIN_REQUESTS || spentMs < MAX_MS);
    index++
  ) {
    const around = present([0, Math.floor(rows / 2), Math.max(0, rows - 100)][index % 3]);
    const offset = Math.max(0, around - (index > 2 ? index : 0));
    const { status, tookMs } = await ask(agent, port, query, `offset=${offset}&${unlike(index)}`);
    takenMs.push(tookMs);
    spentMs += tookMs;
    if (status !== 200) failed++;
  }
  takenMs.sort((a, b) => a - b);
  const { path, parameters, body } = query;
  return {
    query: `${path}${parameters && `?${parameters}`}${body ? ` ${JSON.stringify(body)}` : ""}`,
    rows,
    asked: takenMs.length,
    firstMs: first.tookMs,
    settledMs: last.tookMs > goalMs ? undefined : settledMs,
    p99Ms: present(takenMs[Math.ceil(takenMs.length * 0.99) - 1]),
    failed,
  };
}

/** Parameter without a meaning, to vary the URL. */
const unlike = (index: number): string => `=${"&".repeat(index % 60)}`;

type Asked = { readonly status: number; readonly text: string; readonly tookMs: number };

function ask(agent: Agent, port: number, query: Query, range = ""): Promise<Asked> {
  const { path, parameters, body } = query;
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const asking = request(
      {
        agent,
        port,
        host: "127.0.0.1",
        path: `/api/${path}?${[parameters, range].filter((text) => text !== "").join("&")}`,
        method: body ? "POST" : "GET",
        headers: body ? { "content-type": "application/json" } : {},
      },
      async (response) => {
        const chunks: Buffer[] = await response.toArray();
        const text = Buffer.concat(chunks).toString();
        resolve({ status: present(response.statusCode), text, tookMs: performance.now() - startMs });
      },
    );
    asking.on("error", reject);
    asking.end(body && JSON.stringify(body));
  });
}
