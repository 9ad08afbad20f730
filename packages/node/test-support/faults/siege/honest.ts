/** Honest users of the node: a receiver of its blocks, and a client that reads a little of everything. */
import { createDraws } from "../../random.ts";
import { deliveredChain, registerReceiver } from "../actors/block-receiver.ts";
import { type Behaviour, type Receiver, type ReceiverOptions, startReceiver } from "../actors/receiver.ts";
import type { Target } from "./node.ts";
import { ask, inTurn } from "./requests.ts";

type Registered = ReceiverOptions & { readonly behaviour?: Behaviour; readonly events?: string[] };

/** Starts a receiver, and registers it for the blocks of the node unless other events are given. */
export async function startRegistered(
  { host, httpPort }: Target,
  { events, behaviour = "well", ...options }: Registered = {},
): Promise<Receiver> {
  const receiver = await startReceiver(createDraws(1), options);
  await receiver.become(behaviour);
  await registerReceiver(`http://${host}:${httpPort}`, receiver, events);
  return receiver;
}

/** Returns the errors of the deliveries of blocks: gaps, wrong signatures, and deliveries that arrived twice. */
export function faultsOf({ arrivals }: Receiver): string[] {
  const counts = Map.groupBy(arrivals, ({ message }) => message.id);
  const repeated = [...counts].filter(([, { length }]) => length > 1);
  return [...deliveredChain(arrivals).faults, ...repeated.map(([id]) => `${id} was delivered twice`)];
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
export const RESPONSE_TIMEOUT_MS = 10_000;

/** Starts a client that sends requests at a constant rate, regardless of earlier responses. */
export function startClient(node: Target, { paths, network, addresses, intervalMs }: ClientOptions) {
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
