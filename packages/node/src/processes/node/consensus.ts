/** Consensus: the verifier threads and the chain, which writes its events with its blocks. */
import type { Block } from "@uniknode/protocol";
import type { Logger } from "pino";
import { type Pin, type PinNews, pinText } from "../../chain/assumption.ts";
import { Chain, DEFAULT_CHAIN_OPTIONS } from "../../chain/chain.ts";
import { createSelection } from "../../event-log/recorded-events.ts";
import { eventsOfRevert } from "../../events/block-events.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import type { Database } from "../../store/engine/database.ts";
import { hasHistory } from "../../store/history/writer.ts";
import { CachingVerifier, createVerifyNow } from "../../verification/caching-verifier.ts";
import { createVerifier, type Verifier } from "../../verification/verifier.ts";
import { createRecordedSignatures, type RecordedSignatures } from "../../verification/wallet-signatures.ts";
import type { Environment } from "./environment.ts";
import type { NodeEventLog } from "./event-log.ts";
import type { NodeOptions } from "./options.ts";

export type ConsensusDeps = Environment &
  Pick<NodeEventLog, "events" | "subscribedEvents"> & {
    readonly database: Database;
    readonly genesis: Block;
  };

export type Consensus = {
  readonly verifier: Verifier;
  readonly signatures: RecordedSignatures;
  readonly chain: Chain;
};

/** Threads that verify signatures; one core remains for the consensus thread. */
const VERIFIER_THREADS = 2;
/** Signatures that the consensus thread verifies itself in each tick of its event loop: 0.7 ms at most. */
const OWN_PER_TURN = 16;
/** Size for a full pool with ordinary traffic, from submission to block: 2 MB. */
const MAX_KNOWN = 10_000;
/** Verdicts about second signatures and multisignatures of a full pool: about 4 MB. */
const MAX_RECORDED = 16_000;

/** @throws {ChainError} if the database has another chain, or one that was not checked */
export function createConsensus(
  options: Pick<NodeOptions, "assumeValid" | "feedBlocks" | "history">,
  { database, genesis, network, slots, now, nowMs, events, subscribedEvents, logger }: ConsensusDeps,
  onStop: Closing["add"],
): Consensus {
  const verifier = new CachingVerifier(
    { ownPerTurn: OWN_PER_TURN, maxKnown: MAX_KNOWN },
    createVerifier({
      threads: VERIFIER_THREADS,
      onRefusal: (reason) => logger.warn({ reason }, "verifying signatures with a slower implementation"),
    }),
  );
  onStop("verifier", () => verifier.close());
  const signatures = createRecordedSignatures(MAX_RECORDED, {
    network,
    verify: (checks) => verifier.verify(checks),
    verifyNow: createVerifyNow(),
  });
  const chain = new Chain(
    {
      ...DEFAULT_CHAIN_OPTIONS,
      feedBlocks: options.feedBlocks,
      recordsHistory: chooseHistory(options.history, database, logger) === "full",
    },
    {
      database,
      network,
      genesis,
      verifier,
      signatures,
      events,
      eventsOfFacts: createSelection({ subscribedEvents, slots, now }),
      eventsOfRevert: (block, wallets) => eventsOfRevert(block, wallets, slots),
      now: nowMs,
      assumeValid: options.assumeValid,
      onPin: (news) => logPin(news, logger),
      onListenerError: (err) => logger.error({ err }, "a listener of the chain failed"),
      onUnexpectedError: (err, { height, id }) =>
        logger.error({ err, height, id }, "block not applied: internal error"),
    },
  );
  onStop("chain", () => chain.close());
  if (options.assumeValid) logStart(options.assumeValid, chain, logger);
  return { verifier, signatures, chain };
}

/** Returns the option, or else what the data folder contains: a forgotten option must not remove years of records. */
function chooseHistory(given: NodeOptions["history"], database: Database, logger: Logger): "full" | "head" {
  const hasRecords = hasHistory(database);
  if (given === "head" && hasRecords) logger.warn("removing the earlier states, because of --history head");
  return given ?? (hasRecords ? "full" : "head");
}

function logStart(pin: Pin, chain: Chain, logger: Logger): void {
  const stored = chain.blocks.header(pin.height);
  if (stored && stored.id !== pin.id) logPin({ kind: "other", pin, id: stored.id }, logger);
  if (stored) return;
  if (!chain.assumption().pin) {
    logger.warn(
      { pin: pinText(pin) },
      "a previous start did not find the block of --assume-valid on the chain: checking all signatures",
    );
    return;
  }
  logger.info(
    { pin: pinText(pin), height: chain.head().height },
    "not checking signatures of fetched blocks up to the block of --assume-valid",
  );
}

function logPin(news: PinNews, logger: Logger): void {
  const pin = pinText(news.pin);
  switch (news.kind) {
    case "reached":
      logger.info({ pin }, "reached the block of --assume-valid: checking all signatures from here on");
      break;
    case "other":
      logger.warn(
        { pin, id: news.id },
        "the chain does not contain the block of --assume-valid; the signatures of all its blocks were checked",
      );
      break;
    case "failed":
      logger.error(
        { pin, height: news.height },
        "the fetched chain does not contain the block of --assume-valid: discarding unchecked blocks and checking all signatures",
      );
  }
}
