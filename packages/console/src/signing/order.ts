/** Order to sign, with the terms of the chain. Plain values, because they are posted to a worker. */

export type Order =
  | {
      readonly kind: "transfer";
      readonly recipientId: string;
      /** Amount in the smallest unit. */
      readonly amount: bigint;
      /** Message; empty for none. */
      readonly vendorField: string;
    }
  /** `+` or `-`, followed by the public key of a delegate. */
  | { readonly kind: "vote"; readonly vote: string }
  | {
      readonly kind: "mint";
      readonly tokenId: string;
      readonly properties: Readonly<Record<string, string>> & { readonly type: string };
    }
  | { readonly kind: "transfer-unik"; readonly tokenId: string; readonly recipientId: string }
  /** Properties; null removes one. */
  | {
      readonly kind: "update";
      readonly tokenId: string;
      readonly properties: Readonly<Record<string, string | null>>;
    }
  | {
      readonly kind: "disclose";
      readonly tokenId: string;
      readonly explicitValues: readonly string[];
      /** Type of the unik: 1, 2 or 3. */
      readonly type: number;
      /** Unik of the factory that certifies the disclosure. */
      readonly factory: string;
    };

export type Terms = {
  /** Public key of the sender; empty until the chain knows it. */
  readonly senderPublicKey: string;
  readonly nonce: bigint;
  /** Fee in the smallest unit; absent for the static fee of the type. */
  readonly fee?: bigint;
  /** Height of the head, whose rules set the static fee. */
  readonly height: number;
};

/** Form field that shows the error. */
export type OrderField =
  | "from"
  | "to"
  | "amount"
  | "text"
  | "delegate"
  | "unik"
  | "properties"
  | "names"
  | "factory"
  | "fee"
  | "nonce"
  | "passphrase"
  | "second"
  | "certifier";

export type Fault = { readonly field: OrderField; readonly message: string };
