/** Synchronisation with the peers, from the head of this node to theirs: when its rounds run (p2p.md 13). */
import type { Network } from "@uniknode/protocol";
import type { Chain } from "../../chain/chain.ts";
import type { SyncProgress } from "../../gateway/figures.ts";
import { RATE_LIMITS } from "../wire/limits.ts";
import { type CatchUpDeps, catchUp, type SyncState } from "./catch-up.ts";

export type SyncDeps = CatchUpDeps & {
  readonly network: Network;
  readonly chain: Pick<Chain, "subscribe">;
};

export type Sync = {
  /** Starts the synchronisation, after the first round of discovery. */
  start(): void;
  /** Starts a round, since there may be blocks to fetch. Without effect before the start. */
  trigger(): void;
  /** Returns true if the node was at the head of the network in its last round, and is not fetching. */
  isSynced(): boolean;
  /** Absent while in sync. */
  progress(): SyncProgress | undefined;
  /** Settles when the current round has ended. */
  close(): Promise<void>;
};

/** Number of slots without a new block after which a round starts ... */
const IDLE_SLOTS = 3;
/** ... earlier on networks whose blocks are faster than the rate limit of posts. */
const FAST_IDLE_SLOTS = 1.5;
/** Interval of rounds while peers have blocks that could not be fetched. */
const RETRY_MS = 1_000;

/** The rounds, one at a time, and the timer of the next one. */
type Rounds = SyncState & {
  readonly idleMs: number;
  isRunning: boolean;
  /** Settles with the current round. */
  running: Promise<void>;
  timer: NodeJS.Timeout | undefined;
};

export function createSync(deps: SyncDeps): Sync {
  const ending = new AbortController();
  const rounds: Rounds = {
    deps,
    signal: ending.signal,
    idleMs: idleMsOf(deps.network),
    isSynced: false,
    progress: undefined,
    isRequested: false,
    isRunning: false,
    running: Promise.resolve(),
    timer: undefined,
  };
  let isStarted = false;
  const unsubscribe = deps.chain.subscribe(() => {
    if (rounds.timer) schedule(rounds, rounds.idleMs);
  });
  return {
    start() {
      isStarted = true;
      run(rounds);
    },
    trigger() {
      if (isStarted) run(rounds);
    },
    isSynced: () => rounds.isSynced,
    progress: () => (rounds.isSynced ? undefined : rounds.progress),
    async close() {
      ending.abort();
      clearTimeout(rounds.timer);
      unsubscribe();
      await rounds.running;
    },
  };
}

function idleMsOf(network: Network): number {
  const slotMs = network.milestoneAt(1).blocktime * 1000;
  const { events, windowMs } = RATE_LIMITS["p2p.peer.postBlock"];
  return slotMs * (slotMs < windowMs / events ? FAST_IDLE_SLOTS : IDLE_SLOTS);
}

/** Starts a round, or requests another one after the current round. */
function run(rounds: Rounds): void {
  rounds.isRequested = true;
  if (rounds.isRunning || rounds.signal.aborted) return;
  rounds.isRunning = true;
  clearTimeout(rounds.timer);
  rounds.timer = undefined;
  rounds.running = runRequested(rounds);
}

async function runRequested(rounds: Rounds): Promise<void> {
  while (rounds.isRequested && !rounds.signal.aborted) {
    rounds.isRequested = false;
    try {
      await catchUp(rounds);
    } catch (err) {
      rounds.deps.logger.error({ err }, "failed to synchronise with the network; retrying");
    }
  }
  // In the tick of the last check: a trigger starts a further round from here on.
  rounds.isRunning = false;
  schedule(rounds, rounds.isSynced ? rounds.idleMs : RETRY_MS);
}

/** Replaces the timer of the next round. */
function schedule(rounds: Rounds, delayMs: number): void {
  clearTimeout(rounds.timer);
  if (!rounds.signal.aborted) rounds.timer = setTimeout(run, delayMs, rounds);
}
