/** The webhooks that take part in matching, ready to be asked: by the name of the event, conditions compiled. */
import type { Logger } from "pino";
import { loggedName } from "../../events/catalogue.ts";
import type { ActiveWebhook, WebhookStore } from "../../store/webhooks.ts";
import { type Condition, compileConditions } from "../conditions/conditions.ts";
import { parseJson } from "../json.ts";

/** A webhook that takes part. */
export type Definition = ActiveWebhook & { readonly fires: (content: unknown) => boolean };

export type Definitions = {
  /** By ascending id, as the register is at this moment. */
  forEvent(name: string): readonly Definition[];
};

export type DefinitionDeps = {
  webhooks: Pick<WebhookStore, "version" | "active">;
  logger: Logger;
};

export function createDefinitions({ webhooks, logger }: DefinitionDeps): Definitions {
  let version: number | undefined;
  let definitions = new Map<number, Definition>();
  let byName = new Map<string, Definition[]>();

  /** Other processes may write the register, too. Conditions that stayed the same stay compiled. */
  function refresh(): void {
    const current = webhooks.version();
    if (current === version) return;
    const before = definitions;
    definitions = new Map(
      webhooks.active().map((webhook) => {
        const known = before.get(webhook.id);
        const fires = known?.conditions === webhook.conditions ? known.fires : compile(webhook);
        return [webhook.id, { ...webhook, fires }];
      }),
    );
    byName = Map.groupBy(definitions.values(), ({ event }) => loggedName(event));
    version = current;
  }

  function compile({ id, conditions }: ActiveWebhook): Definition["fires"] {
    try {
      return compileConditions(parseJson(conditions) as Condition[]);
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
  };
}
