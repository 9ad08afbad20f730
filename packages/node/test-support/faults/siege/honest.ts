/** Honest users of the node: a receiver of its blocks, and a client that reads a little of everything. */
import { createDraws } from "../../random.ts";
import { clientOf } from "../actors/dev-chain.ts";
import { type Behaviour, Receiver, type ReceiverOptions } from "../actors/receiver.ts";
import { DeliveredChain, strictWebhook } from "../checks/delivered-chain.ts";
import type { Target } from "./node.ts";
import { ask, inTurn } from "./requests.ts";

type Registered = ReceiverOptions & { readonly behaviour?: Behaviour; readonly events?: string[] };

/** Starts a receiver, and registers it for the blocks of the node unless other events are given. */
export async function startRegistered(
  { host, httpPort }: Target,
  { events, behaviour = "well", ...options }: Registered = {},
): Promise<Receiver> {
  const receiver = await Receiver.start(createDraws(1), options);
  await receiver.become(behaviour);
  await receiver.register(clientOf(`http://${host}:${httpPort}`), strictWebhook(events));
  return receiver;
}

/** Returns the errors of the deliveries of blocks: gaps, wrong signatures, and deliveries that arrived twice. */
export function faultsOf({ arrivals }: Receiver): string[] {
  const counts = Map.groupBy(arrivals, ({ message }) => message.id);
  const repeated = [...counts].filter(([, { length }]) => length > 1);
  return [...new DeliveredChain(arrivals).faults, ...repeated.map(([id]) => `${id} was delivered twice`)];
}

export type Sample = { readonly path: string; readonly status: number; readonly ms: number };

type ClientOptions = {
  readonly paths: readonly string[];
  /** Network 127.N.0.0/16 that the addresses are from, and how many. */
  readonly network: number;
  readonly addresses: number;
  readonly intervalMs: number;
};

/** A missing response within this time counts as a refusal. */
export const RESPONSE_TIMEOUT_MS = 10_000;

/** Sends requests at a constant rate, regardless of earlier responses, until it is stopped. */
export class HonestClient {
  #samples: Sample[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(node: Target, { paths, network, addresses, intervalMs }: ClientOptions) {
    const nextPath = inTurn(paths);
    const hosts = Array.from({ length: addresses }, (_, index) => `127.${network}.0.${1 + index}`);
    const nextAddress = inTurn(hosts);
    this.#timer = setInterval(async () => {
      const [path, from] = [nextPath(), nextAddress()];
      const startedMs = performance.now();
      const { status } = await ask(node, { path, from }, RESPONSE_TIMEOUT_MS);
      this.#samples.push({ path, status, ms: performance.now() - startedMs });
    }, intervalMs);
  }

  /** Returns the samples since the last call. */
  take(): Sample[] {
    return this.#samples.splice(0);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
