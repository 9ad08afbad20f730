/**
 * Receiver with several kinds of misbehaviour. In each of them, it records every delivery that it read
 * completely.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { EpochFence } from "@uniknode/client";
import type { Random } from "../../random.ts";
import { isVerified, secretOf } from "../../webhooks/receiver.ts";

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

/** Responds to a delivery, or not. */
type Respond = (response: ServerResponse, random: Random) => unknown;

/** Longest wait of a caller. */
const MAX_SILENCE_MS = 1_500;
/** Longest time to a slow response. */
const MAX_SLOW_MS = 400;
const REFUSALS = [301, 400, 404, 500, 502, 503];

const drop = ({ socket }: ServerResponse) => socket?.destroy();

/** Behaviours with the status 2xx, some without the end of the response. */
const ACCEPTING = {
  well: (response) => response.writeHead(204).end(),
  async slow(response, random) {
    await sleep(random.below(MAX_SLOW_MS));
    response.writeHead(204).end();
  },
  async dripping(response) {
    response.writeHead(200);
    for (let byte = 0; byte < 5; byte++) {
      response.write(".");
      await sleep(20);
    }
    response.end();
  },
  endless(response) {
    response.writeHead(200);
    for (let count = 0; count < 50 && response.writable; count++) response.write("x".repeat(1_000));
  },
  /** Closes the connection within the response. */
  lying(response) {
    response.writeHead(200, { "content-length": "100" }).write("yes, but ");
    setImmediate(drop, response);
  },
} satisfies Record<string, Respond>;

const FAILING = {
  refusing: (response, random) =>
    response.writeHead(random.pick(REFUSALS), { location: "/elsewhere" }).end("no"),
  busy: (response, random) => response.writeHead(429, random.chance(0.5) ? { "retry-after": "1" } : {}).end(),
  silent: (response, random) => setTimeout(drop, random.below(MAX_SILENCE_MS), response).unref(),
  /** Closes the connection before it reads the delivery. */
  resetting: drop,
  /** Closes the connection after it has read the delivery. */
  forgetful: drop,
  /** Does not listen. */
  away: drop,
  /** Permanently: the node suspends the webhook. */
  gone: (response) => response.writeHead(410).end(),
} satisfies Record<string, Respond>;

const RESPONSES: Readonly<Record<Behaviour, Respond>> = { ...ACCEPTING, ...FAILING };

export type Behaviour = keyof typeof ACCEPTING | keyof typeof FAILING;

export const BEHAVIOURS: readonly Behaviour[] = [
  ...(["well", "refusing", "busy", "silent", "dripping"] as const),
  ...(["endless", "resetting", "forgetful", "lying", "away"] as const),
];

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

type State = {
  readonly tokens: Set<string>;
  readonly random: Random;
  readonly fence: EpochFence | undefined;
  readonly onCall: (call: ReceivedCall) => void;
  behaviour: Behaviour;
  refused: number;
};

export type ReceiverOptions = {
  /** Address at which nodes reach the receiver. Default: 127.0.0.1. */
  readonly host?: string;
  /** Refuses late calls of former owners of the webhook; absent: they are accepted. */
  readonly fence?: EpochFence;
  /** Called with each delivery; absent: it is added to the arrivals. */
  readonly onCall?: (call: ReceivedCall) => void;
};

export async function startReceiver(
  random: Random,
  { host = "127.0.0.1", fence, onCall }: ReceiverOptions = {},
) {
  /** Deliveries in the order of arrival. */
  const arrivals: ReceivedCall[] = [];
  const state: State = {
    ...{ tokens: new Set(), random, fence, onCall: onCall ?? ((call) => void arrivals.push(call)) },
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
    arrivals: arrivals as readonly ReceivedCall[],
    /** Number of calls of former owners that a receiver with a fence has refused. */
    refused: () => state.refused,
    /** Tokens with which its deliveries may be signed. */
    tokens: state.tokens,
    behaviour: () => state.behaviour,
    async become(next: Behaviour) {
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
  state.onCall(call);
  await RESPONSES[state.behaviour](response, state.random);
}

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
    isAccepted: behaviour in ACCEPTING,
  };
}

const sequenceOf = (header: string | undefined): Pick<Message, "sequence"> =>
  header === undefined ? {} : { sequence: Number(header) };
