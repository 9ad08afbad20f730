/** Audits of webhooks: that the receiver has every fact, and no other one (facts.md 13). */
import { bytesToHex, canonicalJson, sha256 } from "@uniknode/protocol";
import { isEveryEvent } from "../../api/every-event.ts";
import type { StreamedEvent } from "../../api/resources/events.ts";
import type { Webhook } from "../../api/resources/webhooks/register.ts";
import type { Delivery } from "../../deliveries/delivery.ts";
import { Refusal, type Refused, refusedVerdict } from "../refusal.ts";
import { countKeys, readNote, signersOf } from "../resolution/note.ts";
import { isRecord } from "../values.ts";
import { type AuditStep, type FactLeaf, provenLeaves } from "./leaves.ts";
import { createTiles } from "./tiles.ts";

/** The subscription of a webhook, as the register returns it. */
export type AuditedWebhook = Pick<Webhook, "event"> & Partial<Pick<Webhook, "events" | "conditions">>;

/** A delivery that the receiver accepted. */
export type ReceivedFact = Pick<Delivery, "event" | "height" | "blockId" | "data">;

export type AuditOptions = {
  /** Keys of nodes and witnesses, in the format NAME+HASH+KEY. */
  readonly keys: string | readonly string[];
  /** Number of these keys that must have signed the checkpoint. Default: 1. */
  readonly minSigners?: number;
  /**
   * Deliveries of the blocks that the receiver accepted, in any order, without retractions and what they retract. Those of other
   * blocks, and events that the webhook does not select, are ignored.
   */
  readonly received: Iterable<ReceivedFact> | AsyncIterable<ReceivedFact>;
  /** Returns true if the conditions of the webhook hold; needed if it has others than `EVERY_EVENT`. */
  readonly matches?: (fact: StreamedEvent) => boolean;
};

export type AuditReport =
  | {
      /** `complete`: nothing is missing, and nothing else was received. */
      readonly verdict: "complete" | "incomplete";
      /** Proven facts of the blocks with events of the webhook, and those of them that its conditions select. */
      readonly facts: number;
      readonly selected: number;
      /** Facts that the receiver does not have. */
      readonly missing: readonly StreamedEvent[];
      /** Deliveries whose fact the chain does not have: false, altered or retracted. */
      readonly extra: readonly ReceivedFact[];
      /** Facts whose content is too large for the stream: only their event and height are proven. */
      readonly unverified: number;
      /** Names of the webhook whose events are not in the tree of facts, such as `wallet.saved`. */
      readonly notCovered: readonly string[];
      /** Keys that signed the checkpoint. */
      readonly signers: readonly string[];
    }
  | Refused<AuditStep>;

type AuditSource = {
  /** Returns the signed note of the node. */
  checkpoint(): Promise<string>;
  tile(path: string): Promise<Uint8Array>;
  /** Streams all facts with these names from a height on, without end. */
  facts(names: readonly string[], fromHeight: number, signal: AbortSignal): AsyncIterable<StreamedEvent>;
};

type AuditRange = { readonly from: number; readonly to: number };

/** Time without a fact after which the node is considered to withhold the rest. */
const SILENCE_MS = 30_000;

/**
 * @throws {TypeError} for a webhook with conditions without `matches`, malformed keys or heights
 * @throws {RangeError} for too many facts
 * @throws {ApiError | Error} if the node does not respond
 */
export async function audit(
  webhook: AuditedWebhook,
  { from, to }: AuditRange,
  options: AuditOptions,
  source: AuditSource,
): Promise<AuditReport> {
  const { matches = () => true } = options;
  if (!(Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 1 && to >= from))
    throw new TypeError("the heights of an audit must be integers from 1 on, the first not above the last");
  if (!isEveryEvent(webhook.conditions ?? []) && options.matches === undefined)
    throw new TypeError("the webhook has conditions: pass `matches`, a function that tests them");
  const names = [...new Set([webhook.event, ...(webhook.events ?? [])])];
  const covered = [...LEAF_EVENTS].filter((event) => selects(names, event));
  try {
    const { note, signers } = await readCheckpoint(source, to, options);
    const tiles = createTiles(note.size, source.tile);
    const leaves = (await provenLeaves(tiles, note, { from, to })).filter(({ event }) =>
      covered.includes(event),
    );
    const facts = await readFacts(leaves, covered, { from, source });
    const compared = await compare(facts, matches, { from, to, covered, received: options.received });
    const isComplete = compared.missing.length + compared.extra.length === 0;
    return {
      verdict: isComplete ? "complete" : "incomplete",
      facts: facts.length,
      ...compared,
      unverified: facts.filter(({ truncated }) => truncated).length,
      notCovered: names.filter((name) => !covered.some((event) => selects([name], event))),
      signers,
    };
  } catch (error) {
    const refused = refusedVerdict<AuditStep | "NOTE">(error);
    const { step } = refused;
    return { ...refused, step: step === "NOTE" ? "CHECKPOINT" : step };
  }
}

