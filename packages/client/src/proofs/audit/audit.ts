/** Audits of webhooks: that the receiver has every fact, and no other one (facts.md 13). */
import { canonicalJson } from "@uniknode/protocol";
import { isEveryEvent } from "../../api/every-event.ts";
import { argumentError } from "../../api/request.ts";
import type { StreamedEvent, StreamOptions } from "../../api/resources/events.ts";
import type { Webhook } from "../../api/resources/webhooks/register.ts";
import type { Delivery } from "../../deliveries/delivery.ts";
import { Refusal, type Refused, refusedVerdict } from "../refusal.ts";
import { countKeys, readNote, signersOf } from "../resolution/note.ts";
import {
  type AuditStep,
  contentHash,
  type FactLeaf,
  isOfLeaf,
  LEAF_EVENTS,
  leafData,
  provenLeaves,
} from "./leaves.ts";
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
      /** `complete`: nothing is missing or unverified, and nothing else was received. */
      readonly verdict: "complete" | "incomplete";
      /** Proven facts of the blocks with events of the webhook, and those of them that its conditions select. */
      readonly facts: number;
      readonly selected: number;
      /** Facts that the receiver does not have. */
      readonly missing: readonly StreamedEvent[];
      /** Deliveries whose fact the chain does not have: false, altered or retracted. */
      readonly extra: readonly ReceivedFact[];
      /** Facts whose content is too large for the stream, and not in `received`: only their event and height are proven. */
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
  facts(
    names: readonly string[],
    fromHeight: number,
    options: Pick<StreamOptions, "signal" | "onRetry">,
  ): AsyncIterable<StreamedEvent>;
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
    throw argumentError("the heights of an audit must be integers from 1 on, the first not above the last");
  if (!isEveryEvent(webhook.conditions ?? []) && options.matches === undefined)
    throw argumentError("the webhook has conditions: pass `matches`, a function that tests them");
  const names = [...new Set([webhook.event, ...(webhook.events ?? [])])];
  const covered = [...LEAF_EVENTS].filter((event) => selects(names, event));
  try {
    const { note, signers } = await readCheckpoint(source, to, options);
    const tiles = createTiles(note.size, source.tile);
    const leaves = (await provenLeaves(tiles, note, { from, to })).filter(({ event }) =>
      covered.includes(event),
    );
    const facts = await readFacts(leaves, covered, { from, source });
    const compared = await compare(facts, leaves, {
      ...{ from, to, covered, matches },
      received: options.received,
    });
    const isComplete = compared.missing.length + compared.extra.length + compared.unverified === 0;
    return {
      verdict: isComplete ? "complete" : "incomplete",
      facts: facts.length,
      ...compared,
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
 * @throws {ApiError} if the node cannot be reached, or limits the rate
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
  let failure: unknown;
  const onRetry = (error: unknown) => {
    failure = error;
  };
  let timer = setTimeout(() => ending.abort(), SILENCE_MS);
  try {
    for await (const fact of source.facts(names, from, { signal: ending.signal, onRetry })) {
      failure = undefined;
      const leaf = leaves[facts.length];
      // After a lost connection, the stream repeats the facts of the last block.
      if (ids.has(fact.id) && (fact.truncated === true || !isOfLeaf(fact, leaf))) continue;
      if (!isOfLeaf(fact, leaf))
        throw new Refusal<AuditStep>(
          "CONTENT",
          `the fact ${fact.id} that the node streams is not the one of its tree`,
        );
      facts.push(fact);
      ids.add(fact.id);
      if (facts.length === leaves.length) break;
      clearTimeout(timer);
      timer = setTimeout(() => ending.abort(), SILENCE_MS);
    }
  } catch (error) {
    if (!ending.signal.aborted) throw error;
    throw failure ?? new Refusal<AuditStep>("CONTENT", "the node does not stream all facts");
  } finally {
    clearTimeout(timer);
  }
  if (facts.length < leaves.length)
    throw new Refusal<AuditStep>("CONTENT", "the node does not stream all facts");
  return facts;
}

type Compared = {
  readonly selected: number;
  readonly missing: StreamedEvent[];
  readonly extra: ReceivedFact[];
  readonly unverified: number;
};

/** @param leaves those of the facts, in the same order */
async function compare(
  facts: readonly StreamedEvent[],
  leaves: readonly FactLeaf[],
  {
    from,
    to,
    covered,
    matches,
    received,
  }: AuditRange &
    Required<Pick<AuditOptions, "received" | "matches">> & { readonly covered: readonly string[] },
): Promise<Compared> {
  const whole = facts.filter(({ truncated }) => truncated !== true);
  const unverified = new Map<string, (readonly [fact: StreamedEvent, content: string | undefined])[]>();
  for (const [index, fact] of facts.entries())
    if (fact.truncated === true) push(unverified, placeOf(fact), [fact, leaves[index]?.content]);
  const pending = new Map<string, ReceivedFact[]>();
  for await (const fact of received) {
    const { height = 0, event, data } = fact;
    if (height < from || height > to || !covered.includes(event)) continue;
    push(pending, nameOf(fact), fact);
    const candidates = unverified.get(placeOf(fact)) ?? [];
    const at = candidates.findIndex(([{ id }, content]) => contentHash({ event, id, data }) === content);
    const [found] = at < 0 ? [] : candidates.splice(at, 1);
    if (found === undefined) continue;
    const { truncated: _, ...others } = found[0];
    whole.push({ ...others, data });
  }
  const selected = whole.filter(matches);
  const missing = selected.filter((fact) => pending.get(nameOf(fact))?.pop() === undefined);
  // A delivery can be one of the unverified facts.
  const extra = [...pending.values()].flat().filter((fact) => !unverified.get(placeOf(fact))?.length);
  return { selected: selected.length, missing, extra, unverified: [...unverified.values()].flat().length };
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const values = map.get(key) ?? [];
  values.push(value);
  map.set(key, values);
}

const placeOf = ({ event, height }: ReceivedFact): string => `${event} ${height}`;

const nameOf = ({ event, height, blockId, data }: ReceivedFact): string =>
  `${event} ${height} ${blockId} ${canonicalJson(leafData(event, data))}`;

/** Returns true if one of the names, or a pattern such as `transaction.*`, selects an event. */
const selects = (names: readonly string[], event: string): boolean =>
  names.some((name) => name === event || (name.endsWith("*") && event.startsWith(name.slice(0, -1))));
