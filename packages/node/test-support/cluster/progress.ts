/**
 * Lag of the cluster: the age of what a part does not have yet, by the samples of what the part before it had. Clocks of other
 * machines do not matter.
 */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { createLastSequence } from "../../src/store/events/event-log.ts";
import type { Cluster } from "./cluster.ts";

/** `blocks`: the mirror is behind the node. `events`: a shard is not matched. `calls`: a delivery to a healthy receiver is pending. */
export type Lags = Readonly<Record<"blocks" | "events" | "calls" | "reads", number>>;

export const longestOf = (lags: Lags): number => Math.max(...Object.values(lags));

export type Progress = {
  /** Milliseconds that each part is behind. */
  lags(): Lags;
  stop(): Promise<void>;
};

export type ProgressDeps = {
  /** Webhooks whose receivers are healthy. */
  readonly healthy: readonly number[];
  /** Returns the lowest height that a reading client has received last; undefined before its first response. */
  readonly readHeight: () => number | undefined;
};

const EVERY_MS = 200;

/** Values over time: each sample is at least as large as the one before. */
type Series = { readonly atMs: number; readonly value: number }[];

type State = ProgressDeps & {
  readonly heights: Series;
  readonly sequences: Series;
  /** Numbers of deliveries. */
  readonly numbers: Series;
  height: number;
  matched: number;
  /** Number before the first pending delivery. */
  called: number;
};

export function watchProgress(cluster: Pick<Cluster, "database" | "data">, deps: ProgressDeps): Progress {
  const node = openDatabase(join(cluster.data, "node.sqlite"), { readonly: true });
  const state: State = {
    ...deps,
    ...{ heights: [], sequences: [], numbers: [] },
    ...{ height: 0, matched: 0, called: 0 },
  };
  const readNode = createNodeReader(node);
  const stopping = new AbortController();

  async function repeat(work: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      // The database may be down.
      await work().catch(() => {});
      await sleep(EVERY_MS);
    }
  }
  const running = Promise.all([
    repeat(async () => {
      const { height, sequence } = readNode();
      note(state.heights, height);
      note(state.sequences, sequence);
    }),
    repeat(() => readDatabase(cluster.database, state)),
  ]);
  return {
    lags: () => lagsOf(state),
    async stop() {
      stopping.abort();
      await running;
      node.close();
    },
  };
}

function createNodeReader(node: Database): () => { readonly height: number; readonly sequence: number } {
  const highest = node.prepare<{ height: number | null }>("SELECT max(height) AS height FROM blocks");
  const lastSequence = createLastSequence(node);
  return () => ({ height: highest.get()?.height ?? 0, sequence: lastSequence() });
}

type Row = { height: string; owner: string; matched: string; last: string; pending: string | null };

async function readDatabase({ postgres }: Cluster["database"], state: State): Promise<void> {
  const [row] = await postgres().query<Row>(
    `SELECT height, (SELECT owner FROM webhook_register) AS owner,
       (SELECT min(matched) FROM shards) AS matched,
       (SELECT coalesce(max(number), 0) FROM deliveries WHERE webhook = ANY ($1)) AS last,
       (SELECT min(number) FROM deliveries WHERE webhook = ANY ($1) AND state = 'pending') AS pending
     FROM head`,
    [state.healthy],
  );
  if (!row) return;
  note(state.numbers, Number(row.last));
  state.height = Number(row.height);
  // While the node owns the webhooks, they are not in this database.
  const isOwned = row.owner === "workers";
  state.matched = isOwned ? Number(row.matched) : Number.POSITIVE_INFINITY;
  state.called = isOwned && row.pending !== null ? Number(row.pending) - 1 : Number.POSITIVE_INFINITY;
}

function note(series: Series, value: number): void {
  const largest = series.at(-1)?.value ?? -1;
  if (value > largest) series.push({ atMs: performance.now(), value });
}

function lagsOf({ heights, sequences, numbers, height, matched, called, readHeight }: State): Lags {
  return {
    blocks: ageOf(heights, height),
    events: ageOf(sequences, matched),
    calls: ageOf(numbers, called),
    reads: ageOf(heights, readHeight() ?? Number.POSITIVE_INFINITY),
  };
}

/** Returns the time since a series exceeded a value; 0 if it has not. */
function ageOf(series: Series, value: number): number {
  const index = series.findLastIndex((sample) => sample.value <= value) + 1;
  const next = series[index];
  return next === undefined ? 0 : performance.now() - next.atMs;
}
