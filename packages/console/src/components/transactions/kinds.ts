/** The types of transactions in words (http-api.md 4.4). */

export type Kind = {
  readonly typeGroup: number;
  readonly type: number;
  /** What such a transaction is. */
  readonly title: string;
};

const titles: Readonly<Record<number, readonly string[]>> = {
  1: [
    "Transfer",
    "Second signature",
    "Delegate registration",
    "Vote",
    "Multi-signature",
    "IPFS",
    "Multi-payment",
    "Delegate resignation",
    "Lock",
    "Lock claim",
    "Lock refund",
  ],
  2: [
    "Business registration",
    "Business resignation",
    "Business update",
    "Bridgechain registration",
    "Bridgechain resignation",
    "Bridgechain update",
    "Entity",
  ],
  2000: ["Unik mint", "Unik update", "Unik transfer"],
  2001: [
    "Name disclosure",
    "Delegate registration",
    "Delegate resignation",
    "Unik mint, certified",
    "Unik update, certified",
    "Vote",
    "Unik transfer, certified",
  ],
};

export const KINDS: readonly Kind[] = Object.entries(titles).flatMap(([typeGroup, names]) =>
  names.map((title, type) => ({ typeGroup: Number(typeGroup), type, title })),
);

/** `2000/1`: a kind in an address. */
export const kindText = ({ typeGroup, type }: Pick<Kind, "typeGroup" | "type">): string =>
  `${typeGroup}/${type}`;

const TITLES = new Map(KINDS.map((kind) => [kindText(kind), kind.title]));

/** Types that a later network may have are named by their numbers. */
export const titleOf = (typed: Pick<Kind, "typeGroup" | "type">): string =>
  TITLES.get(kindText(typed)) ?? `Type ${kindText(typed)}`;
