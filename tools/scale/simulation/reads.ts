/**
 * Simulates requests in the busiest minute: they arrive at random, API servers get them in turn, and each server reads from one
 * replica.
 */
import type { Costs } from "../costs.ts";
import type { Plan } from "../model/plan.ts";
import { createAgenda } from "./agenda.ts";
import { createRandom } from "./random.ts";
import { type Stage, stageOf } from "./stage.ts";
import { createStation, type Station } from "./station.ts";

/** Least number of requests for each server, and the largest number of all. */
const REQUESTS_PER_SERVER = 200;
const MAX_REQUESTS = 1_000_000;
const US = 1e-6;

export function simulateReads(
  { demand, inputs, cores, counts }: Plan,
  costs: Costs,
  { seed, jobs }: { readonly seed: number; readonly jobs: number },
): Stage[] {
  const rate = demand.resources + demand.pages;
  if (rate === 0) return [];
  const requests = Math.min(MAX_REQUESTS, Math.max(jobs, REQUESTS_PER_SERVER * counts.servers));
  const seconds = requests / rate;
  const random = createRandom(seed);
  const agenda = createAgenda();
  const stations = (count: number, servers: number): Station[] =>
    Array.from({ length: count }, () => createStation(servers, agenda));
  const [servers, replicas] = [stations(counts.servers, 1), stations(counts.replicas, inputs.cores)];

  let count = 0;
  function arrive(): void {
    agenda.after(random.exponential(1 / rate), arrive);
    const isPage = random.next() < inputs.pageShare;
    const number = count++;
    const server = servers[number % servers.length];
    const replica = replicas[(number % servers.length) % replicas.length];
    const service = (us: number) => random.exponential(us * US);
    server?.enter(service(isPage ? costs.serverPageUs : costs.serverResourceUs), () =>
      replica?.enter(service(isPage ? costs.replicaPageUs : costs.replicaResourceUs)),
    );
  }
  agenda.after(random.exponential(1 / rate), arrive);
  agenda.runUntil(seconds);
  return [
    stageOf("API servers", servers, seconds, cores.servers / counts.servers),
    stageOf("replicas", replicas, seconds, cores.replicas / (counts.replicas * inputs.cores)),
  ];
}
