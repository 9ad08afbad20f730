/**
 * Requests of scenarios: signed and sent as the node does, or with bodies that arrive in pieces, together with others, or not to
 * the end.
 */
import { once } from "node:events";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { setImmediate as nextTick, setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_POST_OPTIONS, HttpPost } from "../webhooks/delivery/post.ts";
import type { DeliveryMessage } from "../webhooks/model/deliveries.ts";
import { bodyOf, Signer } from "../webhooks/model/message.ts";
import type { Secrets } from "../webhooks/model/webhook.ts";

export type RequestOptions = {
  readonly target: string;
  /** Timeout of one request with its response. */
  readonly timeoutMs: number;
  /** Pause between the pieces of a request. */
  readonly pieceMs: number;
  /** Token that the receiver verifies with. */
  readonly token: string;
};

/** A signed request. */
export type Parts = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

/** Properties of one attempt. */
export type How = {
  readonly epoch?: number;
  /** Age of the signature; negative: signed in the future. */
  readonly ageMs?: number;
  /** JSON text of the member `proof`; absent: the body has none. */
  readonly proofText?: string;
  /** Secrets that sign; absent: the secret of the receiver. */
  readonly secrets?: Secrets;
  /** Changes the request after it was signed. */
  readonly alter?: (parts: Parts) => Parts;
};

const signer = new Signer();

/** Sends the requests of one scenario. Its connections are reused as those of the node. */
export class Requests {
  readonly #options: RequestOptions;
  readonly #signal: AbortSignal;
  #sender: HttpPost;

  constructor(options: RequestOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#sender = openSender(options);
  }

  /**
   * Sends a message as the node does. Resolves to the status.
   *
   * @throws {Error} if there is no response
   */
  async send(message: DeliveryMessage, how: How): Promise<number> {
    const { id, webhook } = message;
    const { target } = this.#options;
    const parts = this.#partsOf(message, how);
    const response = await this.#sender.post(
      { id, webhook, target, isStrict: false, ...parts },
      this.#signal,
    );
    return response.status ?? 0;
  }

  /**
   * Sends a body in pieces, with a pause after each. Resolves to the status.
   *
   * @throws {Error} if there is no response
   */
  async sendPieces(message: DeliveryMessage, split: (body: Buffer) => readonly Buffer[]): Promise<number> {
    const { request, body } = this.#open(message);
    const responded = responseTo(request);
    for (const piece of split(body)) {
      request.write(piece);
      await pause(this.#options.pieceMs);
    }
    request.end();
    return responded;
  }

  /**
   * Sends copies of a message that are complete at the same time. Resolves to their statuses.
   *
   * @throws {Error} if there is no response to one of them
   */
  async sendCopies(message: DeliveryMessage, copies: number): Promise<readonly number[]> {
    const opened = Array.from({ length: copies }, () => this.#open(message));
    const responses = Promise.all(opened.map(({ request }) => responseTo(request)));
    responses.catch(() => {});
    for (const { request, body } of opened) request.write(halves(body)[0]);
    await pause(this.#options.pieceMs);
    for (const { request, body } of opened) request.end(halves(body)[1]);
    return responses;
  }

  /** Sends half of a body, and closes the connection. */
  async sendHalf(message: DeliveryMessage): Promise<void> {
    const { request, body } = this.#open(message);
    const closed = new Promise((resolve) => request.on("close", resolve));
    // The connection is closed on purpose, and the receiver may close it first.
    request.on("error", () => {});
    request.write(halves(body)[0]);
    await pause(this.#options.pieceMs);
    request.destroy();
    await closed;
  }

  /** Closes the connections, which end with the process of the receiver. */
  async reconnect(): Promise<void> {
    await this.#sender.close();
    this.#sender = openSender(this.#options);
  }

  close(): Promise<void> {
    return this.#sender.close();
  }

  /** Begins a request on a connection of its own. */
  #open(message: DeliveryMessage): { readonly request: ClientRequest; readonly body: Buffer } {
    const { target, timeoutMs } = this.#options;
    const { headers, body: text } = this.#partsOf(message);
    const body = Buffer.from(text);
    const start = target.startsWith("https:") ? httpsRequest : httpRequest;
    const request = start(target, {
      method: "POST",
      headers: { ...headers, "content-length": body.length },
      agent: false,
      signal: AbortSignal.any([this.#signal, AbortSignal.timeout(timeoutMs)]),
    });
    return { request, body };
  }

  #partsOf(message: DeliveryMessage, how: How = {}): Parts {
    return signedParts(message, { secrets: { token: this.#options.token }, ...how });
  }
}

const openSender = ({ timeoutMs }: RequestOptions) =>
  new HttpPost({ ...DEFAULT_POST_OPTIONS, allowPrivateTargets: true, timeoutMs });

function signedParts(
  message: DeliveryMessage,
  { epoch, ageMs = 0, proofText, secrets, alter }: How & { readonly secrets: Secrets },
): Parts {
  const body = bodyOf(message, proofText);
  const { id, sequence } = message;
  const parts = {
    headers: signer.headersOf({ id, body, secrets, sequence, epoch }, Date.now() - ageMs),
    body,
  };
  return alter ? alter(parts) : parts;
}

/** Ticks in which a receiver in the same process reads the piece, also after the process was suspended. */
const TICKS = 5;

async function pause(timeMs: number): Promise<void> {
  await sleep(timeMs);
  for (let tick = 0; tick < TICKS; tick++) await nextTick();
}

function halves(body: Buffer): [Buffer, Buffer] {
  const middle = Math.floor(body.length / 2);
  return [body.subarray(0, middle), body.subarray(middle)];
}

/** Resolves to the status; a response can arrive before the request is complete. */
function responseTo(request: ClientRequest): Promise<number> {
  const status = (once(request, "response") as Promise<[IncomingMessage]>).then(([response]) => {
    // The status counts, not the end of the body.
    response.on("error", () => {}).resume();
    return response.statusCode ?? 0;
  });
  // It is awaited after the last piece.
  status.catch(() => {});
  // A receiver that responds early can close the connection before the last piece.
  request.on("error", () => {});
  return status;
}
