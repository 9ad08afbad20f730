/** Statistics of paid fees. */
import type { Database } from "../../store/engine/database.ts";
import type { FeeStatistics, TypeFees } from "../rows.ts";

export type FeeQueries = {
  /** Returns the statistics of the last transactions of a type; undefined if the type has none. */
  ofLast(count: number, typeGroup: number, type: number): FeeStatistics | undefined;
  /** Returns the statistics by type of all transactions from a height on whose fee is at least `minFee`. */
  since(height: number, minFee: number): TypeFees[];
};

const STATISTICS = `CAST(SUM(fee) / COUNT(*) AS TEXT) AS avg, CAST(MAX(fee) AS TEXT) AS max,
  CAST(MIN(fee) AS TEXT) AS min, CAST(SUM(fee) AS TEXT) AS sum`;

export function createFeeQueries(database: Database): FeeQueries {
  const last = database.prepare<FeeStatistics>(
    `SELECT ${STATISTICS} FROM (
       SELECT fee FROM transactions WHERE type_group = +? AND type = +?
       ORDER BY height DESC, sequence DESC LIMIT +?
     ) HAVING COUNT(*) > 0`,
  );
  const since = database.prepare<TypeFees>(
    `SELECT type_group AS typeGroup, type, ${STATISTICS} FROM transactions
     WHERE height >= ? AND fee >= ? GROUP BY type_group, type ORDER BY type_group, type`,
  );
  return {
    ofLast: (count, typeGroup, type) => last.get(typeGroup, type, count),
    since: (height, minFee) => since.all(height, minFee),
  };
}
