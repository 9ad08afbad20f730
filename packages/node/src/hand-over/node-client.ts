/** Both sides of a hand-over as its steps use them, and the node's side over HTTP (docs/spec/hand-over.md). */
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, type Dispatcher, request } from "undici";
import { REFUSAL_STEPS, refusalReason } from "../gateway/caller.ts";
import type { RemoteGateway } from "../gateway/gateway.ts";
import { parseExternal, type TextBounds } from "../platform/json/external.ts";
import { type Form, formOf } from "../platform/json/form.ts";
import { type Static, Type } from "../platform/json/schema.ts";
import { type LineBound, linesOf, readBounded } from "../platform/text/foreign.ts";
import {
  type HandOverHead,
  type HandOverLine,
  readLine,
  type TablePart,
} from "../webhooks/hand-over/lines.ts";
import type { PartOrder } from "../webhooks/hand-over/node-side.ts";
import { OWNER_STATES, type OwnerChange } from "../webhooks/hand-over/owner.ts";
import type { CopiedEvent, WorkersSide } from "../webhooks/hand-over/ports.ts";
import { HandOverFailure } from "./next-step.ts";

export type Sides = {
  readonly node: NodeClient;
  readonly gateway: Pick<RemoteGateway, "replaceRemoteNames">;
  readonly workers: WorkersSide;
  /** Prints a message about the progress. */
  readonly report: (text: string) => void;
  readonly signal: AbortSignal;
};

type NodeClientOptions = {
  /** Base URL of the node. */
  readonly url: string;
  readonly token: string;
  readonly signal: AbortSignal;
};

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Status = Type.Object({
  state: Type.Enum([...OWNER_STATES]),
  transfer: Type.Optional(Type.String({ maxLength: 64 })),
  isStopped: Type.Boolean(),
  matched: count,
  isEncrypted: Type.Boolean(),
});
type Status = Static<typeof Status>;
const STATUS = formOf(Type.Object({ data: Status }));
const BLOCKCHAIN = formOf(Type.Object({ data: Type.Object({ block: Type.Object({ height: count }) }) }));

const BOUNDS: TextBounds = { maxCharacters: 65_536, maxDepth: 8, maxValues: 1_000 };
const LINE_BOUND: LineBound = {
  maxCharacters: 128 * 1_048_576,
  tooLong: () => new HandOverFailure("HAND_OVER_NODE", "a line of the node is too long"),
};
const CONNECT_TIMEOUT_MS = 10_000;
/** The node ends these requests earlier, with a reason. */
const RESPONSE_TIMEOUT_MS = 30_000;
/** Time for which a request is repeated to a node that restarts, or has not completed a former step. */
const MAX_RETRY_MS = 60_000;
const RETRY_MS = 500;

const STEPS: Readonly<Record<number, string>> = {
  ...REFUSAL_STEPS,
  404: "start the node with --feed-blocks, without --webhooks off, and with the same version",
};

type Call = { readonly path: string; readonly body?: object };

const OWNER = "/api/internal/webhooks/owner";
const ROWS = "/api/internal/webhooks/rows";

export class NodeClient {
  readonly url: string;
  readonly #token: string;
  readonly #signal: AbortSignal;
  readonly #agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: RESPONSE_TIMEOUT_MS,
    bodyTimeout: RESPONSE_TIMEOUT_MS,
  });

  constructor({ url, token, signal }: NodeClientOptions) {
    this.url = url;
    this.#token = token;
    this.#signal = signal;
  }

  status(): Promise<Status> {
    return this.#status({ path: OWNER });
  }

  change(change: OwnerChange, copied?: CopiedEvent): Promise<Status> {
    return this.#status({ path: OWNER, body: { ...change, ...(copied && { copied }) } });
  }

  /** Yields the lines of all rows. */
  async *rows(transfer: string): AsyncIterable<HandOverLine> {
    const response = await this.#retrying({ path: `${ROWS}?${new URLSearchParams({ transfer })}` });
    try {
      for await (const line of linesOf(response.body as AsyncIterable<Buffer>, LINE_BOUND))
        yield readLine(line);
    } catch (cause) {
      // Errors of the connection have codes of the system.
      throw cause instanceof TypeError || "syscall" in Object(cause) ? unreachable(this.url, cause) : cause;
    }
  }

  async send(order: PartOrder, rows: TablePart | undefined): Promise<void> {
    const response = await this.#retrying({ path: ROWS, body: { ...order, ...(rows && { rows }) } });
    await response.body.dump();
  }

  finish(order: PartOrder, webhooks: HandOverHead, count: number): Promise<Status> {
    return this.#status({ path: `${ROWS}/end`, body: { ...order, webhooks, count } });
  }

  /** Returns the height of the node's chain. */
  async height(): Promise<number> {
    return (await this.#read({ path: "/api/v2/blockchain" }, BLOCKCHAIN)).data.block.height;
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #status(call: Call): Promise<Status> {
    return (await this.#read(call, STATUS)).data;
  }

  async #read<T>(call: Call, form: Form<T>): Promise<T> {
    const response = await this.#retrying(call);
    const text = await readBounded(response.body, BOUNDS.maxCharacters);
    return parseExternal(text, form, BOUNDS);
  }

  /** Repeats a request while the node cannot be reached, or has not completed a former step. */
  async #retrying(call: Call): Promise<Dispatcher.ResponseData> {
    const endMs = performance.now() + MAX_RETRY_MS;
    for (;;) {
      try {
        return await this.#send(call);
      } catch (error) {
        const isFinal = !(error instanceof HandOverFailure) || !error.isRetryable;
        if (isFinal || this.#signal.aborted || performance.now() > endMs) throw error;
      }
      await sleep(RETRY_MS, undefined, { signal: this.#signal });
    }
  }

  async #send({ path, body }: Call): Promise<Dispatcher.ResponseData> {
    const { url } = this;
    const signal = this.#signal;
    const response = await request(url.replace(/\/$/, "") + path, {
      dispatcher: this.#agent,
      signal,
      method: body ? "POST" : "GET",
      headers: { authorization: this.#token, ...(body && { "content-type": "application/json" }) },
      body: body ? JSON.stringify(body) : null,
    }).catch((cause) => {
      signal.throwIfAborted();
      throw unreachable(url, cause);
    });
    const { statusCode } = response;
    if (statusCode < 300) return response;
    throw new HandOverFailure(
      statusCode === 503 ? "HAND_OVER_NODE" : "HAND_OVER_REFUSED",
      refusalReason(url, statusCode, await response.body.text(), STEPS),
    );
  }
}

const unreachable = (url: string, cause: unknown): HandOverFailure =>
  new HandOverFailure(
    "HAND_OVER_NODE",
    `cannot reach ${url}: ${(cause as Error).message}; check --node, and run the command again`,
    { cause },
  );
