/** Costs of registered delegates: the round that ranks all of them, and resignations, which count them. */
import { applyTransaction, type Change, createDraft, openRound, type StateReader } from "@uniknode/ledger";
import { createRounds, type Network } from "@uniknode/protocol";
import { present } from "../../packages/node/src/platform/present.ts";
import { type Database, openDatabase } from "../../packages/node/src/store/engine/database.ts";
import { migrate } from "../../packages/node/src/store/engine/migrations.ts";
import { StateStore, UndoStore } from "../../packages/node/src/store/state/state.ts";
import { sender } from "../api/dataset.ts";
import { cpuUsOf } from "./cpu.ts";
import { openNetwork } from "./holdings.ts";

const RESIGNATIONS = 280;
/** Votes of the first delegate: each has fewer than the one before. */
const MAX_VOTES = 1_000_000;

/** Opens rounds after which all delegates keep their ranks, or a newcomer takes the first one, and then resigns. */
export function measureDelegates(registered: number): void {
  const database = openDatabase(":memory:");
  migrate(database);
  addDelegates(database, 0, registered);
  const state = new StateStore(database, { cacheSize: 10_000 });
  const undo = new UndoStore(database);
  const network = openNetwork();
  const info = createRounds(network).roundAt(100);
  let height = 100;
  const round = () => {
    let changes: readonly Change[] = [];
    const openUs = cpuUsOf(() => {
      const draft = createDraft(state);
      openRound(draft, info, network.milestoneAt(height));
      changes = draft.changes();
      state.write(changes);
    });
    const storeUs = cpuUsOf(() =>
      database.transaction(() => {
        undo.append(height++, changes);
        state.flush();
      }),
    );
    return { openMs: openUs / 1_000, storeMs: storeUs / 1_000, changed: changes.length };
  };
  for (let run = 0; run < 5; run++) round();
  const show = ({ openMs, storeMs, changed }: ReturnType<typeof round>) =>
    `${openMs.toFixed(1)} ms and ${storeMs.toFixed(1)} ms to store ${changed} records`;
  console.log(`a round with ${registered} delegates that keep their ranks: ${show(round())}`);
  const { address } = sender(registered - 1);
  const last = present(state.get("wallets", address));
  const delegate = { ...present(last.attributes.delegate), voteBalance: 1_000_000_000n };
  state.write([
    { table: "wallets", key: address, after: { ...last, attributes: { ...last.attributes, delegate } } },
  ]);
  console.log(
    `a round with ${registered} delegates, the last one of which becomes the first: ${show(round())}`,
  );
  const count = Math.min(RESIGNATIONS, registered - 52);
  if (count > 0) {
    const us = cpuUsOf(() => resign(state, network, height, count));
    console.log(`${count} resignations among ${registered} delegates: ${(us / 1_000).toFixed(1)} ms`);
  }
  database.close();
}

export function addDelegates(database: Database, first: number, count: number): void {
  const wallet = database.prepare("INSERT INTO wallets VALUES (?, ?, 100000000000, 0, NULL, ?, NULL, ?)");
  database.transaction(() => {
    for (let index = first; index < first + count; index++) {
      const { address, publicKey } = sender(index);
      const username = `delegate_${index}`;
      const totals = { voteBalance: `${MAX_VOTES - index}`, forgedFees: "0", forgedRewards: "0" };
      const delegate = { username, ...totals, producedBlocks: 0, round: 0, type: 1 };
      wallet.run(address, publicKey, username, JSON.stringify({ delegate }));
    }
  });
}

function resign(state: StateReader, network: Network, height: number, count: number): void {
  const draft = createDraft(state);
  const head = { height, timestamp: 80 };
  const milestone = network.milestoneAt(height);
  const context = { network, milestone, head, state: draft, draft, assumesSignatures: true };
  for (let index = 0; index < count; index++) {
    const body = {
      version: 2,
      network: 30,
      typeGroup: 1,
      type: 7,
      nonce: 1n,
      fee: 2_500_000_000n,
      amount: 0n,
    };
    applyTransaction({ ...body, senderPublicKey: sender(index).publicKey, id: `${index}` }, context);
  }
}
