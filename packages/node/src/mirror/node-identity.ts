/**
 * The network of a chain, and the information that a node returns about itself. The mirror copies both from the node
 * into the database, so that API servers start without a node.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createNetwork, type Network, networkFilesFromJson } from "@uniknode/protocol";
import type { Logger } from "pino";
import { request } from "undici";
import type { Identity } from "../http/core/api.ts";
import { CryptoConfiguration, DynamicFees, feePolicyFrom } from "../http/responses/node-configuration.ts";
import { parseExternal, type TextBounds } from "../platform/json/external.ts";
import { type Form, formOf } from "../platform/json/form.ts";
import { Type } from "../platform/json/schema.ts";
import type { Postgres } from "../postgres/connection.ts";
import { checkSchema, SchemaError } from "../postgres/migrations.ts";
import type { Epoch } from "./head.ts";

/** Two JSON texts, whose members keep their order. */
export type IdentityTexts = { readonly networkFiles: string; readonly configuration: string };

type NodeIdentity = { readonly network: Network; readonly identity: Identity };

const TIMEOUT_MS = 10_000;
const RETRY_MS = 2_000;
/** Bounds for the largest preset of a network, with its genesis block. */
const BOUNDS: TextBounds = { maxCharacters: 64 * 1024 * 1024, maxDepth: 64, maxValues: 10_000_000 };

const PRESET = formOf(CryptoConfiguration);
/** The members that API servers need; a node of another version may send other members. */
const CONFIGURATION = formOf(
  Type.Object({
    core: Type.Object({ version: Type.String({ maxLength: 64 }) }),
    ports: Type.Record(Type.String(), Type.Integer()),
    transactionPool: Type.Object({ dynamicFees: DynamicFees }),
  }),
);
/** `parseIdentity` checks the member. */
const RESPONSE = formOf(Type.Object({ data: Type.Unknown() }));

/**
 * Waits until the node responds.
 *
 * @throws {DOMException} AbortError if the signal ends the wait
 */
export async function fetchIdentity(
  url: string,
  logger: Logger,
  signal: AbortSignal,
): Promise<NodeIdentity & { readonly texts: IdentityTexts }> {
  const base = `${url.replace(/\/$/, "")}/api/v2/node/configuration`;
  for (;;) {
    try {
      const texts = {
        networkFiles: JSON.stringify(await fetchData(`${base}/crypto`, signal)),
        configuration: JSON.stringify(await fetchData(base, signal)),
      };
      return { texts, ...parseIdentity(texts) };
    } catch (error) {
      signal.throwIfAborted();
      logger.warn(
        { node: url, reason: (error as Error).message },
        "waiting for the node: it does not respond",
      );
    }
    await sleep(RETRY_MS, undefined, { signal });
  }
}

/** Stores the texts, unless another mirror has taken over. */
export async function storeIdentity(
  postgres: Postgres,
  { networkFiles, configuration }: IdentityTexts,
  epoch: Epoch,
): Promise<void> {
  await postgres.query(
    `INSERT INTO node_identity (network_files, configuration) SELECT $1, $2 FROM head WHERE epoch = $3
     ON CONFLICT (is_single) DO UPDATE SET network_files = $1, configuration = $2`,
    [networkFiles, configuration, epoch],
  );
}

/**
 * Waits until a mirror of this version has stored the identity of its node.
 *
 * @throws {DOMException} AbortError if the signal ends the wait
 * @throws {SchemaError} SCHEMA_NEWER, SCHEMA_CHANGED
 */
export async function waitForIdentity(
  postgres: Postgres,
  logger: Logger,
  signal: AbortSignal,
): Promise<NodeIdentity> {
  for (;;) {
    const found = await readIdentity(postgres);
    signal.throwIfAborted();
    if (typeof found === "object") return found;
    logger.warn(`waiting for the mirror: ${found}`);
    await sleep(RETRY_MS, undefined, { signal });
  }
}

/**
 * Returns the stored identity, or the reason why there is none yet.
 *
 * @throws {SchemaError} SCHEMA_NEWER, SCHEMA_CHANGED
 */
export async function readIdentity(postgres: Postgres): Promise<NodeIdentity | string> {
  try {
    await checkSchema(postgres);
  } catch (error) {
    if (error instanceof SchemaError && error.code === "SCHEMA_OLDER") return error.message;
    throw error;
  }
  const [texts] = await postgres.query<IdentityTexts>(
    `SELECT network_files AS "networkFiles", configuration FROM node_identity`,
  );
  return texts
    ? parseIdentity(texts)
    : 'it has not reached its node yet; check that "uniknode mirror" and the node run';
}

/** @throws {Error} if a text has another form */
function parseIdentity({ networkFiles, configuration }: IdentityTexts): NodeIdentity {
  const { genesisBlock, ...files } = parse(networkFiles, PRESET, "the files of the network");
  const node = parse(configuration, CONFIGURATION, "the configuration of the node");
  return {
    network: createNetwork(networkFilesFromJson(files)),
    identity: {
      version: node.core.version,
      genesisBlock,
      feePolicy: feePolicyFrom(node.transactionPool.dynamicFees),
      ports: node.ports,
    },
  };
}

function parse<T>(text: string, form: Form<T>, subject: string): T {
  try {
    return parseExternal(text, form, BOUNDS);
  } catch (error) {
    throw new Error(`${subject}: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads the member `data` of a response. */
async function fetchData(url: string, signal: AbortSignal): Promise<unknown> {
  const { body, statusCode } = await request(url, {
    signal,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  let text = "";
  for await (const chunk of body.setEncoding("utf8")) {
    text += chunk;
    if (text.length > BOUNDS.maxCharacters) throw new Error(`${url}: the response is too long`);
  }
  if (statusCode !== 200) throw new Error(`${url}: HTTP status ${statusCode}`);
  return parseExternal(text, RESPONSE, BOUNDS).data;
}
