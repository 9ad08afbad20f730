/**
 * State that the kit expects at its head, as requests: every node with this state returns these responses.
 */
import type { Case, Json } from "./case.ts";

type Row = { [member: string]: Json };

/** `state.json` of the kit; rows have the form of the API's lists. */
type State = {
  supply: string;
  nftStatus: Row[];
  wallets: Row[];
  delegates: Row[];
  locks: Row[];
  uniks: (Row & { properties: Row })[];
  rounds: { [round: string]: Row[] };
};

/** Internal values of the recorded process (see the kit's notes). */
const PROCESS_HISTORY = ["approval", "forgedTotal", "round", "lastBlock", "weightedVoteBalance"];

export const casesOf = ({ supply, nftStatus, wallets, delegates, locks, uniks, rounds }: State): Case[] => [
  caseOf("blockchain", {}, { volatile: ["$.body.data"], digits: ["$.body.data.supply", supply] }),
  caseOf("nfts/status", nftStatus),
  ...wallets.map((wallet) =>
    caseOf(`wallets?address=${wallet.address}`, [wallet], {
      volatile: [
        "$.body.meta",
        ...PROCESS_HISTORY.map((member) => `$.body.data[0].attributes.delegate.${member}`),
      ],
    }),
  ),
  ...delegates.map((delegate) =>
    caseOf(`delegates/${delegate.username}`, delegate, {
      volatile: [
        ...["unikname", "vote"].map((member) => `$.body.data.${member}`), // D-04
        ...(delegate.isResigned ? ["$.body.data.votes", "$.body.data.production.approval"] : []),
      ],
    }),
  ),
  ...locks.map((lock) => caseOf(`locks/${lock.lockId}`, lock)),
  ...uniks.flatMap(({ properties, ...unik }) => [
    caseOf(`uniks/${unik.id}`, unik, {
      volatile: ["type", "explicitValues", "defaultExplicitValue"].map((member) => `$.body.data.${member}`), // D-14
    }),
    ...Object.entries(properties).map(([key, value]) =>
      caseOf(`uniks/${unik.id}/properties/${encodeURIComponent(key)}`, value),
    ),
  ]),
  ...Object.entries(rounds).map(([round, active]) =>
    caseOf(`rounds/${round}/delegates`, active, { unordered: ["$.body.data"] }),
  ),
];

type Terms = Pick<Partial<Case>, "volatile" | "unordered"> & {
  /** Path of an integer, and its digits in the text. */
  digits?: [path: string, digits: string];
};

const caseOf = (path: string, data: Json, { digits, ...terms }: Terms = {}): Case => ({
  name: path,
  request: { method: "GET", path: `/api/${path}`, headers: {}, body: null },
  expect: { status: 200, headers: {}, body: { data } },
  volatile: [],
  defect: null,
  ...terms,
  ...(digits && { differs: [{ why: "D-01", path: digits[0], digits: digits[1] }] }),
});
