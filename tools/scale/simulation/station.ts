/** A queue in front of some servers, each of which does one job at a time. */
import type { Agenda } from "./agenda.ts";

export type Station = {
  /** Adds a job, which occupies a server for some seconds. */
  enter(serviceSeconds: number, done?: () => void): void;
  /** Must be called at the end of the simulated time. */
  figures(): StationFigures;
};

export type StationFigures = {
  readonly servers: number;
  /** Seconds in which servers were busy, of all servers together. */
  readonly busySeconds: number;
  /** Waits of the jobs that have begun. */
  readonly waits: readonly number[];
  /** Jobs that still wait. */
  readonly waiting: number;
};

type Job = { readonly arrived: number; readonly service: number; readonly done: (() => void) | undefined };

export function createStation(servers: number, agenda: Agenda): Station {
  const queue: Job[] = [];
  const waits: number[] = [];
  const running = new Set<number>();
  let [first, busy] = [0, 0];
  // The start of each running job, by the number of its server.
  const free = Array.from({ length: servers }, (_, index) => index);
  const startedAt = new Float64Array(servers);

  function begin(): void {
    const job = queue[first];
    const server = free.pop();
    if (!job || server === undefined) {
      if (server !== undefined) free.push(server);
      return;
    }
    first++;
    if (first > 1_000 && first * 2 > queue.length) {
      queue.splice(0, first);
      first = 0;
    }
    waits.push(agenda.now() - job.arrived);
    running.add(server);
    startedAt[server] = agenda.now();
    agenda.after(job.service, () => {
      running.delete(server);
      free.push(server);
      busy += job.service;
      job.done?.();
      begin();
    });
  }

  return {
    enter(service, done) {
      queue.push({ arrived: agenda.now(), service, done });
      begin();
    },
    figures() {
      const unfinished = [...running].reduce(
        (sum, server) => sum + agenda.now() - (startedAt[server] ?? 0),
        0,
      );
      return { servers, busySeconds: busy + unfinished, waits, waiting: queue.length - first };
    },
  };
}
