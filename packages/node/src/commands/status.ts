/** `uniknode status`: shows the state of a node and its chain. */
import type { AssumedBlock, Client, SyncProgress } from "@uniknode/client";
import { Command } from "commander";
import { tokensOf } from "../submission/amounts.ts";
import { queryCommand, type Shown, table } from "./connection.ts";

export const statusCommand = (): Command => queryCommand(new Command("status"), showStatus);

async function showStatus({ blockchain, node, peers, transactions }: Client): Promise<Shown> {
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
  return [
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
  ];
}

const shown = ({ percent, blocksPerSecond, secondsLeft }: SyncProgress): string =>
  `${percent} %, ${blocksPerSecond} blocks/s${secondsLeft === undefined ? "" : `, ${secondsLeft} s left`}`;

const unchecked = ({ height, uncheckedFrom }: AssumedBlock): string =>
  `${uncheckedFrom === undefined ? "no signatures yet" : `signatures from block ${uncheckedFrom} on`}, up to block ${height}`;
