/** The recorded steps of a dev chain: in memory, up to a bound, without ids and times. */
import type { Branch, Step } from "@uniknode/client/testing";
import type { ChainCommand } from "../../gateway/dev-commands.ts";
import type { Performed } from "../commands.ts";

/** Maximum of recorded steps; a scenario has room for the expectations. */
const MAX_STEPS = 900;
/** Maximum of characters of all steps; a file has space between them. */
const MAX_CHARACTERS = 200_000;
/** Maximum of blocks of a step. */
const MAX_BLOCKS = 1_000;

export type Journal = {
  readonly startHeight: number;
  readonly steps: Step[];
  /** Positions of steps by the id of their transaction. */
  readonly transactions: Map<string, number>;
  /** Length of the steps as JSON. */
  characters: number;
  /** True after a step that did not fit. */
  isFull: boolean;
};

export const createJournal = (startHeight: number): Journal => ({
  startHeight,
  steps: [],
  transactions: new Map(),
  characters: 0,
  isFull: false,
});

function add(journal: Journal, step: Step): void {
  journal.characters += JSON.stringify(step).length;
  journal.isFull ||= journal.steps.length === MAX_STEPS || journal.characters > MAX_CHARACTERS;
  if (!journal.isFull) journal.steps.push(step);
}

/** Adds blocks to the step before, if it mines as well: an idle chain adds one step for many blocks. */
export function addMined(journal: Journal, blocks: number): void {
  const last = journal.steps.at(-1);
  const free = last && "mine" in last ? MAX_BLOCKS - last.mine : 0;
  const added = Math.min(free, blocks);
  if (last && "mine" in last && added > 0 && !journal.isFull) {
    journal.steps[journal.steps.length - 1] = { mine: last.mine + added };
  }
  if (blocks > added) add(journal, { mine: blocks - added });
}

export function addTransaction(journal: Journal, id: string, step: Step): void {
  journal.transactions.set(id, journal.steps.length);
  add(journal, step);
}

/** Adds a command that has been performed. Mined blocks are added when the chain applies them. */
export function addCommand(
  journal: Journal,
  command: ChainCommand,
  { reverted, movedSeconds }: Performed,
): void {
  if (command.name === "travel" && movedSeconds > 0) add(journal, { travel: durationOf(movedSeconds) });
  if (command.name === "reorg") add(journal, { reorganise: branchOf(journal, command) });
  if (command.name !== "restore") return;
  add(journal, { restore: reverted.length });
  // Dropped transactions can be submitted again.
  journal.transactions.clear();
}

const UNITS = { d: 86_400, h: 3_600, m: 60, s: 1 };

function durationOf(seconds: number): string {
  const unit = Object.entries(UNITS).find(([, length]) => seconds % length === 0) ?? ["s", 1];
  return `${seconds / unit[1]}${unit[0]}`;
}

function branchOf(
  journal: Journal,
  { depth, blocks = depth + 1, withTransactions, leftOut = [] }: ChainCommand & { name: "reorg" },
): number | Branch {
  const without = leftOut.flatMap((id) => nameTransaction(journal, id) ?? []);
  if (blocks === depth + 1 && !withTransactions) return depth;
  return {
    depth,
    ...(blocks !== depth + 1 && { blocks }),
    ...(withTransactions && { transactions: true }),
    ...(without.length > 0 && { without }),
  };
}

/** Names the step of a transaction; undefined if the transaction was not recorded. */
function nameTransaction({ steps, transactions }: Journal, id: string): string | undefined {
  const position = transactions.get(id);
  const step = position === undefined ? undefined : steps[position];
  if (step === undefined || position === undefined || "note" in step) return undefined;
  const [[verb, value] = []] = Object.entries(step);
  const name = (value as { as?: string }).as ?? `transaction ${position}`;
  steps[position] = { [`${verb}`]: { ...(value as object), as: name } } as unknown as Step;
  return name;
}
