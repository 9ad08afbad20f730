/** `uniknode forger why`: shows why slots of this node's delegates were missed. */
import { Command, InvalidArgumentError } from "commander";
import { databaseOf } from "../archive/database.ts";
import { runOptions } from "../config/options.ts";
import { openReader } from "../store/engine/migrations.ts";
import { type MissedSlot, SlotStore } from "../store/node/slots.ts";
import { addFlags, readConfig } from "./flags.ts";
import { printLines, printText } from "./print.ts";

const { data } = runOptions;
/** Number of slots shown by default. */
const LATEST = 20;

export function forgerCommand(): Command {
  const command = new Command("forger");
  const why = command
    .command("why")
    .description("show why slots of this node's delegates were missed; also while the node runs")
    .option("--slot <N>", "Show only this slot (default: the latest ones).", readSlot);
  addFlags(why, { data }).action(() => {
    const { slot } = why.opts<{ slot?: number }>();
    const missed = missedIn(readConfig(why, { data }).data, slot);
    printLines(missed.map(toLine));
    if (missed.length > 0) return;
    const what = slot === undefined ? "no slot was missed" : `slot ${slot} was not missed by this node`;
    printText(`${what}, according to the data folder`);
  });
  return command;
}

function missedIn(folder: string, slot: number | undefined): MissedSlot[] {
  const database = openReader(databaseOf(folder), { acceptsOlder: true });
  try {
    const slots = new SlotStore(database);
    return slot === undefined ? slots.missed(LATEST) : slots.missedAt(slot);
  } finally {
    database.close();
  }
}

const toLine = ({ slot, publicKey, reason }: MissedSlot): string => `slot ${slot}, ${publicKey}: ${reason}`;

function readSlot(text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new InvalidArgumentError("A slot number is expected.");
  return Number(text);
}
