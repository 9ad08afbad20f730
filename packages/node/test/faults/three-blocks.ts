/** Three blocks, of which the last is replaced by another, and the correct deliveries of a receiver of every block. */
import { expect } from "vitest";
import { present } from "../../src/platform/present.ts";
import { people } from "../../test-support/chain/cast.ts";
import type { Arrival, Message } from "../../test-support/faults/actors/receiver.ts";
import type { ChainBlock, ChainTransaction, Change } from "../../test-support/faults/checks/chronicle.ts";
import { kindsOf } from "../../test-support/faults/checks/kinds.ts";

export const GENERATOR = people("generator");
const kinds = kindsOf(people("watched"));
export const kindNamed = (name: string) => present(kinds.find((kind) => kind.name === name));

export const transaction = (id: string): ChainTransaction => ({
  ...{ id, type: "1/0", sender: people("sender").publicKey, recipient: "recipient" },
  ...{ amount: 1, vendorField: null, asset: null, isFirst: false },
});
export const block = (height: number, branch = ""): ChainBlock => ({
  ...{ height, id: `block${height}${branch}`, generator: GENERATOR.publicKey },
  transactions: [transaction(`tx${height}`)],
});
export const applied = (position: number, block: ChainBlock): Change => ({
  ...{ position, kind: "applied", block },
});

export const CHANGES: readonly Change[] = [
  applied(1, block(1)),
  applied(2, block(2)),
  applied(3, block(3)),
  { ...applied(4, block(3)), kind: "reverted" },
  applied(5, block(3, "b")),
];

export const message = (sequence: number, event: string, block: ChainBlock, reverts?: string): Message => ({
  ...{ event, id: `msg_${sequence}`, webhookId: 1, sequence },
  ...{ height: block.height, blockId: block.id, data: { id: block.id } },
  ...(reverts && { reverts }),
});

/** A message about the transaction of a block. */
export const transactionMessage = (sequence: number, block: ChainBlock, event = "transaction.applied") => ({
  ...message(sequence, event, block),
  data: { id: present(block.transactions[0]).id },
});

export const MESSAGES: readonly Message[] = [
  message(1, "block.applied", block(1)),
  message(2, "block.applied", block(2)),
  message(3, "block.applied", block(3)),
  message(4, "block.reverted", block(3), "msg_3"),
  message(5, "block.applied", block(3, "b")),
];

/** Arrival of a message, which was sent in the second of its sequence. */
export const arrival = (message: Message, more: Partial<Arrival> = {}): Arrival => ({
  ...{ message, id: message.id, body: JSON.stringify(message), isVerified: true },
  ...{ sentSeconds: message.sequence ?? 0, epoch: 1, isAccepted: true, ...more },
});

/** Matches faults of which one contains the text. */
export const withFault = (text: string) => expect.arrayContaining([expect.stringContaining(text)]);
