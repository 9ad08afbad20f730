/** Receiver with several kinds of misbehaviour. In each of them, it records every delivery that it read completely. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, EpochFence, NewWebhook } from "@uniknode/client";
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

/** A delivery with what its sender and the receiver did. */
export type Arrival = {
  readonly message: Message;
  readonly body: string;
  /** Value of the header. */
  readonly id: string | undefined;
  readonly isVerified: boolean;
  /** Start of the call by the clock of the sender, in seconds since 1970. */
  readonly sentSeconds: number;
  /** Epoch of the sender; undefined for a ping on request. */
  readonly epoch: number | undefined;
  /** The status of the response is 2xx. */
  readonly isAccepted: boolean;
};

const MAX_SILENCE_MS = 1_500;
const MAX_SLOW_MS = 400;
const REFUSALS = [301, 400, 404, 500, 502, 503];

const drop = ({ socket }: ServerResponse) => socket?.destroy();

const RESPONSES = {
  well: (response) => response.writeHead(204).end(),
  refusing: (response, random) =>
    response.writeHead(random.pick(REFUSALS), { location: "/elsewhere" }).end("no"),
  busy: (response, random) => response.writeHead(429, random.chance(0.5) ? { "retry-after": "1" } : {}).end(),
  silent: (response, random) => setTimeout(drop, random.below(MAX_SILENCE_MS), response).unref(),
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
  /** Closes the connection before it reads the delivery. */
  resetting: drop,
  /** Closes the connection after it has read the delivery. */
  forgetful: drop,
  /** Closes the connection within the response. */
  lying(response) {
    response.writeHead(200, { "content-length": "100" }).write("yes, but ");
    setImmediate(drop, response);
  },
  /** Does not listen. */
  away: drop,
  async slow(response, random) {
    await sleep(random.below(MAX_SLOW_MS));
    response.writeHead(204).end();
  },
  /** Permanently: the node suspends the webhook. */
  gone: (response) => response.writeHead(410).end(),
} satisfies Record<string, (response: ServerResponse, random: Random) => unknown>;

export type Behaviour = keyof typeof RESPONSES;

/** Behaviours with the status 2xx, some without the end of the response. */
const ACCEPTING: readonly Behaviour[] = ["well", "slow", "dripping", "endless", "lying"];

export const BEHAVIOURS = (Object.keys(RESPONSES) as Behaviour[]).filter(
  (behaviour) => behaviour !== "slow" && behaviour !== "gone",
);

export type ReceiverOptions = {
  /** Address at which nodes reach the receiver. Default: 127.0.0.1. */
  readonly host?: string;
  /** Refuses late calls of former owners of the webhook; absent: they are accepted. */
  readonly fence?: EpochFence;
  /** Called with each delivery; absent: it is added to the arrivals. */
  readonly onCall?: (call: Arrival) => void;
};

export class Receiver {
  readonly arrivals: Arrival[] = [];
  /** Tokens with which its deliveries may be signed. */
  readonly tokens = new Set<string>();
  /** Number of calls of former owners that a receiver with a fence has refused. */
  refused = 0;
  /** Only `become` changes it. */
  behaviour: Behaviour = "well";
  url = "";
  readonly #random: Random;
  readonly #options: ReceiverOptions;
  readonly #server = createServer((request, response) => {
    // A request that breaks off because the caller was killed is not a delivery.
    this.#take(request, response).catch(() => request.socket.destroy());
  });

  constructor(random: Random, options: ReceiverOptions = {}) {
    this.#random = random;
    this.#options = options;
  }

  static async start(random: Random, options?: ReceiverOptions): Promise<Receiver> {
    const receiver = new Receiver(random, options);
    await receiver.#listen(0);
    return receiver;
  }

  async #listen(port: number): Promise<void> {
    const { host = "127.0.0.1" } = this.#options;
    await once(this.#server.listen(port, host), "listening");
    this.url = `http://${host}:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Registers it for events, and returns the id of the webhook. */
  async register({ webhooks }: Client, fields: Omit<NewWebhook, "target">): Promise<number> {
    const { id, token } = (await webhooks.create({ ...fields, target: this.url })).data;
    this.tokens.add(token);
    return id;
  }

  async become(next: Behaviour): Promise<void> {
    if (next === "away") await this.close();
    else if (this.behaviour === "away") await this.#listen(Number(new URL(this.url).port));
    this.behaviour = next;
  }

  async close(): Promise<void> {
    if (this.behaviour === "away") return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { fence, onCall = (call) => void this.arrivals.push(call) } = this.#options;
    if (this.behaviour === "resetting") return void request.socket.destroy();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = this.#callOf(request, Buffer.concat(chunks).toString());
    const { epoch, message } = call;
    if (fence?.accepts({ ...message, ...(epoch !== undefined && { epoch }) }) === false) {
      this.refused++;
      response.writeHead(409).end();
      return;
    }
    onCall(call);
    await RESPONSES[this.behaviour](response, this.#random);
  }

  #callOf(request: IncomingMessage, body: string): Arrival {
    const { tokens, behaviour } = this;
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const numberOf = (name: string) => (headers[name] === undefined ? undefined : Number(headers[name]));
    const sentSeconds = numberOf("webhook-timestamp") ?? Number.NaN;
    const sequence = numberOf("webhook-sequence");
    const isSigned = (token: string) => isVerified(secretOf(token), { headers, body }, sentSeconds * 1_000);
    return {
      message: { ...(JSON.parse(body) as Message), ...(sequence !== undefined && { sequence }) },
      body,
      id: headers["webhook-id"],
      // Later: the first delivery may arrive before the response to the registration, which has the token.
      get isVerified() {
        return [...tokens].some(isSigned);
      },
      sentSeconds,
      epoch: numberOf("webhook-epoch"),
      isAccepted: ACCEPTING.includes(behaviour),
    };
  }
}
