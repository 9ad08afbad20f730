/** Following the network: from wherever this node stands to the head that its peers have (p2p.md 13 and 14). */
import { type BlockHeader, decodeHeader, type Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../../chain/chain.ts";
import { type Outcome, refusalOf } from "../../chain/outcome.ts";
import type { SyncProgress } from "../../gateway/figures.ts";
import type { Discovery } from "../discovery/discovery.ts";
import { betterBranch, isWithinRollback, MAX_ROLLBACK } from "../forks/choose.ts";
import { fetchBranch } from "../forks/fetch.ts";
import { networkHeight } from "../table/network-height.ts";
import { type Peer, peersAhead } from "../table/peer.ts";
import type { PeerTable } from "../table/peer-table.ts";
import { sample } from "../table/sample.ts";
import { RATE_LIMITS, TIMES_MS } from "../wire/limits.ts";
import { download } from "./download.ts";
import { createProgressMeter } from "./progress.ts";
import type { Fetch, Source } from "./source.ts";

export type SyncDeps = {
  readonly network: Network;
  readonly chain: Pick<Chain, "accept" | "head" | "switchTo" | "subscribe">;
  readonly peerTable: PeerTable;
  readonly pingAll: Discovery["pingAll"];
  readonly fetch: Fetch;
  readonly ban: (ip: string, reason: string) => void;
  /** A peer did not give the blocks that it claims to have, or gave some of them. */
  readonly suspend: (ip: string) => void;
  readonly reinstate: (ip: string) => void;
  /** A header of another branch than ours, which nobody has verified. */
  readonly onForeignHeader: (header: BlockHeader) => void;
  /** The head is one that was fetched, of one or more blocks. */
  readonly onFetched: (head: BlockHeader) => void;
  /** The node has come in step with the network. */
  readonly onSynced: () => void;
  readonly logger: Logger;
};

export type Sync = {
  /** Begins to follow; the peers have been looked for once. */
  start(): void;
  /** There may be something to fetch. Without effect before the start: nobody is known who could have it. */
  wake(): void;
  /** Whether the node was at the head of the network when it looked last, and is not fetching. */
  isSynced(): boolean;
  /** Absent while in step. */
  progress(): SyncProgress | undefined;
  /** Settles when the download under way has ended. */
  close(): Promise<void>;
};

/** Peers that are asked at a time. */
const MAX_SOURCES = 10;
/** Without a new block for so many slots, the peers are asked ... */
const IDLE_SLOTS = 3;
/** ... sooner where a peer may not post every block, since they come faster than it may post. */
const HASTY_IDLE_SLOTS = 1.5;
/** While peers have blocks that could not be fetched. */
const RETRY_MS = 1_000;
const MEASURE_MS = 1_000;
const REPORT_MS = 5_000;
/** So many missing blocks may be on their way: they do not make a node out of step, only the forger waits for them. */
const NEAR_BLOCKS = 5;
/** So many requests without an answer, and no block at all, are no accident. */
const MAX_UNANSWERED = 2;
/** Blocks of another branch above our height that are fetched before it takes the place of ours. */
const BRANCH_LEAD = 10;

export function createSync(deps: SyncDeps): Sync {
  const { network, chain, peerTable, logger } = deps;
  const slotMs = network.milestoneAt(1).blocktime * 1000;
  const { events, windowMs } = RATE_LIMITS["p2p.peer.postBlock"];
  const idleMs = slotMs * (slotMs < windowMs / events ? HASTY_IDLE_SLOTS : IDLE_SLOTS);
  const ending = new AbortController();
  let isStarted = false;
  let isSynced = false;
  let progress: SyncProgress | undefined;
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;
  let isWanted = false;
  let timer: NodeJS.Timeout | undefined;

  const unsubscribe = chain.subscribe(() => {
    if (timer) schedule(idleMs);
  });

  function schedule(delayMs: number): void {
    clearTimeout(timer);
    if (!ending.signal.aborted) timer = setTimeout(run, delayMs);
  }

  function run(): void {
    isWanted = true;
    if (isRunning || ending.signal.aborted) return;
    isRunning = true;
    clearTimeout(timer);
    timer = undefined;
    running = turn().finally(() => {
      isRunning = false;
    });
  }

  async function turn(): Promise<void> {
    while (isWanted && !ending.signal.aborted) {
      isWanted = false;
      try {
        await synchronise();
      } catch (err) {
        logger.error({ err }, "synchronising failed");
      }
    }
    schedule(isSynced ? idleMs : RETRY_MS);
  }

  /** Looks at the peers once, and does what follows from it. */
  async function synchronise(): Promise<void> {
    await deps.pingAll({ isForced: true, withinMs: TIMES_MS.smallReply });
    const peers = peerTable.all();
    const ahead = peersAhead(peers, chain.head().height);
    if (ahead.length > 0) await fetchFrom(ahead);
    else if (!(await changeBranch(peers))) markSynced();
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
    // The middle one: a single peer that claims too much must not keep the download open.
    const to = networkHeight(sources.map(({ height }) => height));
    // A claim alone brings no node out of step: the first blocks have to come.
    const goal = isSynced ? Math.min(to, after + NEAR_BLOCKS) : to;
    const meter = createProgressMeter();
    const measure = () => {
      progress = meter.measure(chain.head().height, to, performance.now());
    };
    measure();
    const measuring = setInterval(measure, MEASURE_MS);
    const report = () => logger.info({ height: chain.head().height, ...progress }, "synchronising");
    const reports = setInterval(report, REPORT_MS);
    const givers = new Set<string>();
    const failures = new Map<string, number>();
    try {
      const result = await download({ after, to: goal }, sources, {
        fetch: deps.fetch,
        async accept(blocks, { ip }) {
          const outcomes = await chain.accept(blocks);
          if (outcomes.some(({ answer }) => answer === "Accepted")) givers.add(ip);
          return outcomes;
        },
        onFailure({ ip }, error) {
          logger.debug({ ip, reason: (error as Error).message }, "blocks not fetched");
          failures.set(ip, (failures.get(ip) ?? 0) + 1);
        },
        signal: ending.signal,
      });
      if (result.kind === "done" && goal < to) isSynced = false;
      if (result.kind === "refused") judge(result.source, result.outcome, chain.head().height > after);
    } finally {
      clearInterval(measuring);
      clearInterval(reports);
    }
    judgeClaims(givers, failures);
    if (chain.head().height > after) fetched();
  }

  /** What became of the claims of those who were asked. */
  function judgeClaims(givers: ReadonlySet<string>, failures: ReadonlyMap<string, number>): void {
    for (const ip of givers) deps.reinstate(ip);
    if (ending.signal.aborted) return;
    for (const [ip, count] of failures) {
      if (givers.has(ip) || count < MAX_UNANSWERED) continue;
      logger.info({ ip }, "a peer does not give the blocks that it claims to have");
      deps.suspend(ip);
    }
  }

  function fetched(): void {
    deps.onFetched(chain.head());
    // Others may have forged meanwhile.
    isWanted = true;
  }

  /** What a refused block says about the one who gave it. `hasMoved`: the head is another than at the beginning. */
  function judge({ ip }: Source, outcome: Outcome, hasMoved: boolean): void {
    // A block that was posted meanwhile may have been the same one.
    if (hasMoved && (outcome.answer === "Unchained" || outcome.answer === "Discarded")) return;
    logger.warn({ ip, reason: refusalOf(outcome) }, "downloaded block refused");
    if (isLie(outcome)) deps.ban(ip, "it gave a block that is wrong by itself");
    // Its chain is not what it seemed: it may become a peer again by another verification.
    else peerTable.remove(ip);
  }

  /** Leaves a wrong branch for the right one; false where there is no better one than ours. */
  async function changeBranch(peers: readonly Peer[]): Promise<boolean> {
    const { height } = chain.head();
    const branch = betterBranch(peers, height);
    if (!branch) return false;
    const { commonHeight } = branch;
    if (!isWithinRollback(branch, height)) {
      const found = { height, commonHeight, to: branch.height, peers: branch.peers.length };
      logger.error(
        { ...found, maxRollback: MAX_ROLLBACK },
        "most peers are on a branch that is too far away: begin anew, or from a snapshot",
      );
      return false;
    }
    isSynced = false;
    const sources = sample(branch.holders.map(sourceOf), MAX_SOURCES);
    // A little more than is needed, since our own chain may grow meanwhile; the rest comes when we are on it.
    const to = Math.min(branch.height, height + BRANCH_LEAD);
    const { blocks, givers, failing } = await fetchBranch({ after: commonHeight, to }, sources, {
      fetch: deps.fetch,
      signal: ending.signal,
    });
    for (const { ip } of failing) deps.suspend(ip);
    if (commonHeight + blocks.length <= chain.head().height || ending.signal.aborted) return true;
    for (const bytes of blocks) deps.onForeignHeader(decodeHeader(bytes, network).header);
    logger.warn(
      { height, commonHeight, to: branch.height, peers: branch.peers.length },
      "leaving a wrong branch",
    );
    const outcomes = await chain.switchTo(commonHeight, blocks);
    const last = outcomes.at(-1)!;
    if (last.answer === "Accepted") fetched();
    else judge(givers[outcomes.length - 1]!, last, false);
    return true;
  }

  return {
    start() {
      isStarted = true;
      run();
    },
    wake() {
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

/** Whether nobody could have taken the block for a right one, whatever the clocks say. */
const isLie = (outcome: Outcome): boolean =>
  outcome.answer === "Unreadable" ||
  (outcome.answer === "Rejected" &&
    outcome.reason === "verification-failed" &&
    !outcome.faults?.some(({ code }) => code === "timestamp"));
