/** The webhooks that take part in matching, ready to be asked: by the name of the event, conditions compiled. */
import type { Logger } from "pino";
import { heardNames } from "../../events/names.ts";
import type { ActiveWebhook, WebhookStore } from "../../store/webhooks.ts";
import { type Condition, compileConditions } from "../conditions/conditions.ts";
import { parseJson } from "../json.ts";

/** A webhook that takes part. */
export type Definition = ActiveWebhook & { readonly fires: (content: unknown) => boolean };

/** A webhook that hears an event, and what it calls it. */
export type Listener = { readonly definition: Definition; readonly name: string };

export type Definitions = {
  /** By ascending id, as the register is at this moment. */
  forEvent(name: string): readonly Listener[];
  find(webhook: number): Definition | undefined;
  /** Those that hear of facts only when their blocks are deep enough. */
  confirming(): readonly Definition[];
};

export type DefinitionDeps = {
  webhooks: Pick<WebhookStore, "version" | "active">;
  logger: Logger;
};

export function createDefinitions({ webhooks, logger }: DefinitionDeps): Definitions {
  let version: number | undefined;
  let definitions = new Map<number, Definition>();
  let confirming: Definition[] = [];
  let byName = new Map<string, Listener[]>();

  /** Other processes may write the register, too. Conditions that stayed the same stay compiled. */
  function refresh(): void {
    const current = webhooks.version();
    if (current === version) return;
    const before = definitions;
    definitions = new Map(
      webhooks.active().map((webhook) => {
        const known = before.get(webhook.id);
        const isSame = known?.conditions === webhook.conditions && known.match === webhook.match;
        return [webhook.id, { ...webhook, fires: isSame ? known.fires : compile(webhook) }];
      }),
    );
    confirming = [...definitions.values()].filter(({ confirmations }) => confirmations > 0);
    byName = new Map();
    for (const definition of definitions.values()) {
      const { event, events } = definition;
      for (const [logged, name] of heardNames(event === null ? events : [event, ...events])) {
        const listeners = byName.get(logged) ?? [];
        byName.set(logged, listeners);
        listeners.push({ definition, name });
      }
    }
    version = current;
  }

  function compile({ id, conditions, match }: ActiveWebhook): Definition["fires"] {
    try {
      return compileConditions(parseJson(conditions) as Condition[], match);
    } catch (error) {
      logger.error({ webhook: id, err: error }, "conditions of a webhook cannot be read; it does not fire");
      return () => false;
    }
  }

  return {
    forEvent(name) {
      refresh();
      return byName.get(name) ?? [];
    },
    find(webhook) {
      refresh();
      return definitions.get(webhook);
    },
    confirming() {
      refresh();
      return confirming;
    },
  };
}
