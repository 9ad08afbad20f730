/** Options that describe a webhook on the command line, and the conditions in them: `key operator value`. */
import { type Condition, EVERY_EVENT, type WebhookChanges } from "@uniknode/client";
import { type Command, InvalidArgumentError, Option } from "commander";
import { ConfigError } from "../../platform/coded-error.ts";
import { isOperatorName, operators } from "../../subscriptions/conditions/operators.ts";

export type FieldOptions = {
  readonly event?: readonly string[];
  readonly condition?: readonly string[];
  readonly match?: "any" | "all";
  readonly order?: "parallel" | "strict";
  readonly confirmations?: number;
  readonly name?: string;
  readonly proof?: boolean;
};

export type QueueOption = { readonly dropQueue?: boolean };

export const addQueueFlag = (command: Command): Command =>
  command.option("--drop-queue", "Cancel pending deliveries, which otherwise stay in the queue.");

export const queueOf = ({ dropQueue = false }: QueueOption): Pick<WebhookChanges, "queue"> =>
  dropQueue ? { queue: "drop" } : {};

export const addEventFlags = (command: Command): Command =>
  command
    .option(
      "--event <NAME>",
      "Name of an event, or a pattern such as transaction.*; may be given several times.",
      another,
    )
    .option(
      "--condition <TEXT>",
      'Condition such as "amount gte 100000000"; may be given several times.',
      another,
    )
    .addOption(
      new Option("--match <HOW>", "Whether any or all of the conditions must be true.").choices([
        "any",
        "all",
      ]),
    )
    .option(
      "--confirmations <N>",
      "Number of blocks that must follow before events are delivered.",
      readCount(0),
    );

export const addFields = (command: Command): Command =>
  addEventFlags(command)
    .option("--name <TEXT>", 'Display name of the webhook; "" removes it.')
    .addOption(
      new Option("--order <HOW>", "Order of deliveries; strict: each waits for the previous one.").choices([
        "parallel",
        "strict",
      ]),
    )
    .option("--proof", "Add a proof that the block is final, or contains the fact, to each delivery.")
    .option("--no-proof", "Send deliveries without proofs.");

/** Converts the given options to changes. */
export const changesOf = ({
  event,
  condition,
  match,
  order,
  confirmations,
  name,
  proof,
}: FieldOptions): Omit<WebhookChanges, "target" | "event"> => ({
  ...(event && { events: event }),
  ...(condition && { conditions: readConditions(condition) }),
  ...(match && { match }),
  ...(order && { order }),
  ...(confirmations !== undefined && { confirmations }),
  ...(proof !== undefined && { proof }),
  ...(name !== undefined && { name: name === "" ? null : name }),
});

export const readCount =
  (minimum: number) =>
  (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
    if (value < minimum) throw new InvalidArgumentError(`An integer of ${minimum} or more is expected.`);
    return value;
  };

const another = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

/**
 * Parses the conditions of a webhook; none means every event. The node checks the values.
 *
 * @throws {ConfigError} on an invalid format or an unknown operator
 */
export const readConditions = (texts: readonly string[]): Condition[] =>
  texts.length === 0 ? [EVERY_EVENT] : texts.map(readCondition);

/** Parses one condition. The value is the rest of the text, spaces included; some operators need none. */
function readCondition(text: string): Condition {
  const [, key, condition, value] = /^\s*(\S+)\s+(\S+)(?:\s+(.*?))?\s*$/.exec(text) ?? [];
  if (key === undefined || condition === undefined) {
    throw new ConfigError(
      `--condition: "key operator value" is expected, such as "amount gte 100000000", not ${JSON.stringify(text)}`,
    );
  }
  if (!isOperatorName(condition)) {
    throw new ConfigError(
      `--condition: "${condition}" is not an operator; the operators are ${Object.keys(operators).join(", ")}`,
    );
  }
  return { key, condition, ...(value !== undefined && { value }) };
}
