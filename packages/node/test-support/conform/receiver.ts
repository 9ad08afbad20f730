/** A receiver whose parts tests replace with wrong ones. Its disk survives a restart, its memory does not. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Delivery } from "@uniknode/client";
import { freePort } from "../peers/world.ts";

export type Headers = Readonly<Record<string, string | undefined>>;

type Fact = {
  readonly id: string;
  readonly event: string;
  readonly height?: number;
  readonly blockId?: string;
};

/** The values that a receiver stores. */
export type Stores = {
  facts: Fact[];
  /** Ids of the facts that were applied. */
  readonly known: Set<string>;
  readonly retracted: Set<string>;
  /** Values of wrong parts. */
  readonly notes: Map<unknown, number>;
};

/** One request, with both kinds of storage. */
export type Received = {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly disk: Stores;
  readonly memory: Stores;
};

export type Parts = {
  /** Called with the headers of a request; a status ends the request. */
  begin(received: Omit<Received, "body">): number | undefined;
  readHeaders(request: IncomingMessage): Headers;
  readBody(request: IncomingMessage): Promise<Buffer>;
  isGenuine(received: Received): boolean;
  /** Returns the status of a refusal, or undefined. `"never"` never responds. */
  refuse(delivery: Delivery, received: Received): number | "never" | undefined;
  handle(delivery: Delivery, received: Received): void | Promise<void>;
  /** Stores with the facts of the view. */
  view(disk: Stores, memory: Stores): Stores;
};

export const TOKEN = "ab".repeat(32);
const KEY = Buffer.from(TOKEN, "hex");
const TOLERANCE_SECONDS = 300;

export const isInTime = ({ headers }: Received): boolean =>
  Math.abs(Date.now() / 1_000 - Number(headers["webhook-timestamp"])) <= TOLERANCE_SECONDS;

export const signaturesOf = ({ headers }: Received): string[] =>
  (headers["webhook-signature"] ?? "").split(" ");

/** Compares one signature with that of the message. */
export function isSignature(given: string | undefined, id: string | undefined, received: Received): boolean {
  const { headers, body } = received;
  const signed = Buffer.concat([Buffer.from(`${id}.${headers["webhook-timestamp"]}.`), body]);
  const expected = Buffer.from(`v1,${createHmac("sha256", KEY).update(signed).digest("base64")}`);
  const bytes = Buffer.from(given ?? "");
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

export const isSigned = (received: Received): boolean =>
  signaturesOf(received).some((given) => isSignature(given, received.headers["webhook-id"], received));

export function apply({ id, event, height, blockId }: Delivery, stores: Stores): void {
  stores.known.add(id);
  stores.facts.push({
    id,
    event,
    ...(height !== undefined && { height }),
    ...(blockId !== undefined && { blockId }),
  });
}

export function cancel(id: string, stores: Stores): void {
  stores.retracted.add(id);
  stores.facts = stores.facts.filter((fact) => fact.id !== id);
}

/** A receiver that passes every scenario. */
export const SOUND: Parts = {
  begin: () => undefined,
  readHeaders: ({ headers }) => headers as Headers,
  readBody: buffer,
  isGenuine: (received) => isInTime(received) && isSigned(received),
  refuse: () => undefined,
  handle(delivery, { disk }) {
    if (delivery.reverts !== undefined) cancel(delivery.reverts, disk);
    else if (!disk.known.has(delivery.id) && !disk.retracted.has(delivery.id)) apply(delivery, disk);
  },
  view: (disk) => disk,
};

const emptyStores = (): Stores => ({ facts: [], known: new Set(), retracted: new Set(), notes: new Map() });

export type Receiver = {
  readonly url: string;
  restart(): Promise<void>;
  close(): Promise<void>;
};

export async function startReceiver(parts: Parts): Promise<Receiver> {
  const disk = emptyStores();
  let memory = emptyStores();
  // No other program gets it during a restart.
  const port = await freePort();
  let server = await listen(parts, disk, memory, port);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    async restart() {
      await stop(server);
      memory = emptyStores();
      server = await listen(parts, disk, memory, port);
    },
    close: () => stop(server),
  };
}

async function listen(parts: Parts, disk: Stores, memory: Stores, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    receive(parts, { request, response, disk, memory }).catch(() => response.destroy());
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function stop(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly disk: Stores;
  readonly memory: Stores;
};

async function receive(parts: Parts, { request, response, disk, memory }: Exchange): Promise<void> {
  if (request.method === "GET") {
    response.end(JSON.stringify({ facts: parts.view(disk, memory).facts }));
    return;
  }
  const begun = { request, socket: request.socket, headers: parts.readHeaders(request), disk, memory };
  const end = (status: number) => void response.writeHead(status, { "content-length": 0 }).end();
  const early = parts.begin(begun);
  if (early !== undefined) return end(early);
  const received = { ...begun, body: await parts.readBody(request) };
  if (!parts.isGenuine(received)) return end(401);
  const delivery = JSON.parse(received.body.toString()) as Delivery;
  const refusal = parts.refuse(delivery, received);
  if (refusal === "never") return;
  if (refusal !== undefined) return end(refusal);
  await parts.handle(delivery, received);
  end(204);
}
