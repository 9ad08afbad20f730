/** `uniknode block`: shows a block. */
import { Command } from "commander";
import { connectionOptions } from "../config/connection.ts";
import { tokensOf } from "../submission/amounts.ts";
import { connectTo, show, table } from "./connection.ts";
import { addFlags, readConfig } from "./options.ts";

export function blockCommand(): Command {
  const command = new Command("block")
    .description("show a block")
    .argument("[id]", "id or height of the block (default: the head)");
  return addFlags(command, connectionOptions).action(async (id: string | undefined) => {
    const connection = readConfig(command, connectionOptions);
    const { blocks } = connectTo(connection);
    const { data: block } = await (id === undefined ? blocks.last() : blocks.get(id));
    const { forged, generator } = block;
    show(
      connection,
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
    );
  });
}
