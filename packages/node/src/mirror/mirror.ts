/**
 * Keeps a database equal to a node: refuses another chain, takes the lease, builds the mirror if necessary, and follows the feed.
 * After a failure, it resumes from the state of the database.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import { finalHeight } from "../facts/final.ts";
import type { Position } from "../feed/line.ts";
import type { Postgres } from "../postgres/connection.ts";
import { bootstrap } from "./bootstrap.ts";
import { type CopyDeps, EventCopy, HeightWatch } from "./events/copy.ts";
import type { FeedClient } from "./feed-client.ts";
import { follow } from "./follow.ts";
import {
  type Epoch,
  LEASE_SECONDS,
  type MirrorHead,
  readHead,
  releaseLease,
  renewLease,
  restart,
  takeLease,
} from "./head.ts";
import { MirrorError, type MirrorErrorCode } from "./mirror-error.ts";
import { type IdentityTexts, storeIdentity } from "./node-identity.ts";

type MirrorOptions = {
  /** Name of this mirror. When it starts, it replaces a mirror with the same name. */
  readonly owner: string;
  /** Number of blocks below the head that can be reverted. */
  readonly undoDepth: number;
};

export type MirrorDeps = {
  readonly postgres: Postgres;
  readonly feed: FeedClient;
  readonly network: Network;
  /** Stored for the API servers. */
  readonly identity: IdentityTexts;
  readonly logger: Logger;
  /** Called with the height of the mirror when it changes. */
  readonly onHeight: (height: number) => void;
  /** Called with the last copied event when it changes. */
  readonly onCopied: CopyDeps["onCopied"];
  /** Called when this mirror has taken the lease; the signal ends with the session. */
  readonly onLease: (signal: AbortSignal) => void;
};

/** Pause after a failure, doubled with each further failure. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 15_000;
/** The lease survives two failed renewals. */
const RENEWAL_MS = (LEASE_SECONDS * 1_000) / 4;
const STANDBY_MS = 2_000;
const PROGRESS_MS = 5_000;

export class Mirror {
  readonly #options: MirrorOptions;
  readonly #deps: MirrorDeps;
  readonly #eventCopy = new EventCopy();
  /** The last epoch of this process. */
  #epoch: Epoch | undefined;
  /** True while another mirror has the lease. */
  #isStandby = false;

