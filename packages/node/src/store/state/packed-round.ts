/**
 * Stores the rounds of the ledger as rows, with 13 bytes for each delegate, by rank:
 *
 *     u24 number of the public key, i64 vote balance, u16 item of the forging order; big endian
 *
 * An item of the forging order is the position of a delegate. Order and ranks have the same length.
 */
import type { Round } from "@uniknode/ledger";
import { present } from "../../platform/present.ts";
import type { Database, Statement } from "../engine/database.ts";
import { Dictionary, GENERATORS } from "../engine/dictionary.ts";

/** The columns of a round. */
export type RoundRow = { readonly round: number; readonly height: number; readonly delegates: Uint8Array };

const BYTES = 13;
const NUMBER_BYTES = 3;
const ORDER = 11;

export class RoundStore {
  readonly #generators: Dictionary;
  readonly #select: Statement<RoundRow>;
  readonly #upsert: Statement<unknown>;
  readonly #remove: Statement<unknown>;

  constructor(database: Database) {
    this.#generators = new Dictionary(database, GENERATORS);
    this.#select = database.prepare("SELECT round, height, delegates FROM rounds WHERE round = ?");
    this.#upsert = database.prepare("INSERT OR REPLACE INTO rounds VALUES (?, ?, ?)");
    this.#remove = database.prepare("DELETE FROM rounds WHERE round = ?");
  }

  read(round: number): Round | undefined {
    const row = this.#select.get(round);
    return row && unpackRound(row, this.#generators);
  }

  write(record: Round): void {
    const { round, height, delegates } = packRound(record, this.#generators);
    this.#upsert.run(round, height, delegates);
  }

  remove(round: number): void {
    this.#remove.run(round);
  }

  /** Discards the cache. Must be called if a transaction around `write` fails. */
  reset(): void {
    this.#generators.reset();
  }
}

/** @throws {RangeError} if a vote balance does not fit into 64 bits, as no balance does */
function packRound({ round, height, delegates, order }: Round, generators: Dictionary): RoundRow {
  const positions = new Map(delegates.map(({ publicKey }, position) => [publicKey, position]));
  const bytes = Buffer.alloc(delegates.length * BYTES);
  for (const [rank, { publicKey, voteBalance }] of delegates.entries()) {
    const start = rank * BYTES;
    bytes.writeUIntBE(generators.numberOf(publicKey), start, NUMBER_BYTES);
    bytes.writeBigInt64BE(voteBalance, start + NUMBER_BYTES);
    const slot = present(order[rank], "an item of the forging order");
    bytes.writeUInt16BE(present(positions.get(slot), "a delegate of the round"), start + ORDER);
  }
  return { round, height, delegates: bytes };
}

/** @throws {Error} if the bytes are damaged */
function unpackRound({ round, height, delegates: packed }: RoundRow, generators: Dictionary): Round {
  const bytes = toBuffer(round, packed);
  const starts = Array.from({ length: bytes.length / BYTES }, (_, rank) => rank * BYTES);
  const delegates = starts.map((start) => ({
    publicKey: generators.textOf(bytes.readUIntBE(start, NUMBER_BYTES)),
    voteBalance: bytes.readBigInt64BE(start + NUMBER_BYTES),
  }));
  const order = starts.map((start) => {
    const position = bytes.readUInt16BE(start + ORDER);
    return present(delegates[position], `delegate ${position} of round ${round}`).publicKey;
  });
  return { round, height, delegates, order };
}

/** Returns the JSON text of `roundToJson`, without a value for each delegate: a new mirror reads all rounds. */
export function packedRoundText(
  { round, height, delegates: packed }: RoundRow,
  generators: Dictionary,
): string {
  const bytes = toBuffer(round, packed);
  let delegates = "";
  let order = "";
  for (let start = 0; start < bytes.length; start += BYTES) {
    const separator = start === 0 ? "" : ",";
    const publicKey = generators.textOf(bytes.readUIntBE(start, NUMBER_BYTES));
    const voteBalance = bytes.readBigInt64BE(start + NUMBER_BYTES);
    delegates += `${separator}{"publicKey":"${publicKey}","voteBalance":"${voteBalance}"}`;
    order += `${separator}${bytes.readUInt16BE(start + ORDER)}`;
  }
  return `{"round":${round},"height":${height},"delegates":[${delegates}],"order":[${order}]}`;
}

/** @throws {Error} if the number of bytes is wrong */
function toBuffer(round: number, packed: Uint8Array): Buffer {
  if (packed.length % BYTES !== 0)
    throw new Error(`round ${round} has ${packed.length} bytes: it is damaged`);
  return Buffer.from(packed.buffer, packed.byteOffset, packed.length);
}
