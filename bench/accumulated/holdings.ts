/** Costs of uniks that are sent to and from a wallet, beside others that it holds. */
import { applyTransaction, type Change, createDraft, type StateReader } from "@uniknode/ledger";
import { createNetwork, type Network, unitnet } from "@uniknode/protocol";
import { DEV_ADDRESS_VERSION } from "../../packages/node/src/dev-chain/network.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { type Database, openDatabase } from "../../packages/node/src/store/engine/database.ts";
import { migrate } from "../../packages/node/src/store/engine/migrations.ts";
import { StateStore, UndoStore } from "../../packages/node/src/store/state/state.ts";
import { sender } from "../api/dataset.ts";
import { cpuUsOf } from "./cpu.ts";

/** Uniks of a block: as many transfers as it can contain. */
const SENT = 280;
const BLOCKS = 20;
const [FROM, HOLDER] = [sender(0), sender(1)];

/** Executes, stores and reverts blocks that send 280 uniks to the wallet, and from it, in turns. */
export function measureHoldings(path: string, held: number): void {
  const database = openDatabase(path);
  migrate(database);
  database.transaction(() => {
    for (const [{ address, publicKey }, first, count] of [
      [FROM, 0, SENT],
      [HOLDER, SENT, held],
    ] as const)
      giveUniks(database, { address, publicKey }, first, count);
  });
  const state = new StateStore(database, { cacheSize: 10_000 });
  const undo = new UndoStore(database);
  const network = openNetwork();
  const us = { execute: 0, store: 0, revert: 0 };
  for (let height = 10; height < 10 + BLOCKS; height++) {
    let changes: readonly Change[] = [];
    us.execute += cpuUsOf(() => {
      changes = changesOf(state, network, height);
      state.write(changes);
    });
    us.store += cpuUsOf(() =>
      database.transaction(() => {
        undo.append(height, changes);
        state.flush();
      }),
    );
  }
  const longest = database.prepare<{ bytes: number }>("SELECT max(length(changes)) AS bytes FROM undo").get();
  us.revert = cpuUsOf(() =>
    database.transaction(() => {
      for (let height = 9 + BLOCKS; height >= 10; height--) state.write(present(undo.read(height)));
      state.flush();
    }),
  );
  const ms = (sum: number) => (sum / BLOCKS / 1_000).toFixed(1);
  console.log(
    `${SENT} uniks to and from a wallet that holds ${held}: ${ms(us.execute)} ms to execute, ${ms(us.store)} to store, ${ms(us.revert)} to revert; undo record of ${longest?.bytes} bytes`,
  );
  database.close();
}

const idOf = (number: number) => number.toString(16).padStart(64, "0");

function giveUniks(
  database: Database,
  { address, publicKey }: { readonly address: string; readonly publicKey: string },
  first: number,
  count: number,
): void {
  const holding = database.prepare("INSERT INTO holdings VALUES (?, 'tokens', ?, ?, ?, '{\"type\":1}')");
  const token = database.prepare("INSERT INTO tokens VALUES (?, ?, ?, ?)");
  const last = first + count - 1;
  for (let number = first; number <= last; number++) {
    const previous = number === first ? null : idOf(number - 1);
    holding.run(address, idOf(number), previous, number === last ? null : idOf(number + 1));
    token.run(idOf(number), address, idOf(1), idOf(1));
  }
  const tokens = { size: count, first: idOf(first), last: idOf(last) };
  const attributes = JSON.stringify({ tokens });
  const wallet = database.prepare("INSERT INTO wallets VALUES (?, ?, 1000000000, 0, NULL, NULL, NULL, ?)");
  wallet.run(address, publicKey, attributes);
}

function changesOf(state: StateReader, network: Network, height: number): readonly Change[] {
  const isBack = height % 2 === 1;
  const [{ publicKey }, { address }] = isBack ? [HOLDER, FROM] : [FROM, HOLDER];
  const draft = createDraft(state);
  const head = { height, timestamp: 80 };
  const milestone = network.milestoneAt(height);
  const context = { network, milestone, head, state: draft, draft, assumesSignatures: true };
  const first = ((height - 10) >> 1) * SENT + 1;
  for (let number = 0; number < SENT; number++) {
    const asset = { nft: { unik: { tokenId: idOf(number) } } };
    const body = { version: 2, network: 30, typeGroup: 2000, type: 2, fee: 1n, amount: 0n, asset };
    const parties = { senderPublicKey: publicKey, recipientId: address, nonce: BigInt(first + number) };
    applyTransaction({ ...body, ...parties, id: idOf(number) }, context);
  }
  return draft.changes();
}

/** A network whose milestones allow every transaction of the benchmark. */
export function openNetwork(): Network {
  const [genesisMilestone] = unitnet.milestones;
  return createNetwork({
    ...unitnet,
    network: { ...unitnet.network, pubKeyHash: DEV_ADDRESS_VERSION },
    milestones: [{ ...present(genesisMilestone), vendorFieldLength: 255, height: 1 }],
  });
}
