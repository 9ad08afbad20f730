/**
 * Verdicts about signatures that depend on wallets: second signatures, signatures of multisignature wallets
 * (transactions.md 10), certifications and demands (transactions.md 12). The verifier threads compute them
 * before a transaction is executed; the rules then read the recorded verdicts as often as they need.
 */
import { hash } from "node:crypto";
import { payloadJobs, type StateReader, type WalletSignatures, walletOf } from "@uniknode/ledger";
import {
  multiSignatureJobs,
  type Network,
  type Participants,
  type SealedTransaction,
  type SignatureJob,
  secondSignatureJob,
  type Transaction,
  TransactionError,
  TYPE_GROUPS,
  verifyMultiSignatures,
  verifySecondSignature,
} from "@uniknode/protocol";
import { LRUCache } from "lru-cache";
import { type SignatureCheck, schemeOf } from "./packed-checks.ts";

export type RecordedSignaturesDeps = {
  readonly network: Network;
  /** Verifies in other threads; settles with the verdicts in order. */
  readonly verify: (checks: readonly SignatureCheck[]) => Promise<boolean[]>;
  /** Verifies in the calling thread. */
  readonly verifyNow: (check: SignatureCheck) => boolean;
};

/** An error is recorded if the check of the signatures throws it. */
type Verdict = boolean | Error;

/** Signature check of the rules for one transaction. */
type Question = {
  readonly key: string;
  readonly checks: readonly SignatureCheck[];
  /** Number of checks, counted from the first, that suffice if all of them are valid. */
  readonly enough: number;
  /** Evaluates the rule with the verdicts of the checks; it reads only the necessary ones. */
  evaluate(verdicts: readonly boolean[]): boolean;
};

export class RecordedSignatures implements WalletSignatures {
  readonly #network: Network;
  readonly #verify: RecordedSignaturesDeps["verify"];
  readonly #verifyNow: RecordedSignaturesDeps["verifyNow"];
  readonly #recorded: LRUCache<string, Verdict>;

  /** @param max recorded verdicts, about 250 bytes each */
  constructor(max: number, { network, verify, verifyNow }: RecordedSignaturesDeps) {
    this.#network = network;
    this.#verify = verify;
    this.#verifyNow = verifyNow;
    this.#recorded = new LRUCache({ max });
  }

  isSecondSigned(transaction: Transaction, publicKey: string): boolean {
    return this.#recordedVerdict(secondKey(transaction, publicKey), () =>
      verifySecondSignature(transaction, publicKey, (job) => this.#verifyNow(toCheck(job))),
    );
  }

  isMultiSigned(transaction: Transaction, participants: Participants): boolean {
    return this.#recordedVerdict(multiKey(transaction, participants), () =>
      verifyMultiSignatures(transaction, participants, (job) => this.#verifyNow(toCheck(job))),
    );
  }

  isPayloadSigned(job: SignatureJob): boolean {
    return this.#recordedVerdict(payloadKey(job), () => this.#verifyNow(toPayloadCheck(job)));
  }

