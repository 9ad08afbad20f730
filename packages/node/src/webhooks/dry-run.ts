/** What a webhook would have heard of the last blocks, and why not of the rest. Nothing is registered or sent. */
import { setImmediate } from "node:timers/promises";
import type { Event } from "../events/event.ts";
import { type History, isRemembered } from "../events/history.ts";
import { heardNames } from "../events/names.ts";
import type { Snapshot } from "../store/queries/snapshot.ts";
import { integer, readMembers, required } from "./body.ts";
import {
  type Condition,
  compileConditions,
  explainConditions,
  type Finding,
} from "./conditions/conditions.ts";
import { parseJson } from "./json.ts";
import { checkEvents, NEW_WEBHOOK_READERS, type NewWebhook } from "./register/fields.ts";

export type DryRun = (body: unknown) => Promise<DryRunReport>;

export type DryRunReport = {
  /** The blocks that were looked at; none when `toHeight` is below `fromHeight`. */
  readonly fromHeight: number;
  readonly toHeight: number;
  readonly fired: Tried;
  readonly notFired: Tried;
  /** Names that the webhook would hear, but of which stored blocks tell nothing. */
  readonly notRemembered: readonly string[];
};

/** All of them are counted, and the newest shown. */
export type Tried = { count: number; readonly events: TriedEvent[] };

/** An event with what became of each condition. */
export type TriedEvent = Pick<Event, "height" | "blockId" | "data"> & {
  readonly event: string;
  readonly conditions: readonly Finding[];
};

export type DryRunDeps = { history: History; snapshot: Snapshot };

const DEFAULT_BLOCKS = 100;
const MAX_BLOCKS = 1_000;
/** Events looked at: with full blocks, the run ends before it has seen all of them. */
const MAX_EVENTS = 20_000;
const MAX_SHOWN = 20;
/** Values shown of one condition: contents may be long lists. */
const MAX_FOUND = 5;

type Body = NewWebhook & { readonly blocks: number };

const READERS = { ...NEW_WEBHOOK_READERS, blocks: integer(1, MAX_BLOCKS) };

/**
 * Takes the body of a registration, of which only events and conditions count, and `blocks`, the number of blocks.
 *
 * @throws {WebhookError} WEBHOOK_INVALID
 */
export function createDryRun({ history, snapshot }: DryRunDeps): DryRun {
  return async (body) => {
    const {
      event = null,
      events = [],
      match,
      blocks = DEFAULT_BLOCKS,
      ...rest
    } = readMembers<Body>(body, READERS);
    const names = heardNames(checkEvents({ event, events }));
    const conditions = parseJson(required(rest.conditions, "conditions")) as Condition[];
    const fires = compileConditions(conditions, match);
    const explain = explainConditions(conditions);

    const toHeight = snapshot(() => history.head());
    const lowest = Math.max(1, toHeight - blocks + 1);
    const fired: Tried = { count: 0, events: [] };
    const notFired: Tried = { count: 0, events: [] };
    let height = toHeight;
    for (; height >= lowest && fired.count + notFired.count < MAX_EVENTS; height--) {
      for (const happened of snapshot(() => history.eventsAt(height)).reverse()) {
        const name = names.get(happened.name);
        if (name !== undefined) add(fires(happened.data) ? fired : notFired, name, happened);
      }
      // One block at a time: deliveries go on meanwhile.
      await setImmediate();
    }
    const notRemembered = [...names].flatMap(([logged, name]) => (isRemembered(logged) ? [] : [name]));
    return { fromHeight: height + 1, toHeight, fired, notFired, notRemembered };

    function add(tried: Tried, name: string, { height, blockId, data }: Event): void {
      tried.count++;
      if (tried.events.length >= MAX_SHOWN) return;
      tried.events.push({
        event: name,
        ...(height !== undefined && { height }),
        ...(blockId !== undefined && { blockId }),
        data,
        conditions: explain(data).map((finding) => ({
          ...finding,
          found: finding.found.slice(0, MAX_FOUND),
        })),
      });
    }
  };
}
