/**
 * Simulates blocks at equal intervals: a mirror writes each block, then workers send its deliveries, and outcomes are recorded in
 * batches. Blocks and outcomes share the cores of the primary.
 */
import type { Costs } from "../costs.ts";
import { FIXED } from "../model/fixed.ts";
import type { Plan } from "../model/plan.ts";
import { type Agenda, createAgenda } from "./agenda.ts";
import { createRandom, type Random } from "./random.ts";
import { quantile, type Stage, stageOf } from "./stage.ts";
import { createStation, type Station } from "./station.ts";

export type Writes = {
  readonly stages: readonly Stage[];
  /** Time from a block to the recorded outcomes of its deliveries. */
  readonly deliveredP50Ms: number;
  readonly deliveredP99Ms: number;
  /** Calls that the simulation handles as one. */
  readonly grouped: number;
};

/** A block with more calls is simulated in groups of calls. */
const MAX_CALLS_PER_BLOCK = 20_000;
const [MIN_BLOCKS, MAX_BLOCKS] = [10, 200];
/** Outcomes that a worker records at once. */
const BATCH = 100;
const US = 1e-6;

type World = {
  readonly agenda: Agenda;
  readonly random: Random;
  readonly mirror: Station;
  readonly primary: Station;
  readonly workers: readonly Station[];
  /** Calls that run at the same time. */
  readonly calls: Station;
  readonly delivered: number[];
};

export function simulateWrites(
  plan: Plan,
  costs: Costs,
  { seed, jobs }: { readonly seed: number; readonly jobs: number },
): Writes {
  const { demand, inputs, cores, counts } = plan;
  const perBlock = inputs.deliveriesPerBlock * inputs.attempts;
  const grouped = Math.max(1, Math.ceil(perBlock / MAX_CALLS_PER_BLOCK));
  const blocks = Math.min(
    MAX_BLOCKS,
    Math.max(MIN_BLOCKS, Math.floor(jobs / Math.max(1, perBlock / grouped))),
  );
  const interval = 1 / demand.blocks;
  const seconds = blocks * interval;
  const workers = Math.min(counts.workers, FIXED.workers);
  const places = Math.max(1, Math.floor((inputs.webhooks + workers * FIXED.sharedCalls) / grouped));
  const agenda = createAgenda();
  const world: World = {
    ...{ agenda, random: createRandom(seed), delivered: [] },
    mirror: createStation(1, agenda),
    primary: createStation(inputs.cores, agenda),
    workers: Array.from({ length: workers }, () => createStation(1, agenda)),
    calls: createStation(places, agenda),
  };
  let open = 0;
  for (let block = 0; block < blocks; block++)
    agenda.after(block * interval, () => {
      open += perBlock / grouped;
      const calls = Math.floor(open);
      open -= calls;
      writeBlock(world, plan, costs, { calls, grouped });
    });
  agenda.runUntil(seconds);
  const delivered = Float64Array.from(world.delivered).sort();
  return {
    stages: [
      stageOf("mirror", [world.mirror], seconds, cores.mirror),
      stageOf("primary", [world.primary], seconds, cores.primary / inputs.cores),
      stageOf("delivery workers", world.workers, seconds, workers === 0 ? 0 : cores.workers / workers),
      stageOf(
        "concurrent calls",
        [world.calls],
        seconds,
        (demand.calls * inputs.receiverMs) / 1_000 / (places * grouped),
      ),
    ],
    deliveredP50Ms: 1_000 * quantile(delivered, 0.5),
    deliveredP99Ms: 1_000 * quantile(delivered, 0.99),
    grouped,
  };
}

type Calls = { readonly calls: number; readonly grouped: number };

function writeBlock(world: World, { inputs }: Plan, costs: Costs, { calls, grouped }: Calls): void {
  const { agenda, random, mirror, primary, workers, delivered } = world;
  const { transfersPerBlock, receiverMs } = inputs;
  const committed = agenda.now();
  const cost = (block: number, transfer: number) => US * (block + transfersPerBlock * transfer);
  const unrecorded = workers.map(() => 0);
  function record(worker: number, count: number): void {
    unrecorded[worker] = 0;
    const service = random.exponential(count * grouped * costs.primaryDeliveryUs * US);
    primary.enter(service, () => {
      for (let one = 0; one < count; one++) delivered.push(agenda.now() - committed);
    });
  }
  const left = workers.map((_, worker) => Math.ceil((calls - worker) / workers.length));
  function ended(worker: number): void {
    const waiting = (unrecorded[worker] ?? 0) + 1;
    unrecorded[worker] = waiting;
    left[worker] = (left[worker] ?? 0) - 1;
    if (waiting * grouped >= BATCH || left[worker] === 0) record(worker, waiting);
  }
  function send(number: number): void {
    const worker = number % workers.length;
    workers[worker]?.enter(random.exponential(grouped * costs.workerDeliveryUs * US), () =>
      world.calls.enter(receiverMs / 1_000, () => ended(worker)),
    );
  }
  mirror.enter(cost(costs.mirrorBlockUs, costs.mirrorTransferUs), () =>
    primary.enter(cost(costs.primaryBlockUs, costs.primaryTransferUs), () => {
      for (let number = 0; number < calls; number++) send(number);
    }),
  );
}
