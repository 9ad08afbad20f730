/** Metrics of the chain, the pool, the peers, the forger and the facts. A scrape returns them in the order of creation. */
import type { NodeFigures, PeerBounds } from "../../gateway/figures.ts";
import type { LoopDelay } from "../../platform/lifecycle/event-loop.ts";
import {
  type Gauge,
  type Instruments,
  instrumentsOf,
  type Registry,
  showTotal,
  showTotals,
} from "./instruments.ts";
import { createMirrorMetrics } from "./other-processes.ts";
import { createThreadMetrics, createUsageMetrics } from "./process.ts";

type Show = (figures: NodeFigures) => void;

export class NodeMetrics {
  readonly #showUsage: () => void;
  readonly #showThread: ReturnType<typeof createThreadMetrics>;
  readonly #isResponding: Gauge;
  readonly #shows: readonly Show[];

  constructor(registry: Registry, version: string) {
    const instruments = instrumentsOf(registry);
    this.#showUsage = createUsageMetrics(registry, version);
    this.#showThread = createThreadMetrics(registry);
    this.#isResponding = instruments.gauge(
      "uniknode_consensus_up",
      "1 if the consensus thread responds, else 0.",
    );
    this.#shows = [
      createChainMetrics(instruments),
      createPoolMetrics(instruments),
      createPeerMetrics(instruments),
      createForgerMetrics(instruments),
      createFactMetrics(instruments),
      showMirrorOf(instruments),
    ];
  }

  /** @param figures undefined if the consensus thread did not reply */
  showNode(figures: NodeFigures | undefined): void {
    this.#isResponding.set(figures ? 1 : 0);
    if (!figures) return;
    for (const show of this.#shows) show(figures);
    this.#showThread("consensus", figures.heapBytes, figures.loopDelay);
  }

  showServing(loopDelay: LoopDelay): void {
    this.#showUsage();
    this.#showThread("serving", process.memoryUsage().heapUsed, loopDelay);
  }
}

function createChainMetrics({ gauge, counter }: Instruments): Show {
  const height = gauge("uniknode_chain_height", "Height of the head.");
  const age = gauge("uniknode_chain_head_age_seconds", "Network time since the head was forged.");
  const behind = gauge("uniknode_chain_blocks_behind", "Blocks that the node is behind the network.");
  const synced = gauge("uniknode_chain_synced", "1 if the node is in sync, else 0.");
  const reverted = counter(
    "uniknode_chain_reverted_blocks_total",
    "Blocks reverted, because another branch of the chain won.",
  );
  const percent = gauge("uniknode_sync_percent", "Share of the network's blocks that the node has.");
  const pace = gauge(
    "uniknode_sync_blocks_per_second",
    "Blocks fetched and applied per second; 0 when in sync.",
  );
  const left = gauge(
    "uniknode_sync_left_seconds",
    "Estimated time until the node is in sync; 0 when in sync.",
  );

  return (figures) => {
    height.set(figures.height);
    age.set(figures.headAgeSeconds);
    behind.set(figures.blocksBehind);
    synced.set(figures.synced ? 1 : 0);
    showTotal(reverted, figures.revertedBlocks);
    const { progress } = figures;
    percent.set(progress?.percent ?? 100);
    pace.set(progress?.blocksPerSecond ?? 0);
    left.set(progress ? (progress.secondsLeft ?? Number.NaN) : 0);
  };
}

function createPoolMetrics({ gauge, counter }: Instruments): Show {
  const size = gauge("uniknode_pool_transactions", "Pending transactions.");
  const bytes = gauge("uniknode_pool_bytes", "Bytes of the pending transactions.");
  const examined = gauge(
    "uniknode_pool_examined_transactions",
    "Transactions being checked for admission to the pool.",
  );
  const unchecked = gauge(
    "uniknode_pool_unchecked_transactions",
    "Pending transactions that wait for a recheck after a change of the chain.",
  );
  const recheckUsed = counter(
    "uniknode_pool_recheck_seconds_total",
    "Consensus thread time used by rechecks of pending transactions.",
  );
  const refused = counter(
    "uniknode_pool_refusals_total",
    "Transactions refused by the pool, by reason.",
    "reason",
  );
  const admissionUsed = counter(
    "uniknode_admission_seconds_total",
    "Consensus thread time used by submissions.",
  );
  const admissionBudget = gauge(
    "uniknode_admission_budget_seconds",
    "Consensus thread time available to submissions per slot.",
  );
  const admissionExhausted = counter(
    "uniknode_admission_exhausted_slots_total",
    "Slots in which submissions exhausted their time and waited for the next slot.",
  );

  return (figures) => {
    size.set(figures.poolSize);
    bytes.set(figures.poolBytes);
    examined.set(figures.poolWaiting);
    unchecked.set(figures.poolUnchecked);
    showTotal(recheckUsed, figures.poolRecheckMs / 1_000);
    showTotals(refused, figures.poolRefused);
    const { admission } = figures;
    showTotal(admissionUsed, admission.usedMs / 1_000);
    admissionBudget.set(admission.perSlotMs / 1_000);
    showTotal(admissionExhausted, admission.exhaustedSlots);
  };
}