  constructor(options: MirrorOptions, deps: MirrorDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /**
   * Runs until the signal is aborted.
   *
   * @throws {MirrorError} MIRROR_REFUSED, MIRROR_DATABASE, MIRROR_DIFFERS, MIRROR_REPLACED: only the operator can resolve these
   */
  async run(signal: AbortSignal): Promise<void> {
    const { logger } = this.#deps;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      try {
        const hasFollowed = await this.#mirrorOnce(signal);
        if (hasFollowed) pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        if (signal.aborted) break;
        if (isFinal(error)) throw error;
        logger.warn({ err: error, pauseMs }, `failed to follow the node; retrying in ${pauseMs / 1_000} s`);
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      }
    }
  }

  /** Mirrors until the node ends its response or something fails. Returns false if another mirror has the lease. */
  async #mirrorOnce(stop: AbortSignal): Promise<boolean> {
    const { postgres } = this.#deps;
    // This precedes the lease: a mirror of another chain must not replace a mirror with its name.
    await refuseOtherChain(this.#options.undoDepth, this.#deps, stop);
    const head = await this.#takeLease();
    if (!head) {
      await sleep(STANDBY_MS, undefined, { signal: stop }).catch(() => {});
      return false;
    }
    const ended = new AbortController();
    const signal = AbortSignal.any([stop, ended.signal]);
    const endRenewal = keepLease(postgres, head.epoch, (error) => ended.abort(error));
    const heights = new HeightWatch(head.height, signal);
    const onHeight = (height: number) => {
      heights.reach(height);
      this.#deps.onHeight(height);
    };
    let copying: Promise<void> | undefined;
    try {
      await storeIdentity(postgres, this.#deps.identity, head.epoch);
      this.#deps.onLease(signal);
      copying = this.#eventCopy
        .run({ ...this.#deps, epoch: head.epoch, heights, signal })
        .catch((error) => ended.abort(error));
      await this.#buildAndFollow(head, { ...this.#deps, onHeight }, signal);
    } finally {
      endRenewal();
      // Ends open responses of the feed.
      ended.abort();
      await copying;
      await releaseLease(postgres, head.epoch).catch(() => {});
    }
    return true;
  }

  /** Returns undefined if another mirror has the lease. */
  async #takeLease(): Promise<MirrorHead | undefined> {
    const { postgres, network, logger } = this.#deps;
    const epoch = this.#epoch;
    // If the response is lost, the epoch of this process is not known.
    this.#epoch = undefined;
    const { nethash } = network.description;
    const head = await takeLease(postgres, { nethash, owner: this.#options.owner, epoch });
    this.#epoch = head?.epoch ?? epoch;
    if (!head && !this.#isStandby)
      logger.info("waiting: another mirror writes to the database; this one continues when that one ends");
    this.#isStandby = !head;
    return head;
  }

  async #buildAndFollow(head: MirrorHead, given: MirrorDeps, signal: AbortSignal): Promise<void> {
    const deps = { ...given, epoch: head.epoch, signal };
    const { postgres, logger } = deps;
    const log = logProgress(deps);
    if (head.phase === "blocks") {
      logger.info({ height: head.height }, "building the mirror");
      await bootstrap(head, { ...deps, onProgress: log.building });
      logger.info("the mirror is complete; following the node");
    } else logger.info({ height: head.height }, "following the node");
    try {
      const { undoDepth } = this.#options;
      await follow({ ...deps, undoDepth, onHead: log.head, onFacts: log.facts });
    } catch (error) {
      if (!(error instanceof MirrorError) || error.code !== "MIRROR_GONE") throw error;
      logger.warn(
        { err: error },
        "rebuilding the mirror: the node no longer has the changes of its next block",
      );
      await restart(postgres, head.epoch);
    }
  }
}

const FINAL: readonly MirrorErrorCode[] = [
  "MIRROR_REFUSED",
  "MIRROR_DATABASE",
  "MIRROR_DIFFERS",
  "MIRROR_REPLACED",
];

const isFinal = (error: unknown): boolean => error instanceof MirrorError && FINAL.includes(error.code);

/** Renews the lease regularly until the returned function is called. */
function keepLease(postgres: Postgres, epoch: number, onLost: (error: unknown) => void): () => void {
  const timer = setInterval(() => {
    renewLease(postgres, epoch).catch((error) => {
      // Without a connection, the next write fails, too.
      if (error instanceof MirrorError) onLost(error);
    });
  }, RENEWAL_MS).unref();
  return () => clearInterval(timer);
}

const toRemaining = (blocks: number, blocksPerSecond: number): number | undefined =>
  blocksPerSecond > 0 ? Math.ceil(Math.max(blocks, 0) / blocksPerSecond) : undefined;

/** Logs every head at debug level, and the progress of long work from time to time. */
function logProgress({ logger, onHeight }: Pick<MirrorDeps, "logger" | "onHeight">) {
  let nextMs = performance.now() + PROGRESS_MS;
  let start: { readonly height: number; readonly timeMs: number } | undefined;
  return {
    /** @param target height of the node when the response began */
    building(height: number, target: number | undefined): void {
      onHeight(height);
      const nowMs = performance.now();
      start ??= { height, timeMs: nowMs };
      if (nowMs < nextMs) return;
      nextMs = nowMs + PROGRESS_MS;
      const blocksPerSecond = Math.round((1_000 * (height - start.height)) / (nowMs - start.timeMs));
      const remainingSeconds =
        target === undefined ? undefined : toRemaining(target - height, blocksPerSecond);
      logger.info({ height, target, blocksPerSecond, remainingSeconds }, "fetching blocks");
    },
    facts(height: number): void {
      const nowMs = performance.now();
      if (nowMs < nextMs) return;
      nextMs = nowMs + PROGRESS_MS;
      logger.info({ height }, "deriving the final facts from the blocks of the mirror");
    },
    head({ height, id }: Position): void {
      onHeight(height);
      logger.debug({ height, id }, "new head");
    },
  };
}

type ComparedDeps = {
  readonly postgres: Postgres;
  readonly feed: Pick<FeedClient, "blocks">;
  readonly network: Network;
};

/** The first block that two chains of one network can differ in. */
const AFTER_GENESIS = 2;

/**
 * Refuses another chain of the same network, which would remove every block of the database. Compares the newest block of the
 * database that no node can have reverted; a chain without final blocks is not compared.
 *
 * @param undoDepth maximum number of blocks that a node reverts
 * @throws {MirrorError} MIRROR_DATABASE if the node has another block; MIRROR_BEHIND if it does not have that height yet
 */
export async function refuseOtherChain(
  undoDepth: number,
  { postgres, feed, network }: ComparedDeps,
  signal: AbortSignal,
): Promise<void> {
  const head = await readHead(postgres);
  if (!head || finalHeight(head.height, network) < AFTER_GENESIS) return;
  const height = Math.max(head.height - undoDepth, AFTER_GENESIS);
  const [block] = await postgres.query<{ id: string }>("SELECT id FROM blocks WHERE height = $1", [height]);
  if (!block) return;
  const id = await idAt(height, feed, signal);
  if (id === block.id) return;
  if (id === undefined)
    throw new MirrorError(
      "MIRROR_BEHIND",
      `the node does not have block ${height} yet, and the database has ${head.height} blocks: wait until the node is synchronised, or check --node`,
    );
  throw new MirrorError(
    "MIRROR_DATABASE",
    `the node has another chain than the database: block ${height} is ${id}, and ${block.id} in the database; check --node, or copy this chain into an empty database`,
  );
}

/** Returns the id of the node's block; undefined if it has none. */
async function idAt(height: number, feed: ComparedDeps["feed"], signal: AbortSignal) {
  for await (const line of feed.blocks(height - 1, height, signal))
    return "block" in line ? line.id : undefined;
  return undefined;
}
