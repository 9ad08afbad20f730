/** Synchronisation with the peers, from the head of this node to theirs (p2p.md 13 and 14). */
import type { BlockHeader, Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../../chain/chain.ts";
import { type Outcome, refusalOf } from "../../chain/outcome.ts";
import type { SyncProgress } from "../../gateway/figures.ts";
import type { Discovery } from "../discovery/discovery.ts";
import { download } from "../download/download.ts";
import type { Fetch, Source } from "../download/source.ts";
import { betterBranch, isWithinRollback, MAX_ROLLBACK } from "../forks/choose.ts";
import { fetchBranch } from "../forks/fetch.ts";
import { networkHeight } from "../table/network-height.ts";
import { type Peer, peersAhead } from "../table/peer.ts";
import type { PeerTable } from "../table/peer-table.ts";
import { sample } from "../table/sample.ts";
import { RATE_LIMITS, TIMES_MS } from "../wire/limits.ts";
import { createProgressMeter } from "./progress.ts";

export type SyncDeps = {
  readonly network: Network;
  readonly chain: Pick<Chain, "acceptFetched" | "discardUnchecked" | "head" | "switchTo" | "subscribe">;
  readonly peerTable: PeerTable;
  readonly pingAll: Discovery["pingAll"];
  readonly fetch: Fetch;
  readonly ban: (ip: string, reason: string) => void;
  /** Excludes a peer that did not send the blocks that it claims. */
  readonly suspend: (ip: string) => void;
  /** Ends the suspensions of a peer that sent blocks. */
  readonly reinstate: (ip: string) => void;
  /** A header of another branch; not verified. */
  readonly onForeignHeader: (header: BlockHeader) => void;
  /** One or more blocks were fetched, the last of which is the head. */
  readonly onFetched: (head: BlockHeader) => void;
  /** The node is in sync with the network. */
  readonly onSynced: () => void;
  readonly logger: Logger;
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

/** Peers of one download. */
const MAX_SOURCES = 10;
/** Number of slots without a new block after which a round starts ... */
const IDLE_SLOTS = 3;
/** ... earlier on networks whose blocks are faster than the rate limit of posts. */
const FAST_IDLE_SLOTS = 1.5;
/** Interval of rounds while peers have blocks that could not be fetched. */
const RETRY_MS = 1_000;
const MEASURE_INTERVAL_MS = 1_000;
const REPORT_INTERVAL_MS = 5_000;
/** This many missing blocks may be in transit: the node counts as in sync, only the forger waits for them. */
const NEAR_BLOCKS = 5;
/** Failed requests, without a single block, after which a peer is suspended. */
const MAX_UNANSWERED = 2;
/** Blocks of another branch above our height that are fetched before the switch. */
const BRANCH_LEAD = 10;

export function createSync(deps: SyncDeps): Sync {
  const { network, chain, peerTable, logger } = deps;
  const slotMs = network.milestoneAt(1).blocktime * 1000;
  const { events, windowMs } = RATE_LIMITS["p2p.peer.postBlock"];
  const idleMs = slotMs * (slotMs < windowMs / events ? FAST_IDLE_SLOTS : IDLE_SLOTS);
  const ending = new AbortController();
  let isStarted = false;
  let isSynced = false;
  let progress: SyncProgress | undefined;
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;
  let isRequested = false;
  let timer: NodeJS.Timeout | undefined;

  const unsubscribe = chain.subscribe(() => {
    if (timer) schedule(idleMs);
  });

  function schedule(delayMs: number): void {
    clearTimeout(timer);
    if (!ending.signal.aborted) timer = setTimeout(run, delayMs);
  }

  function run(): void {
    isRequested = true;
    if (isRunning || ending.signal.aborted) return;
    isRunning = true;
    clearTimeout(timer);
    timer = undefined;
    running = runRequested();
  }

  async function runRequested(): Promise<void> {
    while (isRequested && !ending.signal.aborted) {
      isRequested = false;
      try {
        await syncOnce();
      } catch (err) {
        logger.error({ err }, "synchronisation failed");
      }
    }
    // In the tick of the last check: a trigger starts a further round from here on.
    isRunning = false;
    schedule(isSynced ? idleMs : RETRY_MS);
  }

  /** One round: pings the peers, then fetches missing blocks or switches the branch. */
  async function syncOnce(): Promise<void> {
    await deps.pingAll({ isForced: true, withinMs: TIMES_MS.smallReply, signal: ending.signal });
    if (ending.signal.aborted) return;
    const peers = peerTable.all();
    const ahead = peersAhead(peers, chain.head().height);
    if (ahead.length > 0) await fetchFrom(ahead);
    else if (!(await switchBranch(peers))) markSynced();
  }

  function markSynced(): void {
    progress = undefined;
    if (isSynced) return;
    isSynced = true;
    logger.info({ height: chain.head().height, peers: peerTable.all().length }, "Blockchain 100% in sync");
    deps.onSynced();
  }

  async function fetchFrom(ahead: readonly Peer[]): Promise<void> {
    const after = chain.head().height;
    const sources = sample(ahead.map(sourceOf), MAX_SOURCES);
    // The median: a single peer with a false claim must not keep the download open.
    const to = networkHeight(sources.map(({ height }) => height));
    // A claim alone does not put the node out of sync: a few blocks must arrive first.
    const target = isSynced ? Math.min(to, after + NEAR_BLOCKS) : to;
    const meter = createProgressMeter();
    const measure = () => {
      progress = meter.measure(chain.head().height, to, performance.now());
    };
    measure();
    const measuring = setInterval(measure, MEASURE_INTERVAL_MS);
    const report = () => logger.info({ height: chain.head().height, ...progress }, "synchronising");
    const reporting = setInterval(report, REPORT_INTERVAL_MS);
    const providers = new Set<string>();
    const failures = new Map<string, number>();
    try {
      const result = await download({ after, to: target }, sources, {
        fetch: deps.fetch,
        async accept(blocks, { ip }) {
          const outcomes = await chain.acceptFetched(blocks, ending.signal);
          if (outcomes.some(({ answer }) => answer === "Accepted")) providers.add(ip);
          return outcomes;
        },
        onFailure({ ip }, error) {
          logger.debug({ ip, reason: (error as Error).message }, "failed to fetch blocks");
          failures.set(ip, (failures.get(ip) ?? 0) + 1);
        },
        signal: ending.signal,
      });
      if (ending.signal.aborted) return;
      if (result.kind === "done" && target < to) isSynced = false;
      if (result.kind === "refused") penalize(result.source, result.outcome, chain.head().height > after);
    } finally {
      clearInterval(measuring);
      clearInterval(reporting);
    }
    judgeClaims(providers, failures);
    if (chain.head().height > after) onHeadFetched();
  }

  /** Reinstates peers that sent blocks, and suspends peers that did not. */
  function judgeClaims(providers: ReadonlySet<string>, failures: ReadonlyMap<string, number>): void {
    for (const ip of providers) deps.reinstate(ip);
    if (ending.signal.aborted) return;
    for (const [ip, count] of failures) {
      if (providers.has(ip) || count < MAX_UNANSWERED) continue;
      logger.info({ ip }, "a peer does not send the blocks that it claims");
      deps.suspend(ip);
    }
  }

  function onHeadFetched(): void {
    deps.onFetched(chain.head());
    // Other nodes may have forged in the meantime.
    isRequested = true;
  }

  /** Bans or drops the source of a refused block. `hasMoved`: the head has changed since the start of the download. */
  function penalize({ ip }: Source, outcome: Outcome, hasMoved: boolean): void {
    // The same block may have been posted in the meantime.
    if (hasMoved && (outcome.answer === "Unchained" || outcome.answer === "Discarded")) return;
    logger.warn({ ip, reason: refusalOf(outcome) }, "downloaded block refused");
    if (isProvablyInvalid(outcome)) deps.ban(ip, "it sent a block that is invalid by itself");
    // Its chain is not as verified: it may become a peer again by another verification.
    else peerTable.remove(ip);
  }

  /** Switches from a wrong branch to the right one; false if no branch is better than ours. */
  async function switchBranch(peers: readonly Peer[]): Promise<boolean> {
    const { height } = chain.head();
    const branch = betterBranch(peers, height);
    if (!branch) return false;
    const { commonHeight } = branch;
    if (!isWithinRollback(branch, height)) {
      // Where signatures were not checked, a single peer could have made this chain.
      if (await chain.discardUnchecked()) return true;
      const found = { height, commonHeight, to: branch.height, peers: branch.peers.length };
      logger.error(
        { ...found, maxRollback: MAX_ROLLBACK },
        "most peers are on a branch beyond the maximum rollback: restart with an empty data folder, or from a snapshot",
      );
      return false;
    }
    isSynced = false;
    const sources = sample(branch.holders.map(sourceOf), MAX_SOURCES);
    // A few more than needed, since our own chain may grow in the meantime; the rest is fetched after the switch.
    const to = Math.min(branch.height, height + BRANCH_LEAD);
    const { blocks, providers, failing } = await fetchBranch({ after: commonHeight, to }, sources, {
      fetch: deps.fetch,
      signal: ending.signal,
    });
    for (const { ip } of failing) deps.suspend(ip);
    if (commonHeight + blocks.length <= chain.head().height || ending.signal.aborted) return true;
    logger.warn(
      { height, commonHeight, to: branch.height, peers: branch.peers.length },
      "switching from a wrong branch",
    );
    const outcomes = await chain.switchTo(commonHeight, blocks, deps.onForeignHeader);
    const last = outcomes.at(-1)!;
    if (last.answer === "Accepted") onHeadFetched();
    else penalize(providers[outcomes.length - 1]!, last, false);
    return true;
  }

  return {
    start() {
      isStarted = true;
      run();
    },
    trigger() {
      if (isStarted) run();
    },
    isSynced: () => isSynced,
    progress: () => (isSynced ? undefined : progress),
    async close() {
      ending.abort();
      clearTimeout(timer);
      unsubscribe();
      await running;
    },
  };
}

const sourceOf = ({ ip, status, verification }: Peer): Source => ({
  ip,
  height: verification.hisHeight,
  isUniknode: status.isUniknode,
});

/** Returns true if no honest node could have accepted the block, with any clock. */
const isProvablyInvalid = (outcome: Outcome): boolean =>
  outcome.answer === "Unreadable" ||
  (outcome.answer === "Rejected" &&
    outcome.reason === "verification-failed" &&
    !outcome.faults?.some(({ code }) => code === "timestamp"));
