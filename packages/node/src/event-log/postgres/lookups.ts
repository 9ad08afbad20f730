/** Reads the rows of the mirror from which the facts of blocks are derived, in addition to the blocks. */
import type { Round } from "@uniknode/ledger";
import { createRounds, headerFromTrustedBytes, type Network } from "@uniknode/protocol";
import type { Query } from "../../postgres/connection.ts";
import type { FactLookups } from "../../store/chain/fact-lookups.ts";
import { type RoundJson, roundFromJson } from "../../store/state/json.ts";
import type { BlockRange } from "./stored-blocks.ts";

type HeaderRow = { height: string; id: string; header: Uint8Array };

/**
 * Reads all values from which the facts of consecutive blocks are derived, except owners of tokens. The derivation is
 * synchronous, and cannot read them itself.
 */
export async function readLookups(
  query: Query,
  { first, last }: BlockRange,
  network: Network,
): Promise<Omit<FactLookups, "ownerAfter">> {
  const calendar = createRounds(network);
  const { round, roundHeight } = calendar.roundAt(first);
  const [previous, generators, rounds] = await Promise.all([
    query<HeaderRow>("SELECT height, id, header FROM blocks WHERE height = $1", [first - 1]),
    query<{ height: string; generator: string }>(
      "SELECT height, generator FROM blocks WHERE height BETWEEN $1 AND $2",
      [roundHeight, last],
    ),
    query<{ record: string }>("SELECT record FROM rounds WHERE round BETWEEN $1 AND $2", [
      round,
      calendar.roundAt(last + 1).round,
    ]),
  ]);
  const headers = new Map(
    previous.map(({ height, id, header }) => [Number(height), headerFromTrustedBytes(header, id)]),
  );
  const byRound = new Map(
    rounds
      .map(({ record }): Round => roundFromJson(JSON.parse(record) as RoundJson))
      .map((known) => [known.round, known]),
  );
  return {
    header: (height) => headers.get(height),
    round: (number) => byRound.get(number),
    generators: (from, to) =>
      new Set(
        generators
          .filter(({ height }) => Number(height) >= from && Number(height) <= to)
          .map(({ generator }) => generator),
      ),
  };
}
