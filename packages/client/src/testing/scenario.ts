/** The form of a scenario file: actions on a dev chain, and what must be true after them (docs/guides/scenarios.md). */

/** `account 0`, `delegate 0`, `factory`, `foundation`, or `wallet NAME`: a wallet of the scenario, which owns nothing at first. */
export type AccountName = string;

/** Amount in tokens: `12.5`. */
export type Tokens = string;

/** Members that every step with a transaction has. */
export type Submitted = {
  /** Name of the transaction, for `without` of a reorganisation. */
  readonly as?: string;
  /** Fee in tokens. Default: the static fee of the type. */
  readonly fee?: Tokens;
  /** Code with which the pool must refuse the transaction, such as `ERR_APPLY`. */
  readonly refused?: string;
};

export type Transfer = Submitted & {
  readonly from: AccountName;
  /** Account, or any address. */
  readonly to: AccountName;
  readonly amount: Tokens;
  /** The vendor field. */
  readonly message?: string;
};

/** `unik` names the new unik; an account name means the unik that this account owns from the beginning. */
export type Mint = Submitted & {
  readonly owner: AccountName;
  readonly unik: string;
  readonly kind?: "individual" | "organization" | "network";
  /** Further properties. */
  readonly set?: Readonly<Record<string, string | null>>;
};

export type Update = Submitted & {
  readonly owner: AccountName;
  readonly unik: string;
  /** Properties; null removes one. */
  readonly set: Readonly<Record<string, string | null>>;
};

export type TransferUnik = Submitted & {
  readonly from: AccountName;
  readonly unik: string;
  readonly to: AccountName;
};

export type Vote = Submitted & { readonly from: AccountName; readonly delegate: AccountName };

export type Branch = {
  /** Blocks to revert. */
  readonly depth: number;
  /** Blocks of the new branch. Default: `depth` + 1. */
  readonly blocks?: number;
  /** True if the transactions of reverted blocks may be forged again. Default: false. */
  readonly transactions?: boolean;
  /** Names of transactions that the new branch omits. */
  readonly without?: readonly string[];
};

export type NewReceiver = {
  readonly name: string;
  /** Names, and patterns such as `transaction.*`. */
  readonly events: readonly string[];
  /** URL of a receiver. Default: a receiver of the run, which verifies and accepts every delivery. */
  readonly target?: string;
};

/** Name of a webhook of the scenario, or id of a webhook of the node. */
export type WebhookName = string | number;

export type Failure = {
  readonly webhook: WebhookName;
  readonly how: "refuse" | "delay" | "drop" | "not";
  readonly status?: number;
  readonly seconds?: number;
};

export type CountedEvent = {
  readonly webhook: WebhookName;
  readonly event: string;
  /** Exact number. Default: at least one. */
  readonly count?: number;
};

export type Expectation =
  /** Height of the head; `+4` counts from the start of the scenario. */
  | { readonly height: number | string }
  /** Balance in tokens; `+100` and `-0.1` are changes since the start of the scenario. */
  | { readonly balance: { readonly of: AccountName; readonly is: Tokens } }
  /** Events that the receiver accepted. */
  | { readonly delivered: CountedEvent }
  /** Delivered events whose retraction the receiver accepted. */
  | { readonly retracted: CountedEvent };

export type Steps = {
  readonly note: string;
  readonly mine: number;
  /** Duration such as `90s`, `10m`, `2h` or `1d`. */
  readonly travel: string;
  readonly transfer: Transfer;
  readonly mint: Mint;
  readonly update: Update;
  readonly transferUnik: TransferUnik;
  readonly vote: Vote;
  readonly unvote: Vote;
  /** Depth, or a description of the branch. */
  readonly reorganise: number | Branch;
  /** Name for `restore`. */
  readonly snapshot: string;
  /** Name of a snapshot, or number of blocks to revert. */
  readonly restore: string | number;
  readonly webhook: NewReceiver;
  readonly fail: Failure;
  /** Webhook whose deliveries must all have ended. */
  readonly settle: WebhookName;
  readonly expect: Expectation;
};

export type Verb = keyof Steps;

/** An object with one member, the verb. */
export type Step = { readonly [V in Verb]: Pick<Steps, V> }[Verb];

export type Scenario = {
  /** Version of the format. */
  readonly scenario: 1;
  readonly name: string;
  readonly steps: readonly Step[];
};

/** Splits a step into its verb and the value of the verb. */
export function verbOf(step: Step): { readonly [V in Verb]: readonly [V, Steps[V]] }[Verb] {
  const [entry] = Object.entries(step);
  return entry as ReturnType<typeof verbOf>;
}
