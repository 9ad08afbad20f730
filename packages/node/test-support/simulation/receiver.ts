/**
 * Receiver with several kinds of misbehaviour. In each of them, it records every delivery that it read
 * completely.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isVerified, secretOf } from "../webhooks/receiver.ts";
import type { Random } from "./random.ts";

export type Message = {
  readonly event: string;
  readonly id: string;
  readonly webhookId: number;
  readonly sequence?: number;
  readonly height?: number;
  readonly blockId?: string;
  readonly reverts?: string;
  readonly data?: unknown;
};

export type Arrival = {
  readonly message: Message;
  /** Exact text of the body. */
  readonly body: string;
  /** Value of the header. */
  readonly id: string | undefined;
  readonly isVerified: boolean;
};

/**
 * `well` responds with 2xx. The others: refuse, respond 503 with `Retry-After`, do not respond, respond byte
 * by byte, never end the response, close the connection before or after handling the delivery, close it
 * within the response, be down.
 */
export const BEHAVIOURS = [
  "well",
  "refusing",
  "busy",
  "silent",
  "dripping",
  "endless",
  "resetting",
  "forgetful",
  "lying",
  "away",
] as const;
/** Responds 410, permanently. */
export type Behaviour = (typeof BEHAVIOURS)[number] | "gone";

export type Receiver = {
  readonly url: string;
  /** Deliveries in the order of arrival. */
  readonly arrivals: readonly Arrival[];
  /** Tokens with which its deliveries may be signed. */
  readonly tokens: Set<string>;
  behaviour(): Behaviour;
  become(behaviour: Behaviour): Promise<void>;
  close(): Promise<void>;
};

/** Longest wait of a caller. */
const MAX_SILENCE_MS = 1_500;
const REFUSALS = [301, 400, 404, 500, 502, 503];

type State = {
  readonly arrivals: Arrival[];
  readonly tokens: Set<string>;
  readonly random: Random;
  behaviour: Behaviour;
};

export async function startReceiver(random: Random): Promise<Receiver> {
  const state: State = { arrivals: [], tokens: new Set(), random, behaviour: "well" };
  const server = createServer((request, response) => {
    // A request that breaks off because the caller was killed is not a delivery.
    take(state, request, response).catch(() => request.socket.destroy());
  });
  const port = await listen(server, 0);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    arrivals: state.arrivals,
    tokens: state.tokens,
    behaviour: () => state.behaviour,
    async become(next) {
      if (state.behaviour !== "away" && next === "away") await shut(server);
      if (state.behaviour === "away" && next !== "away") await listen(server, port);
      state.behaviour = next;
    },
    close: async () => {
      if (state.behaviour !== "away") await shut(server);
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function shut(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

async function take(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (state.behaviour === "resetting") return void request.socket.destroy();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  remember(state, request, Buffer.concat(chunks).toString());
  await respond(state, response);
}

function remember({ arrivals, tokens }: State, request: IncomingMessage, body: string): void {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const sentMs = Number(headers["webhook-timestamp"]) * 1_000;
  arrivals.push({
    message: JSON.parse(body) as Message,
    body,
    id: headers["webhook-id"],
    isVerified: [...tokens].some((token) => isVerified(secretOf(token), { headers, body }, sentMs)),
  });
}

async function respond({ behaviour, random }: State, response: ServerResponse): Promise<void> {
  const socket = response.socket;
  switch (behaviour) {
    case "refusing":
      response.writeHead(random.pick(REFUSALS), { location: "/elsewhere" }).end("no");
      return;
    case "busy":
      response.writeHead(429, random.chance(0.5) ? { "retry-after": "1" } : {}).end();
      return;
    case "gone":
      response.writeHead(410).end();
      return;
    case "silent":
      setTimeout(() => socket?.destroy(), random.below(MAX_SILENCE_MS)).unref();
      return;
    case "dripping":
      response.writeHead(200);
      for (let byte = 0; byte < 5; byte++) {
        response.write(".");
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      response.end();
      return;
    case "endless":
      response.writeHead(200);
      for (let count = 0; count < 50 && response.writable; count++) response.write("x".repeat(1_000));
      return;
    case "forgetful":
      socket?.destroy();
      return;
    case "lying":
      response.writeHead(200, { "content-length": "100" }).write("yes, but ");
      setImmediate(() => socket?.destroy());
      return;
    default:
      response.writeHead(204).end();
  }
}
