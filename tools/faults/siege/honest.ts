/** Honest users of the node: receivers of webhooks, good ones and others, and a client that reads a little of everything. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { present } from "../../../packages/node/src/platform/present.ts";
import { ask, type Endpoint, inTurn } from "./requests.ts";

export type ReceiverKind = "good" | "failing" | "hanging" | "dripping";

/** The members of a delivery that receivers read. */
type Delivery = { readonly event: string; readonly height: number; readonly data: { readonly id: string } };

export type Receivers = Awaited<ReturnType<typeof startReceivers>>;

const DRIP_INTERVAL_MS = 1_000;

/**
 * Starts receivers that check what good webhooks get: each id once, and blocks in order, without a gap. A reverted block
 * is followed by another one of its height.
 */
export async function startReceivers() {
  const received = new Map<number, { readonly ids: Set<string>; height: number }>();
  const of = (number: number) => {
    const known = received.get(number) ?? { ids: new Set(), height: 0 };
    received.set(number, known);
    return known;
  };
  let faults: string[] = [];

  function take(number: number, body: string): void {
    const { event, height, data } = JSON.parse(body) as Delivery;
    const { id } = data;
    const webhook = of(number);
    if (event === "block.reverted") {
      webhook.height = height - 1;
      return;
    }
    if (webhook.ids.has(id)) faults.push(`webhook ${number}: ${id} was delivered twice`);
    webhook.ids.add(id);
    if (event !== "block.applied") return;
    if (webhook.height > 0 && height !== webhook.height + 1) {
      faults.push(`webhook ${number}: block ${height} was delivered after ${webhook.height}`);
    }
    webhook.height = height;
  }

  const server = createServer(async (request, response) => {
    const [, kind, number] = present(request.url).split("/");
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    if (kind === "good") take(Number(number), body);
    respond(kind as ReceiverKind, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    /** Returns the URL for the webhook with this number. */
    url: (kind: ReceiverKind, number: number) => `http://127.0.0.1:${port}/${kind}/${number}`,
    /** Ids of the blocks or transactions that a good webhook received. */
    received: (number: number): ReadonlySet<string> => of(number).ids,
    /** Returns the errors of the deliveries to good webhooks since the last call. */
    takeFaults() {
      const found = faults;
      faults = [];
      return found;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** A hanging one does not respond: the node closes the connection. */
function respond(kind: ReceiverKind, response: ServerResponse): void {
  if (kind === "good") response.writeHead(204).end();
  if (kind === "failing") response.writeHead(500).end();
  if (kind !== "dripping") return;
  response.writeHead(200);
  const timer = setInterval(() => response.write("."), DRIP_INTERVAL_MS);
  response.once("close", () => clearInterval(timer));
}

export type Sample = { readonly path: string; readonly status: number; readonly ms: number };

export type Client = ReturnType<typeof startClient>;

type ClientOptions = {
  readonly paths: readonly string[];
  /** Network 127.N.0.0/16 that the addresses are from, and how many. */
  readonly network: number;
  readonly addresses: number;
  readonly intervalMs: number;
};

/** A missing response within this time counts as a refusal. */
const RESPONSE_TIMEOUT_MS = 10_000;

/** Starts a client that sends requests at a constant rate, regardless of earlier responses. */
export function startClient(node: Endpoint, { paths, network, addresses, intervalMs }: ClientOptions) {
  let samples: Sample[] = [];
  const nextPath = inTurn(paths);
  const nextAddress = inTurn(
    Array.from({ length: addresses }, (_, index) => `127.${network}.0.${1 + index}`),
  );
  const timer = setInterval(async () => {
    const [path, from] = [nextPath(), nextAddress()];
    const startedMs = performance.now();
    const { status } = await ask(node, { path, from }, RESPONSE_TIMEOUT_MS);
    samples.push({ path, status, ms: performance.now() - startedMs });
  }, intervalMs);
  return {
    /** Returns the samples since the last call. */
    take() {
      const taken = samples;
      samples = [];
      return taken;
    },
    stop: () => clearInterval(timer),
  };
}
