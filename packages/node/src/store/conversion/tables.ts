/**
 * Rules for copying the rows of earlier versions to the schema of this one. A rule about an earlier name or form applies only to
 * databases that have it: others already have the name or the form of this version. What a database does not have is not copied.
 */

/** Returns the condition that a row of a table of the source is in the range to copy. */
export type InRange = (table: string) => string;

export type TableCopy = {
  readonly table: string;
  /** Its earlier name. */
  readonly from: string;
  /** SQL expressions of columns that the earlier table does not have; all others are copied by name. */
  readonly columns?: Readonly<Record<string, string>>;
  /** Another way to copy the rows of earlier tables, if expressions are not enough. */
  readonly earlier?: EarlierForm;
};

export type EarlierForm = {
  /** A column that only tables of this form have. */
  readonly column: string;
  /** Returns the statements for the rows of a range. Each contains the range once; the last one copies the rows. */
  readonly statements: (inRange: InRange) => readonly string[];
};

/** Tables that follow from the blocks. Other tables belong to the node, and may contain secrets. */
export const CHAIN_COPIES: readonly TableCopy[] = [
  { table: "generators", from: "generators" },
  { table: "blocks", from: "blocks", earlier: { column: "payload_hash", statements: blocks } },
  { table: "senders", from: "senders" },
  { table: "recipients", from: "recipients" },
  { table: "transactions", from: "transactions", earlier: { column: "timestamp", statements: transactions } },
  { table: "payees", from: "payees", earlier: { column: "address", statements: payees } },
  // If the source has no holdings, `fillHoldings` moves them there from the attributes of wallets.
  { table: "wallets", from: "wallets" },
  { table: "holdings", from: "holdings" },
  { table: "tokens", from: "tokens" },
  { table: "properties", from: "properties" },
  { table: "entries", from: "entries" },
  { table: "rounds", from: "rounds", earlier: { column: "record", statements: rounds } },
  { table: "undo", from: "undo" },
];

/** The tree of facts is not copied, but built from the copied blocks: its root verifies them. */
export const NODE_COPIES: readonly TableCopy[] = [
  ...same("meta", "type_totals", "feed_changes"),
  ...same("pool", "forged_slots", "missed_slots", "peers", "bans"),
  ...same("events", "cursors", "remote_names"),
  { table: "subscribed_events", from: "wanted" },
  ...same("webhooks", "webhook_aliases", "removed_webhooks", "contents"),
  { table: "webhook_register", from: "register" },
  { table: "deliveries", from: "deliveries", columns: { is_retracted: "1 - stands" } },
  ...same("queues"),
  { table: "attempts", from: "attempts", columns: { response: "answer" } },
  ...same("attempt_counts"),
  { table: "block_reverts", from: "reversals" },
  { table: "unconfirmed_events", from: "held" },
  {
    table: "finishing_queues",
    from: "endings",
    columns: { unconfirmed_up_to: "held_up_to", with_retractions: "with_reversals" },
  },
  { table: "restarting_queues", from: "restarts" },
  { table: "replays", from: "replays", columns: { last_delivery: "told_before" } },
];

function same(...tables: readonly string[]): TableCopy[] {
  return tables.map((table) => ({ table, from: table }));
}

/** Ids and public keys were hexadecimal text; the number of transactions up to a block had a table of its own. */
function blocks(inRange: InRange): readonly string[] {
  const where = inRange("source.blocks");
  return [
    `INSERT OR IGNORE INTO generators (public_key)
     SELECT unhex(generator) FROM source.blocks WHERE ${where} GROUP BY generator ORDER BY min(height)`,
    `INSERT INTO main.blocks
     SELECT height, iif(length(id) = 64, unhex(id), id), version, timestamp, number_of_transactions, transactions,
       total_amount, total_fee, reward, payload_length, number, header
     FROM source.blocks CROSS JOIN source.block_ends USING (height)
       CROSS JOIN generators ON public_key = unhex(generator)
     WHERE ${where} ORDER BY height`,
  ];
}

/** Ids, public keys, addresses and signatures were text; each row had the timestamp of its block. */
function transactions(inRange: InRange): readonly string[] {
  const where = inRange("source.transactions");
  const firstUse = "min(height * 1048576 + sequence)";
  const last = (start: string) => `lower(hex(substr(bytes, ${start})))`;
  return [
    `INSERT OR IGNORE INTO senders (public_key)
     SELECT unhex(sender) FROM source.transactions WHERE ${where} GROUP BY sender ORDER BY ${firstUse}`,
    `INSERT OR IGNORE INTO recipients (address)
     SELECT recipient FROM source.transactions WHERE recipient IS NOT NULL AND ${where}
     GROUP BY recipient ORDER BY ${firstUse}`,
    `INSERT INTO main.transactions
     SELECT height, sequence, unhex(id), version, type_group, type, senders.number, recipients.number, nonce, amount, fee,
       vendor_field, is_alive,
       CASE signatures
         WHEN '"signature":"' || ${last("-64")} || '"' THEN 1
         WHEN '"signature":"' || ${last("-128, 64")} || '","signSignature":"' || ${last("-64")} || '"' THEN 2
         ELSE 0
       END,
       asset, bytes
     FROM source.transactions
       CROSS JOIN senders ON public_key = unhex(sender)
       LEFT JOIN recipients ON address = recipient
     WHERE ${where} ORDER BY height, sequence`,
  ];
}

/** The recipients of multi-payments were text. */
function payees(inRange: InRange): readonly string[] {
  const where = inRange("source.payees");
  return [
    `INSERT OR IGNORE INTO recipients (address) SELECT DISTINCT address FROM source.payees WHERE ${where}`,
    `INSERT INTO main.payees
     SELECT number, height, sequence FROM source.payees CROSS JOIN recipients USING (address) WHERE ${where}`,
  ];
}

/** Rounds were JSON: public keys and vote balances by rank, and the forging order as ranks. */
function rounds(inRange: InRange): readonly string[] {
  const where = inRange("source.rounds");
  return [
    `INSERT OR IGNORE INTO generators (public_key)
     SELECT DISTINCT unhex(delegate.value ->> 'publicKey')
     FROM source.rounds, json_each(record, '$.delegates') AS delegate WHERE ${where}`,
    `INSERT INTO main.rounds
     SELECT round, height, unhex(group_concat(
       printf('%06x%016x%04x', number, CAST(delegate.value ->> 'voteBalance' AS INTEGER), item.value), ''
       ORDER BY delegate.key
     ))
     FROM source.rounds
       CROSS JOIN json_each(record, '$.delegates') AS delegate
       CROSS JOIN json_each(record, '$.order') AS item ON item.key = delegate.key
       CROSS JOIN generators ON public_key = unhex(delegate.value ->> 'publicKey')
     WHERE ${where} GROUP BY round`,
  ];
}
