/** Active webhooks by the name of the event, with compiled conditions. */
import type { Logger } from "pino";
import type { Event } from "../../events/event.ts";
import { subscribedNames } from "../../events/names.ts";
import { parseJson } from "../../platform/json/lossless.ts";
import {
  type CompiledConditions,
  type Condition,
  compileConditions,
  type Match,
} from "../../subscriptions/conditions/conditions.ts";
import { type MeteredConditions, meterConditions } from "../../subscriptions/conditions/cost.ts";
import { createLookup, type Entry, type Lookup } from "../../subscriptions/conditions/lookup.ts";
import type { ActiveWebhook } from "../model/webhook.ts";
import type { RegisterRows } from "../register/rows.ts";

export type Definition = ActiveWebhook & {
  readonly list: readonly Condition[];
  /** Compiled conditions; the same object as long as they do not change. */
  readonly metered: MeteredConditions;
  /** Names that the subscriber receives, by the name of the event in the log. */
  readonly names: ReadonlyMap<string, string>;
};

/** A webhook that subscribes to an event, and its name for the event. */
export type Subscriber = { readonly definition: Definition; readonly name: string };

export type Definitions = {
  /**
   * Returns candidates for an event by ascending id, from the current register; they include all webhooks whose
   * conditions hold.
   */
  forEvent(event: Pick<Event, "name" | "data">): readonly Subscriber[];
  find(webhook: number): Definition | undefined;
};

export type DefinitionDeps = {
  webhooks: Pick<RegisterRows, "version" | "active">;
  logger: Logger;
};

type State = {
  version: number | undefined;
  definitions: Map<number, Definition>;
  /** Indexes by event name, built at the first event of the name: changes of the register cost nothing for other events. */
  byName: Map<string, Lookup<Subscriber>>;
};

export function createDefinitions(deps: DefinitionDeps): Definitions {
  const state: State = { version: undefined, definitions: new Map(), byName: new Map() };
  return {
    forEvent({ name, data }) {
      refresh(state, deps);
      return lookupOf(state, name)(data);
    },
    find(webhook) {
      refresh(state, deps);
      return state.definitions.get(webhook);
    },
  };
}

/** Reads the register again, which other processes may write too. Unchanged conditions stay compiled. */
function refresh(state: State, { webhooks, logger }: DefinitionDeps): void {
  const current = webhooks.version();
  if (current === state.version) return;
  const before = state.definitions;
  state.definitions = new Map(
    webhooks.active().map((webhook) => {
      const previous = before.get(webhook.id);
      const isSame = previous?.conditions === webhook.conditions && previous.match === webhook.match;
      const { list, metered } = isSame ? previous : compile(webhook, logger);
      const names = previous && isSameEvents(previous, webhook) ? previous.names : namesOf(webhook);
      return [webhook.id, { ...webhook, list, metered, names }];
    }),
  );
  state.byName = new Map();
  state.version = current;
}

function lookupOf({ byName, definitions }: State, logged: string): Lookup<Subscriber> {
  const known = byName.get(logged) ?? createLookup(entriesOf(definitions.values(), logged));
  byName.set(logged, known);
  return known;
}

function compile(
  { id, conditions, match }: ActiveWebhook,
  logger: Logger,
): Pick<Definition, "list" | "metered"> {
  try {
    const list = parseJson(conditions) as Condition[];
    // Unreadable conditions are reported now, except patterns: a register of them takes seconds to compile.
    compileConditions(list.filter(({ condition }) => condition !== "regexp"));
    let compiled: CompiledConditions | undefined;
    return {
      list,
      metered: meterConditions((content, meter) => {
        compiled ??= compilePatterns(id, list, match, logger);
        return compiled(content, meter);
      }),
    };
  } catch (error) {
    logUnreadable(logger, id, error);
    return { list: [], metered: meterConditions(NEVER) };
  }
}

function compilePatterns(
  id: number,
  list: readonly Condition[],
  match: Match,
  logger: Logger,
): CompiledConditions {
  try {
    return compileConditions(list, match);
  } catch (error) {
    logUnreadable(logger, id, error);
    return NEVER;
  }
}

function logUnreadable(logger: Logger, webhook: number, err: unknown): void {
  logger.error({ webhook, err }, "failed to read the conditions of a webhook; it receives no events");
}

const NEVER: CompiledConditions = () => false;

const namesOf = ({ event, events }: ActiveWebhook) =>
  subscribedNames(event === null ? events : [event, ...events]);

const isSameEvents = (a: ActiveWebhook, b: ActiveWebhook): boolean =>
  a.event === b.event &&
  a.events.length === b.events.length &&
  a.events.every((name, index) => name === b.events[index]);

function entriesOf(definitions: Iterable<Definition>, logged: string): Entry<Subscriber>[] {
  const entries: Entry<Subscriber>[] = [];
  for (const definition of definitions) {
    const { list: conditions, match, names } = definition;
    const name = names.get(logged);
    if (name !== undefined) entries.push({ conditions, match, value: { definition, name } });
  }
  return entries;
}
