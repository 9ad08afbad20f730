/** Commands of a dev chain from the forms of this screen, and their terminal and code forms. */
import type { Client, DevChange, ReceiverFailure, Reorganisation } from "@uniknode/client";

export type FailBody = { readonly webhook: number } & (ReceiverFailure | { readonly how: "not" });

export type Command =
  | { readonly name: "mine"; readonly body: { readonly blocks: number } }
  | { readonly name: "reorg"; readonly body: Reorganisation }
  | { readonly name: "snapshot"; readonly body: Readonly<Record<string, never>> }
  | { readonly name: "restore"; readonly body: { readonly id: string } }
  | { readonly name: "travel"; readonly body: { readonly seconds: number } }
  | { readonly name: "forge"; readonly body: { readonly enabled: boolean } }
  | { readonly name: "fail"; readonly body: FailBody };

/**
 * @returns undefined for a command that does not change the chain
 * @throws {ApiError}
 */
export async function run(dev: Client["dev"], { name, body }: Command): Promise<DevChange | undefined> {
  switch (name) {
    case "mine":
      return (await dev.mine(body)).data;
    case "reorg":
      return (await dev.reorg(body)).data;
    case "snapshot":
      return (await dev.snapshot()).data;
    case "restore":
      return (await dev.restore(body.id)).data;
    case "travel":
      return (await dev.travel(body)).data;
    case "forge":
      return (await dev.forge(body)).data;
    case "fail": {
      const { webhook, ...failure } = body;
      await dev.fail(webhook, failure);
      return undefined;
    }
  }
}

/** Builds the curl command, with `$TOKEN` for the webhook token. */
export const curlOf = ({ name, body }: Command, origin: string): string =>
  `curl -X POST -H "Authorization: $TOKEN" -H "Content-Type: application/json" \\
  -d '${JSON.stringify(body)}' ${origin}/api/v2/dev/${name}`;

export const programOf = (command: Command): string =>
  `await client.dev.${command.name}(${argumentsOf(command)});`;

function argumentsOf({ name, body }: Command): string {
  switch (name) {
    case "snapshot":
      return "";
    case "restore":
      return JSON.stringify(body.id);
    case "fail": {
      const { webhook, ...failure } = body;
      return `${webhook}, ${JSON.stringify(failure)}`;
    }
    default:
      return JSON.stringify(body);
  }
}

const blocksText = (count: number): string => `${count} ${count === 1 ? "block" : "blocks"}`;

/** Describes the result of a command in a sentence. */
export function outcomeOf({ name, body }: Command, change: DevChange | undefined): string {
  if (name === "fail") {
    const state = body.how === "not" ? "receives deliveries again" : "fails from now on";
    return `The receiver of webhook ${body.webhook} ${state}.`;
  }
  if (!change) throw new Error(`no result of the command ${name}`);
  const { reverted, applied, head, forging } = change;
  const at = `The head is at height ${head.height}.`;
  switch (name) {
    case "snapshot":
      return `Remembered height ${head.height}.`;
    case "forge":
      return forging ? "The chain forges automatically." : "Blocks are forged only on request.";
    case "travel":
      return "Moved the clock of the chain.";
    default: {
      const changes = [
        reverted.length > 0 && `${blocksText(reverted.length)} reverted`,
        applied.length > 0 && `${blocksText(applied.length)} applied`,
      ].filter(Boolean);
      return `${changes.join(", ") || "Nothing changed"}. ${at}`;
    }
  }
}