  /**
   * Verifies in other threads the signatures that the rules will need for transactions, with the wallets of a
   * state. A verdict that is missing later, because a wallet has changed, is computed when the rules need it.
   *
   * @throws {CallError} when the verifier returns no verdicts
   */
  async verifyAhead(transactions: Iterable<SealedTransaction>, state: StateReader): Promise<void> {
    const questions: Question[] = [];
    for (const { data } of transactions) {
      const asked = [
        ...questionsAbout(data, state, this.#network),
        ...payloadJobs(data, state).map(payloadQuestion),
      ];
      questions.push(...asked.filter(({ key }) => !this.#recorded.has(key)));
    }
    if (questions.length === 0) return;
    // A quorum of valid signatures decides without the others.
    const first = await verifyEach(this.#verify, questions, ({ checks, enough }) => checks.slice(0, enough));
    const isDecided = (verdicts: readonly boolean[]) => verdicts.every(Boolean);
    const rest = await verifyEach(this.#verify, questions, ({ checks, enough }, index) =>
      isDecided(first[index] ?? []) ? [] : checks.slice(enough),
    );
    for (const [index, { key, evaluate }] of questions.entries()) {
      const verdicts = [...(first[index] ?? []), ...(rest[index] ?? [])];
      this.#recorded.set(
        key,
        verdictOf(() => evaluate(verdicts)),
      );
    }
  }

  #recordedVerdict(key: string, compute: () => boolean): boolean {
    const known = this.#recorded.get(key);
    const verdict = known ?? verdictOf(compute);
    if (known === undefined) this.#recorded.set(key, verdict);
    if (typeof verdict === "boolean") return verdict;
    throw verdict;
  }
}

/** Verifies the chosen checks of each question with one call of the verifier. */
async function verifyEach(
  verify: RecordedSignaturesDeps["verify"],
  questions: readonly Question[],
  choose: (question: Question, index: number) => readonly SignatureCheck[],
): Promise<boolean[][]> {
  const chosen = questions.map(choose);
  const all = chosen.flat();
  const verdicts = all.length > 0 ? await verify(all) : [];
  const given = verdicts.values();
  return chosen.map((checks) => checks.map(() => given.next().value === true));
}

function questionsAbout(transaction: Transaction, state: StateReader, network: Network): Question[] {
  if (transaction.signatures === undefined && transaction.secondSignature === undefined) return [];
  const { secondPublicKey, multiSignature } = walletOf(
    state,
    transaction.senderPublicKey,
    network,
  ).attributes;
  const registered = isRegistration(transaction) ? transaction.asset?.multiSignature : undefined;
  return [
    ...(secondPublicKey === undefined ? [] : secondQuestion(transaction, secondPublicKey)),
    ...[multiSignature, registered].flatMap((participants) =>
      participants && transaction.signatures ? [multiQuestion(transaction, participants)] : [],
    ),
  ];
}

const isRegistration = ({ typeGroup, type }: Transaction): boolean =>
  typeGroup === TYPE_GROUPS.core && type === 4;

/** The verdict of the only check. */
const ONE = { enough: 1, evaluate: ([isValid = false]: readonly boolean[]): boolean => isValid };

const payloadQuestion = (job: SignatureJob): Question => ({
  key: payloadKey(job),
  checks: [toPayloadCheck(job)],
  ...ONE,
});

function secondQuestion(transaction: Transaction, publicKey: string): Question[] {
  const job = secondSignatureJob(transaction, publicKey);
  if (!job) return [];
  const key = secondKey(transaction, publicKey);
  return [{ key, checks: [toCheck(job)], ...ONE }];
}

function multiQuestion(transaction: Transaction, participants: Participants): Question {
  return {
    key: multiKey(transaction, participants),
    checks: multiSignatureJobs(transaction, participants.publicKeys).map(toCheck),
    enough: participants.min,
    evaluate: (verdicts) =>
      verifyMultiSignatures(transaction, participants, (_, index) => verdicts[index] === true),
  };
}

/** The id commits to all signatures. */
const secondKey = ({ id }: Transaction, publicKey: string): string => `${id} ${publicKey}`;
const multiKey = ({ id }: Transaction, { min, publicKeys }: Participants): string =>
  `${id} ${hash("sha256", `${min} ${publicKeys.join(" ")}`, "base64")}`;

/** All of the check, since the signature is not part of what others have verified. */
const payloadKey = ({ hash, signature, publicKey }: SignatureJob): string =>
  Buffer.concat([hash, publicKey, signature]).toString("latin1");

/** Payloads are signed with ECDSA, whatever the length of the signature. */
const toPayloadCheck = (job: SignatureJob): SignatureCheck => ({ ...job, scheme: "ecdsa" });
const toCheck = (job: SignatureJob): SignatureCheck => ({ ...job, scheme: schemeOf(job) });

function verdictOf(compute: () => boolean): Verdict {
  try {
    return compute();
  } catch (error) {
    if (error instanceof TransactionError || error instanceof RangeError) return error;
    throw error;
  }
}
