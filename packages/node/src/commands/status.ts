/** `uniknode status`: shows the state of a node and its chain. */
import type { AssumedBlock, SyncProgress } from "@uniknode/client";
import { Command } from "commander";
import { connectionOptions } from "../config/connection.ts";
import { tokensOf } from "../submission/amounts.ts";
import { connectTo, show, table } from "./connection.ts";
import { addFlags, readConfig } from "./options.ts";

export function statusCommand(): Command {
  const command = new Command("status").description("show the status of a node and its chain");
  return addFlags(command, connectionOptions).action(async () => {
    const connection = readConfig(command, connectionOptions);
    const { blockchain, node, peers, transactions } = connectTo(connection);
    const [head, status, configuration, known, pending] = await Promise.all([
      blockchain.get(),
      node.status(),
      node.configuration(),
      peers.list().page({ limit: 1 }),
      transactions.unconfirmed().page({ limit: 1 }),
    ]);
    const { block, supply } = head.data;
    const { synced, blocksCount, progress, assumeValid } = status.data;
    const { nethash, token, symbol, core } = configuration.data;
    const value = {
      height: block.height,
      id: block.id,
      synced,
      missingBlocks: blocksCount,
      ...(progress && { progress }),
      ...(assumeValid && { assumeValid }),
      supply: `${supply}`,
      nethash,
      token,
      version: core.version,
      peers: known.meta.totalCount,
      unconfirmed: pending.meta.totalCount,
    };
    show(
      connection,
      value,
      table([
        ["height", value.height],
        ["block", value.id],
        ["synced", synced ? "yes" : `no, ${blocksCount} blocks are missing`],
        ...(progress ? [["progress", shown(progress)] as const] : []),
        ...(assumeValid ? [["unchecked", unchecked(assumeValid)] as const] : []),
        ["peers", value.peers],
        ["in the pool", value.unconfirmed],
        ["supply", `${tokensOf(BigInt(supply))} ${symbol}`],
        ["network", nethash],
        ["version", `${value.version} protocol`],
      ]),
    );
  });
}

const shown = ({ percent, blocksPerSecond, secondsLeft }: SyncProgress): string =>
  `${percent} %, ${blocksPerSecond} blocks/s${secondsLeft === undefined ? "" : `, ${secondsLeft} s left`}`;

const unchecked = ({ height, uncheckedFrom }: AssumedBlock): string =>
  `${uncheckedFrom === undefined ? "no signatures yet" : `signatures from block ${uncheckedFrom} on`}, up to block ${height}`;
