/** `uniknode status`, `block`, `unik` and `checkpoint`: show a node and its chain. */
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

const KINDS: Readonly<Record<string, string>> = { 1: "individual", 2: "organization", 3: "network" };

export const unikCommand = (): Command =>
  queryCommand(new Command("unik").argument("<id>", "id of the unik, 64 hexadecimal digits"), showUnik);

async function showUnik({ uniks }: Client, id: string): Promise<Shown> {
  const { data: unik } = await uniks.get(id);
  const properties: [key: string, value: string][] = [];
  for await (const property of uniks.properties(id)) properties.push(...Object.entries(property));
  return [
    { ...unik, properties: Object.fromEntries(properties) },
    [
      ...table([
        ["id", unik.id],
        ["owner", unik.ownerId],
        ["type", KINDS[unik.type ?? ""] ?? unik.type],
        ["names", unik.explicitValues?.join(", ")],
        ["minted by", unik.transactions.first.id],
        ["changed by", unik.transactions.last.id],
      ]),
      ...properties.map(([key, value]) => `  ${key} = ${value}`),
    ],
  ];
}

export const checkpointCommand = (): Command => queryCommand(new Command("checkpoint"), showCheckpoint);

async function showCheckpoint(client: Client): Promise<Shown> {
  // The other commands of this file do not need the cryptography.
  const { checkpointText, createCheckpoint } = await import("@uniknode/client/proofs");
  const checkpoint = await createCheckpoint(client);
  return [checkpoint, checkpointText(checkpoint).trimEnd().split("\n")];
}
