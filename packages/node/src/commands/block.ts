/** `uniknode block`: shows a block. */
import type { Client } from "@uniknode/client";
import { Command } from "commander";
import { tokensOf } from "../submission/amounts.ts";
import { queryCommand, type Shown, table } from "./connection.ts";

export const blockCommand = (): Command =>
  queryCommand(
    new Command("block").argument("[id]", "id or height of the block (default: the head)"),
    showBlock,
  );

async function showBlock({ blocks }: Client, id: string | undefined): Promise<Shown> {
  const { data: block } = await (id === undefined ? blocks.last() : blocks.get(id));
  const { forged, generator } = block;
  return [
    block,
    table([
      ["height", block.height],
      ["id", block.id],
      ["previous", block.previous],
      ["time", block.timestamp.human],
      ["forged by", generator.username ?? generator.address],
      ["transactions", block.transactions],
      ["amount", tokensOf(BigInt(forged.amount))],
      ["fees", tokensOf(BigInt(forged.fee))],
      ["reward", tokensOf(BigInt(forged.reward))],
      ["confirmations", block.confirmations],
    ]),
  ];
}
