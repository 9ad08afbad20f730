/**
 * Receiver with several kinds of misbehaviour. In each of them, it records every delivery that it read
 * completely.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { EpochFence } from "@uniknode/client";
import { isVerified, secretOf } from "../../webhooks/receiver.ts";
import type { Random } from "./random.ts";

/** The body of a delivery, and its sequence. */
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

/** An arrival with what delivery workers and the receiver did. */
export type ReceivedCall = Arrival & {
  /** Start of the call by the clock of the sender, in seconds since 1970. */
  readonly sentSeconds: number;
  /** Epoch of the sender; undefined for a ping on request. */
  readonly epoch: number | undefined;
  /** The status of the response is 2xx. */
  readonly isAccepted: boolean;
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
/** `gone` responds 410, permanently; `slow` responds with 2xx, after some time. */
export type Behaviour = (typeof BEHAVIOURS)[number] | "gone" | "slow";

export type Receiver = {
  readonly url: string;
  /** Deliveries in the order of arrival. */
  readonly arrivals: readonly ReceivedCall[];
  /** Number of calls of former owners that a receiver with a fence has refused. */
  refused(): number;
  /** Tokens with which its deliveries may be signed. */
  readonly tokens: Set<string>;
  behaviour(): Behaviour;
  become(behaviour: Behaviour): Promise<void>;
  close(): Promise<void>;
};

/** Longest wait of a caller. */
const MAX_SILENCE_MS = 1_500;
const REFUSALS = [301, 400, 404, 500, 502, 503];

/** Longest time to a slow response. */
const MAX_SLOW_MS = 400;

type State = {
  readonly arrivals: ReceivedCall[];
  readonly tokens: Set<string>;
  readonly random: Random;
  readonly fence: EpochFence | undefined;
  behaviour: Behaviour;
  refused: number;
};

export type ReceiverOptions = {
  /** Address at which nodes reach the receiver. Default: 127.0.0.1. */
  readonly host?: string;
  /** Refuses late calls of former owners of the webhook; absent: they are accepted. */
  readonly fence?: EpochFence;
};

export async function startReceiver(
  random: Random,
  { host = "127.0.0.1", fence }: ReceiverOptions = {},
): Promise<Receiver> {
  const state: State = {
    ...{ arrivals: [], tokens: new Set(), random, fence },
    behaviour: "well",
    refused: 0,
  };
  const server = createServer((request, response) => {
    // A request that breaks off because the caller was killed is not a delivery.
    take(state, request, response).catch(() => request.socket.destroy());
  });
  const port = await listen(server, host, 0);
  return {
    url: `http://${host}:${port}/hook`,
    arrivals: state.arrivals,
    refused: () => state.refused,
    tokens: state.tokens,
    behaviour: () => state.behaviour,
    async become(next) {
      if (state.behaviour !== "away" && next === "away") await shut(server);
      if (state.behaviour === "away" && next !== "away") await listen(server, host, port);
      state.behaviour = next;
    },
    close: async () => {
      if (state.behaviour !== "away") await shut(server);
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
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
  const call = toCall(state, request, Buffer.concat(chunks).toString());
  const { epoch, message } = call;
  if (state.fence?.accepts({ ...message, ...(epoch !== undefined && { epoch }) }) === false) {
    state.refused++;
    response.writeHead(409).end();
    return;
  }
  state.arrivals.push(call);
  await respond(state, response);
}

/** Behaviours with the status 2xx, some without the end of the response. */
const ACCEPTING: ReadonlySet<Behaviour> = new Set(["well", "slow", "dripping", "endless", "lying"]);

function toCall({ tokens, behaviour }: State, request: IncomingMessage, body: string): ReceivedCall {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const sentSeconds = Number(headers["webhook-timestamp"]);
  const isSigned = (token: string) => isVerified(secretOf(token), { headers, body }, sentSeconds * 1_000);
  return {
    message: { ...(JSON.parse(body) as Message), ...sequenceOf(headers["webhook-sequence"]) },
    body,
    id: headers["webhook-id"],
    // Later: the first delivery may arrive before the response to the registration, which has the token.
    get isVerified() {
      return [...tokens].some(isSigned);
    },
    sentSeconds,
    epoch: headers["webhook-epoch"] === undefined ? undefined : Number(headers["webhook-epoch"]),
    isAccepted: ACCEPTING.has(behaviour),
  };
}

const sequenceOf = (header: string | undefined): Pick<Message, "sequence"> =>
  header === undefined ? {} : { sequence: Number(header) };

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
    case "slow":
      await sleep(random.below(MAX_SLOW_MS));
      response.writeHead(204).end();
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