/** @throws {Refusal} CHECKPOINT, HEIGHT */
async function readCheckpoint(
  source: AuditSource,
  to: number,
  { keys, minSigners = 1 }: Pick<AuditOptions, "keys" | "minSigners">,
) {
  const note = readNote(await source.checkpoint());
  const signers = signersOf(note, [keys].flat());
  const count = countKeys(signers);
  if (count < minSigners)
    throw new Refusal<AuditStep>(
      "CHECKPOINT",
      `${count} of the keys have signed the checkpoint, ${minSigners} must`,
    );
  if (note.height < to)
    throw new Refusal<AuditStep>(
      "HEIGHT",
      `the checkpoint is of height ${note.height}: audit blocks up to there`,
    );
  return { note, signers };
}

/**
 * Reads the content of each leaf from the stream of the node, which has the same order.
 *
 * @throws {Refusal} CONTENT
 */
async function readFacts(
  leaves: readonly FactLeaf[],
  names: readonly string[],
  { from, source }: { from: number; source: AuditSource },
): Promise<StreamedEvent[]> {
  const facts: StreamedEvent[] = [];
  const ids = new Set<string>();
  if (leaves.length === 0) return facts;
  const ending = new AbortController();
  let timer = setTimeout(() => ending.abort(), SILENCE_MS);
  try {
    for await (const fact of source.facts(names, from, ending.signal)) {
      const leaf = leaves[facts.length];
      // After a lost connection, the stream repeats the facts of the last block.
      if (ids.has(fact.id) && !isOfLeaf(fact, leaf)) continue;
      checkFact(fact, leaf);
      facts.push(fact);
      ids.add(fact.id);
      if (facts.length === leaves.length) break;
      clearTimeout(timer);
      timer = setTimeout(() => ending.abort(), SILENCE_MS);
    }
  } catch (error) {
    if (ending.signal.aborted) throw new Refusal<AuditStep>("CONTENT", "the node does not stream all facts");
    throw error;
  } finally {
    clearTimeout(timer);
  }
  if (facts.length < leaves.length)
    throw new Refusal<AuditStep>("CONTENT", "the node does not stream all facts");
  return facts;
}

const isOfLeaf = (fact: StreamedEvent, leaf: FactLeaf | undefined): boolean =>
  leaf !== undefined &&
  leaf.event === fact.event &&
  leaf.height === fact.height &&
  (fact.truncated === true || leaf.content === contentHash(fact));

/** @throws {Refusal} CONTENT */
function checkFact(fact: StreamedEvent, leaf: FactLeaf | undefined): void {
  if (!isOfLeaf(fact, leaf))
    throw new Refusal<AuditStep>(
      "CONTENT",
      `the fact ${fact.id} that the node streams is not the one of its tree`,
    );
}

type Compared = {
  readonly selected: number;
  readonly missing: StreamedEvent[];
  readonly extra: ReceivedFact[];
};

async function compare(
  facts: readonly StreamedEvent[],
  matches: (fact: StreamedEvent) => boolean,
  {
    from,
    to,
    covered,
    received,
  }: AuditRange & Pick<AuditOptions, "received"> & { readonly covered: readonly string[] },
): Promise<Compared> {
  const pending = new Map<string, ReceivedFact[]>();
  for await (const fact of received) {
    const { height = 0 } = fact;
    if (height < from || height > to || !covered.includes(fact.event)) continue;
    pending.set(nameOf(fact), [...(pending.get(nameOf(fact)) ?? []), fact]);
  }
  const selected = facts.filter(matches);
  const missing = selected.filter((fact) => pending.get(nameOf(fact))?.pop() === undefined);
  return { selected: selected.length, missing, extra: [...pending.values()].flat() };
}

const nameOf = ({ event, height, blockId, data }: ReceivedFact): string =>
  `${event} ${height} ${blockId} ${canonicalJson(leafData(event, data))}`;

/** Events that are leaves of the tree of facts. */
const LEAF_EVENTS: ReadonlySet<string> = new Set([
  ...["forger.missing", "round.missed", "round.created", "round.applied"],
  ...["transaction.applied", "delegate.registered", "delegate.resigned"],
  ...["wallet.vote", "wallet.unvote"],
  ...["unik.minted", "unik.transferred", "unik.updated", "unik.disclosed", "block.applied"],
]);

/** Returns true if one of the names, or a pattern such as `transaction.*`, selects an event. */
const selects = (names: readonly string[], event: string): boolean =>
  names.some((name) => name === event || (name.endsWith("*") && event.startsWith(name.slice(0, -1))));

/** Returns the SHA-256 of the canonical content of a fact. */
const contentHash = ({ event, id, data }: StreamedEvent): string =>
  bytesToHex(sha256(new TextEncoder().encode(canonicalJson({ data: leafData(event, data), id }))));

/**
 * Returns the part of the content that follows from the chain alone: deliveries contain the wallets of delegates at that time, and a
 * stream of past blocks does not.
 */
function leafData(event: string, data: unknown): unknown {
  if (event === "forger.missing" || event === "round.missed") {
    const delegate = isRecord(data) ? data.delegate : undefined;
    return { delegate: { publicKey: isRecord(delegate) ? delegate.publicKey : undefined } };
  }
  if (event !== "round.created" || !Array.isArray(data)) return data;
  return data.map((row: unknown) =>
    isRecord(row) ? { publicKey: row.publicKey, round: row.round, votes: row.votes } : row,
  );
}
