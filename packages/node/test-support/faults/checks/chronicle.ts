/** Changes of the chain, which triggers on its tables record in the same transactions, independently of the event log. */
import { present } from "../../../src/platform/present.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";

/** Transaction as in its row of the chain's table. */
export type ChainTransaction = {
  readonly id: string;
  /** Group and type: `1/0`. */
  readonly type: string;
  readonly sender: string;
  readonly recipient: string | null;
  readonly amount: number;
  readonly vendorField: string | null;
  readonly asset: {
    readonly votes?: readonly string[];
    readonly payments?: readonly { readonly recipientId: string }[];
  } | null;
  /** The recipient never received anything before, and did not exist when the chronicle began. */
  readonly isFirst: boolean;
};

export type ChainBlock = {
  readonly height: number;
  readonly id: string;
  /** Public key. */
  readonly generator: string;
  readonly transactions: readonly ChainTransaction[];
};

/** Wallet as in its row of the chain's table, numbers as text. */
export type ChainWallet = { readonly balance: string; readonly nonce: string };

/** A block was applied or reverted. `position` increases with each. */
export type Change = {
  readonly position: number;
  readonly kind: "applied" | "reverted";
  readonly block: ChainBlock;
};

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS chronicle (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    height INTEGER NOT NULL,
    block_id TEXT,
    generator TEXT,
    transaction_row TEXT
  );
  CREATE TABLE IF NOT EXISTS first_wallets AS SELECT address FROM wallets;
  CREATE INDEX IF NOT EXISTS first_wallets_address ON first_wallets (address);
  CREATE TRIGGER IF NOT EXISTS block_came AFTER INSERT ON blocks BEGIN
    INSERT INTO chronicle (kind, height, block_id, generator)
    VALUES ('applied', new.height, new.id_text,
      (SELECT lower(hex(public_key)) FROM generators WHERE number = new.generator));
  END;
  CREATE TRIGGER IF NOT EXISTS block_left AFTER DELETE ON blocks BEGIN
    INSERT INTO chronicle (kind, height, block_id) VALUES ('reverted', old.height, old.id_text);
  END;
  CREATE TRIGGER IF NOT EXISTS transaction_came AFTER INSERT ON transactions BEGIN
    INSERT INTO chronicle (kind, height, transaction_row) VALUES ('transaction', new.height, json_object(
      'id', new.id_text, 'type', new.type_group || '/' || new.type,
      'sender', (SELECT lower(hex(public_key)) FROM senders WHERE number = new.sender),
      'recipient', (SELECT address FROM recipients WHERE number = new.recipient),
      'amount', new.amount, 'vendorField', new.vendor_field, 'asset', json(new.asset),
      'isFirst', json(iif((SELECT count(*) FROM transactions WHERE recipient = new.recipient) = 1
        AND NOT EXISTS (SELECT 1 FROM first_wallets
          WHERE address = (SELECT address FROM recipients WHERE number = new.recipient)), 'true', 'false'))));
  END;
`;

export function beginChronicle(path: string): void {
  const database = openDatabase(path);
  try {
    database.transaction(() => database.execute(SCHEMA));
  } finally {
    database.close();
  }
}

type Row = {
  position: number;
  kind: "applied" | "reverted" | "transaction";
  height: number;
  block_id: string | null;
  generator: string | null;
  transaction_row: string | null;
};

export class Chronicle {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Position of the last change. */
  position(): number {
    const sql = "SELECT max(position) AS position FROM chronicle";
    return this.#database.prepare<{ position: number | null }>(sql).get()?.position ?? 0;
  }

  /** Every wallet in its current state, by address. */
  wallets(): Map<string, ChainWallet> {
    const rows = this.#database.prepare<ChainWallet & { address: string }>(
      "SELECT address, CAST(balance AS TEXT) AS balance, CAST(nonce AS TEXT) AS nonce FROM wallets",
    );
    return new Map(rows.all().map(({ address, ...wallet }) => [address, wallet]));
  }

  changes(): Change[] {
    const rows = this.#database.prepare<Row>("SELECT * FROM chronicle ORDER BY position").all();
    const blocks = new Map<string, ChainBlock & { transactions: ChainTransaction[] }>();
    const atHeight = new Map<number, string>();
    const changes: Change[] = [];
    for (const { position, kind, height, block_id, generator, transaction_row } of rows) {
      if (kind === "transaction") {
        const { transactions } = present(blocks.get(present(atHeight.get(height))));
        transactions.push(JSON.parse(present(transaction_row)));
        continue;
      }
      const id = present(block_id);
      if (kind === "applied") {
        blocks.set(id, { height, id, generator: present(generator), transactions: [] });
        atHeight.set(height, id);
      }
      const block = blocks.get(id);
      // Blocks from before the start of the chronicle are not delivered.
      if (block) changes.push({ position, kind, block });
    }
    return inOrder(changes);
  }
}

/** One commit deletes several blocks in no particular order of rows: the highest is reverted first. */
function inOrder(changes: readonly Change[]): Change[] {
  const runs: Change[][] = [];
  for (const change of changes) {
    const run = runs.at(-1);
    if (run && change.kind === "reverted" && run[0]?.kind === "reverted") run.push(change);
    else runs.push([change]);
  }
  return runs.flatMap((run) => run.sort((a, b) => b.block.height - a.block.height));
}
