/** Reads the network of a chain, and the information that a node returns about itself. */
import { setTimeout as sleep } from "node:timers/promises";
import { createNetwork, type Network, networkFilesFromJson } from "@uniknode/protocol";
import type { Logger } from "pino";
import Type, { type Static } from "typebox";
import { Value } from "typebox/value";
import { request } from "undici";
import type { Identity } from "../../http/core/api.ts";

export type NodeIdentity = { readonly network: Network; readonly identity: Identity };

const TIMEOUT_MS = 10_000;
const RETRY_MS = 2_000;
/** Largest preset of a network with its genesis block. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

const members = Type.Record(Type.String(), Type.Unknown());
const Preset = Type.Object({
  exceptions: members,
  genesisBlock: members,
  milestones: Type.Array(members),
  network: members,
});
const Configuration = Type.Object({
  core: Type.Object({ version: Type.String({ maxLength: 64 }) }),
  ports: Type.Record(Type.String(), Type.Integer()),
  transactionPool: Type.Object({
    dynamicFees: Type.Object({
      enabled: Type.Boolean(),
      minFeePool: Type.Optional(Type.Integer()),
      minFeeBroadcast: Type.Optional(Type.Integer()),
      addonBytes: Type.Optional(Type.Record(Type.String(), Type.Integer())),
    }),
  }),
});

/** Waits until one of the nodes responds. @throws {DOMException} AbortError if the signal ends the wait */
export async function waitForIdentity(
  urls: readonly string[],
  logger: Logger,
  signal: AbortSignal,
): Promise<NodeIdentity> {
  for (;;) {
    for (const url of urls) {
      try {
        return await readIdentity(url, signal);
      } catch (error) {
        signal.throwIfAborted();
        logger.warn(
          { node: url, reason: (error as Error).message },
          "waiting for a node: it does not respond",
        );
      }
    }
    await sleep(RETRY_MS, undefined, { signal });
  }
}

async function readIdentity(url: string, signal: AbortSignal): Promise<NodeIdentity> {
  const base = `${url.replace(/\/$/, "")}/api/v2/node/configuration`;
  const { genesisBlock, ...files } = await read(`${base}/crypto`, Preset, signal);
  const configuration = await read(base, Configuration, signal);
  return {
    network: createNetwork(networkFilesFromJson(files)),
    identity: {
      version: configuration.core.version,
      genesisBlock,
      feePolicy: toFeePolicy(configuration),
      ports: configuration.ports,
    },
  };
}

/** A node without dynamic fees does not name their values, and this server does not either. */
function toFeePolicy({ transactionPool }: Static<typeof Configuration>): Identity["feePolicy"] {
  const { enabled, minFeePool = 0, minFeeBroadcast = 0, addonBytes = {} } = transactionPool.dynamicFees;
  return { dynamic: enabled, minFeePool, minFeeBroadcast, addonBytes };
}

async function read<S extends Type.TSchema>(url: string, schema: S, signal: AbortSignal): Promise<Static<S>> {
  const { body, statusCode } = await request(url, {
    signal,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  let text = "";
  for await (const chunk of body.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_CHARACTERS) throw new Error(`${url}: the response is too long`);
  }
  if (statusCode !== 200) throw new Error(`${url}: HTTP status ${statusCode}`);
  const { data } = JSON.parse(text) as { readonly data?: unknown };
  const [problem] = Value.Errors(schema, data);
  if (problem) throw new Error(`${url}: ${problem.instancePath || "the response"} ${problem.message}`);
  return data as Static<S>;
}
