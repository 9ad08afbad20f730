/** Active webhooks by the name of the event, with compiled conditions. */
import type { Logger } from "pino";
import { type Event, subscribedNames } from "../../events/catalogue.ts";
import { parseJson } from "../../platform/json/lossless.ts";
import { present } from "../../platform/present.ts";
import {
  type CompiledConditions,
  type Condition,
  compileConditions,
  type Match,
} from "../../subscriptions/conditions/conditions.ts";
import { MeteredConditions } from "../../subscriptions/conditions/cost.ts";
import { createLookup, type Entry, type Lookup } from "../../subscriptions/conditions/lookup.ts";
import type { Intake } from "../intake.ts";
import type { ActiveWebhook } from "../model/webhook.ts";

export type Definition = ActiveWebhook & {
  readonly list: readonly Condition[];
  /** Compiled conditions; the same object as long as they do not change. */
  readonly metered: MeteredConditions;
  /** Names that the subscriber receives, by the name of the event in the log. */
  readonly names: ReadonlyMap<string, string>;
};

/** A webhook that subscribes to an event, and its name for the event. */
export type Subscriber = { readonly definition: Definition; readonly name: string };

/** Reads the register again if another version is current. Unchanged conditions stay compiled. */
export class DefinitionReader {
  readonly #intake: Pick<Intake, "activeWebhooks">;
  readonly #logger: Logger;
  #current: Definitions | undefined;

  constructor(intake: Pick<Intake, "activeWebhooks">, logger: Logger) {
    this.#intake = intake;
    this.#logger = logger;
  }

  async read(): Promise<Definitions> {
    const changed = await this.#intake.activeWebhooks(this.#current?.version);
    if (changed) {
      const { version, webhooks } = changed;
      const definitions = webhooks.map((webhook) =>
        toDefinition(webhook, this.#current?.find(webhook.id), this.#logger),
      );
      this.#current = new Definitions(version, definitions);
    }
    return present(this.#current, "the first version of the register");
  }
}

/** The active webhooks of one version of the register. */
export class Definitions {
  readonly version: number;
  readonly #definitions: ReadonlyMap<number, Definition>;
  /** Indexes by event name, built at the first event of the name: changes of the register cost nothing for other events. */
  readonly #byName = new Map<string, Lookup<Subscriber>>();

  constructor(version: number, definitions: readonly Definition[]) {
    this.version = version;
    this.#definitions = new Map(definitions.map((definition) => [definition.id, definition]));
  }

  /** Returns candidates for an event by ascending id; they include all webhooks whose conditions hold. */
  forEvent({ name, data }: Pick<Event, "name" | "data">): readonly Subscriber[] {
    const lookup = this.#byName.get(name) ?? createLookup(entriesOf(this.#definitions.values(), name));
    this.#byName.set(name, lookup);
    return lookup(data);
  }

  find(webhook: number): Definition | undefined {
    return this.#definitions.get(webhook);
  }
}

function toDefinition(webhook: ActiveWebhook, previous: Definition | undefined, logger: Logger): Definition {
  const isSame = previous?.conditions === webhook.conditions && previous.match === webhook.match;
  const { list, metered } = isSame ? previous : compile(webhook, logger);
  const names = previous && isSameEvents(previous, webhook) ? previous.names : namesOf(webhook);
  return { ...webhook, list, metered, names };
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
      metered: new MeteredConditions((content, meter) => {
        compiled ??= compilePatterns(id, list, match, logger);
        return compiled(content, meter);
      }),
    };
  } catch (error) {
    logUnreadable(logger, id, error);
    return { list: [], metered: new MeteredConditions(NEVER) };
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
