/**
 * A model of one webhook in strict order (webhooks.md 10, points 3 and 11): a chain, the queue of its deliveries, and a receiver. It states on
 * one page what a receiver gets, and is small enough to be explored completely.
 */

export const STEPS = ["forge", "again", "revert", "retry", "restart", "up", "down", "lost"] as const;
/**
 * The possible events: a block is forged, or the last reverted one is applied again; the head is reverted; the pause between two attempts passes; the
 * node restarts; from now on the receiver works, cannot be reached, or works while its responses are lost.
 */
export type Step = (typeof STEPS)[number];

/** A block in the chain. Each application is another fact, also of a block that is applied again. */
type Applied = { readonly application: number; readonly name: number };
type Block = Applied & { readonly fact: "waits for blocks" | "is queued" | "is delivered" };
/** Only the first delivery of the queue can have failed. */
type Delivery = Applied & { readonly isRetraction: boolean; readonly hasFailed: boolean };
export type Arrival = Applied & { readonly isRetraction: boolean };

export type Model = {
  readonly chain: readonly Block[];
  /** Name of the last reverted block, if it continues the chain. */
  readonly reverted: number | undefined;
  readonly queue: readonly Delivery[];
  readonly receiver: "up" | "down" | "lost";
  readonly applications: number;
  readonly names: number;
};

export const START: Model = {
  chain: [],
  reverted: undefined,
  queue: [],
  receiver: "up",
  applications: 0,
  names: 0,
};

const MAX_BLOCKS = 3;
const MAX_QUEUE = 4;

/** Returns whether a step is possible and can have an effect. */
export function isPossible({ chain, reverted, queue, receiver }: Model, step: Step): boolean {
  const hasRoom = queue.length < MAX_QUEUE;
  switch (step) {
    case "forge":
      return hasRoom && chain.length < MAX_BLOCKS;
    case "again":
      return hasRoom && reverted !== undefined;
    case "revert":
      return hasRoom && chain.length > 0;
    case "retry":
    case "restart":
      return queue.length > 0;
    default:
      return step !== receiver;
  }
}

/**
 * Returns what follows a step, and what arrives at the receiver.
 *
 * @param confirmations number of blocks that must follow a block before its fact is queued
 */
export function next(model: Model, step: Step, confirmations: number): [Model, readonly Arrival[]] {
  switch (step) {
    case "forge":
      return sendUnlessWaiting(apply({ ...model, names: model.names + 1 }, model.names + 1, confirmations));
    case "again":
      return sendUnlessWaiting(apply(model, model.reverted ?? 0, confirmations));
    case "revert":
      return sendUnlessWaiting(revert(model));
    case "retry":
      return send(model);
    case "restart":
      return [model, []];
    default:
      return [{ ...model, receiver: step }, []];
  }
}

function apply(model: Model, name: number, confirmations: number): Model {
  const application = model.applications + 1;
  const chain: Block[] = [...model.chain, { application, name, fact: "waits for blocks" }];
  const applied = { ...model, applications: application, reverted: undefined };
  const index = chain.length - 1 - confirmations;
  const block = chain[index];
  if (block?.fact !== "waits for blocks") return { ...applied, chain };
  return {
    ...applied,
    chain: chain.with(index, { ...block, fact: "is queued" }),
    queue: [...model.queue, deliveryOf(block, false)],
  };
}

function revert(model: Model): Model {
  const block = model.chain.at(-1);
  if (!block) return model;
  const reverted = { ...model, chain: model.chain.slice(0, -1), reverted: block.name };
  const queue = model.queue.filter((delivery) => !isGivenUp(delivery, reverted));
  return {
    ...reverted,
    queue: block.fact === "waits for blocks" ? queue : [...queue, deliveryOf(block, true)],
  };
}

/** A fact of a reverted block is sent once at most: after a failure its retraction follows, because the receiver may have got it. */
const isGivenUp = ({ application, isRetraction, hasFailed }: Delivery, { chain }: Model): boolean =>
  hasFailed && !isRetraction && chain.every((block) => block.application !== application);

const deliveryOf = ({ application, name }: Applied, isRetraction: boolean): Delivery => ({
  application,
  name,
  isRetraction,
  hasFailed: false,
});

