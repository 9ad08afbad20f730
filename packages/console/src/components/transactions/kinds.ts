/** Names of transaction types (http-api.md 4.4). */

export type Kind = {
  readonly typeGroup: number;
  readonly type: number;
  /** Name of the type. */
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

/** Key of a type in a URL, such as `2000/1`. */
export const kindText = ({ typeGroup, type }: Pick<Kind, "typeGroup" | "type">): string =>
  `${typeGroup}/${type}`;

const TITLES = new Map(KINDS.map((kind) => [kindText(kind), kind.title]));

/** Returns the name of a type, or its numbers if it is unknown. */
export const titleOf = (typed: Pick<Kind, "typeGroup" | "type">): string =>
  TITLES.get(kindText(typed)) ?? `Type ${kindText(typed)}`;