function createPeerMetrics(instruments: Instruments): Show {
  const { gauge, counter } = instruments;
  const peers = gauge("uniknode_peers", "Known peers.");
  const received = counter("uniknode_peers_received_bytes_total", "Bytes received from other nodes.");
  const sent = counter("uniknode_peers_sent_bytes_total", "Bytes sent to other nodes.");
  const showBounds = createPeerBoundsMetrics(instruments);

  return (figures) => {
    peers.set(figures.peers);
    showTotal(received, figures.traffic.receivedBytes);
    showTotal(sent, figures.traffic.sentBytes);
    if (figures.peerBounds) showBounds(figures.peerBounds);
  };
}

/** Usage of the limits of the peer protocol, and refusals. */
function createPeerBoundsMetrics({ gauge, counter }: Instruments): (bounds: PeerBounds) => void {
  const sessions = gauge("uniknode_peers_sessions", "Inbound peer connections.");
  const handshakes = gauge(
    "uniknode_peers_sessions_unfinished",
    "Inbound peer connections that have not completed the handshake.",
  );
  const banned = gauge("uniknode_peers_banned", "Banned addresses.");
  const refused = counter(
    "uniknode_peers_sessions_refused_total",
    "Refused inbound peer connections, by reason.",
    "reason",
  );
  const cut = counter(
    "uniknode_peers_sessions_cut_total",
    "Inbound peer connections closed by the node, by reason.",
    "reason",
  );
  const evicted = counter(
    "uniknode_peers_sessions_evicted_total",
    "Inbound peer connections closed to make room for others.",
  );
  const dropped = counter(
    "uniknode_peers_posts_dropped_total",
    "Broadcasts to peers that were not sent, by content.",
    "content",
  );

  return (bounds) => {
    sessions.set(bounds.sessions);
    handshakes.set(bounds.handshakes);
    banned.set(bounds.banned);
    showTotals(refused, bounds.refused);
    showTotals(cut, bounds.cut);
    showTotal(evicted, bounds.evicted);
    showTotals(dropped, bounds.postsDropped);
  };
}

function createForgerMetrics({ gauge, counter }: Instruments): Show {
  const forged = counter("uniknode_forger_blocks_forged_total", "Blocks forged by this process.");
  const missed = counter("uniknode_forger_slots_missed_total", "Missed slots of this node's delegates.");
  const refused = counter(
    "uniknode_forger_refusals_total",
    "Slots of this node's delegates that were not signed, by reason.",
    "reason",
  );
  const elsewhere = gauge(
    "uniknode_forger_keys_used_elsewhere",
    "Keys of this node with which another forger also signs.",
  );

  return (figures) => {
    showTotal(forged, figures.forged);
    showTotal(missed, figures.missed);
    showTotals(refused, figures.refused);
    elsewhere.set(figures.keysUsedElsewhere);
  };
}

/** A node without a mirror has no metrics of one: they would look like those of a mirror that is down. */
function showMirrorOf(instruments: Instruments): Show {
  let show: ReturnType<typeof createMirrorMetrics> | undefined;
  return ({ mirror }) => {
    if (!mirror) return;
    show ??= createMirrorMetrics(instruments);
    show(mirror);
  };
}

function createFactMetrics({ gauge }: Instruments): Show {
  const size = gauge("uniknode_facts_leaves", "Leaves of the Merkle tree of final facts.");
  const height = gauge(
    "uniknode_facts_height",
    "Height of the last block in the Merkle tree of final facts.",
  );
  const lag = gauge(
    "uniknode_facts_blocks_behind",
    "Final blocks not yet in the Merkle tree of final facts.",
  );
  return ({ facts }) => {
    size.set(facts.size);
    height.set(facts.height);
    lag.set(facts.lag);
  };
}
