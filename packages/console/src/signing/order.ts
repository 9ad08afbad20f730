/** What is to be signed, and the terms on which the chain would take it. Plain values: they go to a worker. */

export type Order =
  | {
      readonly kind: "transfer";
      readonly recipientId: string;
      /** Smallest unit. */
      readonly amount: bigint;
      /** Empty for none. */
      readonly vendorField: string;
    }
  /** `+` or `-`, and the public key of a delegate. */
  | { readonly kind: "vote"; readonly vote: string }
  | {
      readonly kind: "mint";
      readonly tokenId: string;
      readonly properties: Readonly<Record<string, string>>;
    }
  /** Null removes a property. */
  | {
      readonly kind: "update";
      readonly tokenId: string;
      readonly properties: Readonly<Record<string, string | null>>;
    };

export type Terms = {
  /** Of the sender; empty as long as the chain does not know it. */
  readonly senderPublicKey: string;
  readonly nonce: bigint;
  /** Smallest unit; absent for the static fee of the type. */
  readonly fee?: bigint;
  /** Of the head, whose rules set the static fee. */
  readonly height: number;
};

/** Where a form says what is wrong. */
export type OrderField =
  | "from"
  | "to"
  | "amount"
  | "text"
  | "delegate"
  | "unik"
  | "properties"
  | "fee"
  | "nonce"
  | "passphrase"
  | "second";

export type Fault = { readonly field: OrderField; readonly message: string };
