/** Follows a page as a reader: runs each block that is to be run, and compares its output with the page. */

import { until } from "../process/until.ts";
import { learnFromChain } from "./chain-values.ts";
import { type Block, commandsOf } from "./page.ts";
import { isShapeOf } from "./shape.ts";
import type { Terminal } from "./terminal.ts";

/** Characters of the output in an error. */
const MAX_SHOWN = 4_000;

export const START = "npm start";

/**
 * @returns the commands that were run
 * @throws {Error} that names the command that failed, or the expected and the printed output
 */
export async function follow(blocks: readonly Block[], terminal: Terminal): Promise<string[]> {
  const typed: string[] = [];
  let isRun = false;
  for (const block of blocks) {
    if (block.language === "sh") {
      isRun = block.notRun === undefined;
      if (!isRun) continue;
      for (const command of commandsOf(block)) {
        const isChain = await terminal.type(command);
        typed.push(command);
        if (isChain) await learnFromChain(terminal);
        learn(command, terminal);
      }
    }
    if (block.language === "text" && isRun && block.notRun === undefined) {
      await untilShown(block.text, terminal, typed.at(-1));
    }
  }
  return typed;
}

/** Waits until a program has printed what the page shows. */
async function untilShown(shown: string, { screens }: Terminal, command: string | undefined): Promise<void> {
  const printed = () => screens().map((screen) => screen.slice(0, MAX_SHOWN));
  await until(
    () => `${command}\n--- the page shows\n${shown}\n--- printed\n${printed().join("\n---\n")}`,
    () => screens().some((screen) => isShapeOf(shown, screen)),
  );
}

type JsonResponse = { readonly data?: { readonly id?: unknown; readonly token?: unknown } };

/** Values that a reader would copy from the screen. */
function learn(command: string, { screens, values }: Terminal): void {
  const [printed] = screens() as [string];
  const response = responseIn(printed);
  if (response) {
    const { id, token } = response.data ?? {};
    const isMade = token !== undefined || command.endsWith("/dev/snapshot");
    if (isMade) values.ID = `${id}`;
    if (typeof token === "string") values.SECRET = token;
    return;
  }
  const [, webhook] = /^id\s+(\d+)$/m.exec(printed) ?? [];
  if (webhook !== undefined) values.WEBHOOK = webhook;
  const [, lock] = /^id\s+([0-9a-f]{64})$/m.exec(printed) ?? [];
  if (lock !== undefined) values.LOCK = lock;
}

function responseIn(text: string): JsonResponse | undefined {
  try {
    return JSON.parse(text) as JsonResponse;
  } catch {
    return undefined;
  }
}
