/** Options that describe a webhook on the command line. */
import type { WebhookChanges } from "@uniknode/client";
import { type Command, InvalidArgumentError, Option } from "commander";
import { readConditions } from "../listen/condition.ts";

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