const sendUnlessWaiting = (model: Model): [Model, readonly Arrival[]] =>
  model.queue[0]?.hasFailed ? [model, []] : send(model);

/** Sends deliveries in order until one fails that is tried again. */
function send(model: Model): [Model, readonly Arrival[]] {
  const [first, ...others] = model.queue;
  if (!first) return [model, []];
  const isDelivered = model.receiver === "up";
  const tried = { ...first, hasFailed: !isDelivered };
  const { application, name, isRetraction } = first;
  const arrivals = model.receiver === "down" ? [] : [{ application, name, isRetraction }];
  if (!isDelivered && !isGivenUp(tried, model)) return [{ ...model, queue: [tried, ...others] }, arrivals];
  const chain = model.chain.map((block) =>
    block.application === application ? { ...block, fact: "is delivered" as const } : block,
  );
  const [after, more] = send({ ...model, chain, queue: others });
  return [after, [...arrivals, ...more]];
}

/** Returns a text that is equal for models with the same future. */
function futureOf({ chain, reverted, queue, receiver }: Model): string {
  const numbers = new Map<number, number>();
  const numberOf = (application: number) => {
    const known = numbers.get(application) ?? numbers.size;
    numbers.set(application, known);
    return known;
  };
  const blocks = chain.map(({ application, fact }) => [numberOf(application), fact]);
  const deliveries = queue.map(({ application, isRetraction, hasFailed }) => [
    ...[numberOf(application), isRetraction, hasFailed],
  ]);
  return JSON.stringify([blocks, reverted !== undefined, deliveries, receiver]);
}

export type Explored = {
  readonly model: Model;
  readonly steps: readonly Step[];
  readonly arrivals: readonly Arrival[];
};

/** Returns a text that is equal for equal steps from models with the same future. */
const edgeOf = (model: Model, step: Step) => `${futureOf(model)} ${step}`;

const possibleSteps = (model: Model) => STEPS.filter((step) => isPossible(model, step));

/** Returns a shortest way to each distinct model, and each step from one of them to another. */
export function explore(confirmations: number, depth: number): { models: Explored[]; edges: Set<string> } {
  const start = { model: START, steps: [], arrivals: [] };
  const models: Explored[] = [start];
  const edges = new Set<string>();
  const known = new Set([futureOf(START)]);
  // The loop also visits what it adds.
  for (const { model, steps, arrivals } of models) {
    if (steps.length === depth) continue;
    for (const step of possibleSteps(model)) {
      edges.add(edgeOf(model, step));
      const [after, more] = next(model, step, confirmations);
      const future = futureOf(after);
      if (!known.has(future))
        models.push({ model: after, steps: [...steps, step], arrivals: [...arrivals, ...more] });
      known.add(future);
    }
  }
  return { models, edges };
}

/** Returns ways from the start that together have each explored step: one goes on while it can reach a further one. */
export function cover(confirmations: number, depth: number): Step[][] {
  const { edges: left } = explore(confirmations, depth);
  const ways: Step[][] = [];
  while (left.size > 0) {
    const way: Step[] = [];
    let model = START;
    for (let more = findLeft(model, left, confirmations); more; more = findLeft(model, left, confirmations)) {
      for (const step of more) {
        left.delete(edgeOf(model, step));
        [model] = next(model, step, confirmations);
      }
      way.push(...more);
    }
    ways.push(way);
  }
  return ways;
}

/** Returns a shortest way to, and with, a step that is left; undefined if there is none. */
function findLeft(from: Model, left: ReadonlySet<string>, confirmations: number): Step[] | undefined {
  const ways: { readonly model: Model; readonly steps: Step[] }[] = [{ model: from, steps: [] }];
  const known = new Set([futureOf(from)]);
  for (const { model, steps } of ways) {
    for (const step of possibleSteps(model)) {
      if (left.has(edgeOf(model, step))) return [...steps, step];
      const [after] = next(model, step, confirmations);
      const future = futureOf(after);
      if (!known.has(future)) ways.push({ model: after, steps: [...steps, step] });
      known.add(future);
    }
  }
  return undefined;
}
