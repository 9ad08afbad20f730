/** Statistics of paid fees. */
import { prepared } from "../../postgres/reads.ts";
import type { Fees } from "../port.ts";
import type { FeeStatistics, TypeFees } from "../rows.ts";
import { first, type SnapshotReads } from "./lists/reads.ts";

const STATISTICS = `div(2 * sum(fee) + count(*), 2 * count(*))::text AS avg, max(fee)::text AS max, min(fee)::text AS min,
  sum(fee)::text AS sum`;
const OF_LAST = prepared(
  `SELECT ${STATISTICS} FROM (
     SELECT fee FROM transactions WHERE type_group = $1 AND type = $2::bigint
     ORDER BY height DESC, sequence DESC LIMIT $3
   ) AS last HAVING count(*) > 0`,
);
const SINCE = prepared(
  `SELECT type_group::float8 AS "typeGroup", type, ${STATISTICS} FROM transactions
   WHERE height >= $1 AND fee >= $2 GROUP BY type_group, type ORDER BY type_group, type`,
);

export const createFees = ({ query }: SnapshotReads): Fees => ({
  ofLast: (count, typeGroup, type) => first(query<FeeStatistics>(OF_LAST, [typeGroup, type, count])),
  since: (height, minFee) => query<TypeFees>(SINCE, [height, Math.ceil(minFee)]),
});
