/** Signs the order of a form with the typed passphrases, and sends it. */
import type { RawTransaction } from "@uniknode/client";
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { announce } from "../../components/announce.tsx";
import { type Node, useNode } from "../../data/node.ts";
import { OUTCOMES } from "../../signing/outcome.tsx";
import { fieldOf, type Posted, postOne, reasonText } from "../../signing/post.ts";
import type { Sender } from "../../signing/sender.ts";
import { type Signer, SigningError } from "../../signing/signer.ts";
import type { Faults } from "./read-order.ts";
import { type Drafted, faultsOf, type OrderState } from "./use-order.ts";
import type { FormValues } from "./use-values.ts";

/** Fields of the passphrases; the only place that stores them. */
export type SecretFields = {
  readonly passphrase: RefObject<HTMLInputElement | null>;
  readonly second: RefObject<HTMLInputElement | null>;
  readonly certifier: RefObject<HTMLInputElement | null>;
};

export type SubmissionOptions = {
  readonly signer: Signer | undefined;
  readonly order: OrderState;
  readonly input: Pick<FormValues, "values" | "settle">;
  readonly secrets: SecretFields;
  /** Called after errors are set. */
  readonly onRefused: () => void;
};

export type Submission = {
  readonly isBusy: boolean;
  /** True if missing fields are marked. */
  readonly wasTried: boolean;
  readonly made: { readonly signed: RawTransaction; readonly posted?: Posted } | undefined;
  /** Errors of the node or the worker, until the input changes. */
  readonly refusal: Faults;
  /** Drops the errors, and a submission that waits for the signing code, after an input. */
  clear(): void;
  /** @param isKept signs only */
  submit(isKept: boolean): Promise<void>;
  /** Sends a signed transaction again. */
  send(signed: RawTransaction): Promise<void>;
};

export function useSubmission({ signer, order, input, secrets, onRefused }: SubmissionOptions): Submission {
  const node = useNode();
  const [isBusy, setBusy] = useState(false);
  const [wasTried, setTried] = useState(false);
  const [made, setMade] = useState<Submission["made"]>();
  const [refusal, setRefusal] = useState<Faults>({});
  const [isWaiting, wait] = useWaiting(signer, submit);

  function refuse(faults: Faults): void {
    setTried(true);
    setRefusal(faults);
    onRefused();
  }

  async function submit(isKept: boolean): Promise<void> {
    input.settle();
    if (isBusy) return;
    const passphrase = secrets.passphrase.current?.value;
    if (!passphrase) return refuse({ passphrase: "Enter the passphrase." });
    // Nothing is signed unseen after the wait: the preview needs the signing code, too.
    if (!signer) return wait({ isKept });
    setBusy(true);
    setRefusal({});
    try {
      if (input.values.from) await sign(signer, isKept);
      // Keeps the passphrase in its field, because nothing is signed yet.
      else input.settle({ from: await findWallet(signer, passphrase) });
    } catch (error) {
      refuse(await withMistakes(faultsOf(error), secrets));
    } finally {
      setBusy(false);
    }
  }

  async function sign(signer: Signer, isKept: boolean): Promise<void> {
    const { isReady, drafted, sender } = order;
    if (!isReady || !drafted || !sender.value) return refuse({});
    const signed = await signDraft(signer, drafted, sender.value, secrets);
    setTried(false);
    if (isKept) setMade({ signed });
    else await send(signed);
  }

  async function send(signed: RawTransaction): Promise<void> {
    const posted = await withFee(await postOne(node.api, signed), signed, signer, node);
    setMade({ signed, posted });
    const field = posted.became === "refused" && fieldOf(posted);
    if (field) refuse({ [field]: reasonText(posted.reasons) });
    noteSent(posted, input, node);
  }

  function clear(): void {
    setRefusal({});
    wait(undefined);
  }

  return { isBusy: isBusy || isWaiting, wasTried, made, refusal, clear, submit, send };
}

/** Announces the result. After a success, the form does not stand ready to pay again. */
function noteSent({ became }: Posted, { settle }: SubmissionOptions["input"], node: Node): void {
  if (became === "accepted") settle({ amount: "" });
  announce(OUTCOMES[became]);
  node.responses.refresh("wallet ");
  node.poll();
}

type Submitting = { readonly isKept: boolean } | undefined;

/** Repeats a submission when the signing code is loaded. */
function useWaiting(
  signer: Signer | undefined,
  submit: (isKept: boolean) => Promise<void>,
): [isWaiting: boolean, wait: (submitting: Submitting) => void] {
  const [waiting, setWaiting] = useState<Submitting>();
  useEffect(() => {
    if (!signer || !waiting) return;
    setWaiting(undefined);
    void submit(waiting.isKept);
  }, [signer, waiting]);
  return [waiting !== undefined, setWaiting];
}

async function findWallet(signer: Signer, passphrase: string): Promise<string> {
  const advice = await loadAdvice();
  if (advice?.mistakeIn(passphrase)) {
    throw new SigningError("mistyped", { field: "passphrase", message: advice.IF_RIGHT });
  }
  const { address } = await signer.walletOf(passphrase);
  announce(`The passphrase belongs to ${address}. Check what will be signed.`);
  return address;
}

/** Adds to the error of a passphrase what looks mistyped. */
const withMistakes = async (faults: Faults, secrets: SecretFields): Promise<Faults> =>
  (await loadAdvice())?.withMistakes(faults, typedIn(secrets)) ?? faults;

/** Adds the required fee, which a node does not name, to the refusal of a lower one. */
const withFee = async (
  posted: Posted,
  ...rest: [RawTransaction, Signer | undefined, Node]
): Promise<Posted> =>
  fieldOf(posted) === "fee" ? ((await loadAdvice())?.withFee(posted, ...rest) ?? posted) : posted;

/** Signs the draft, and clears the fields of the passphrases; a mistyped passphrase can be corrected. */
async function signDraft(
  signer: Signer,
  { order, terms }: Drafted,
  { wallet: { address, secondPublicKey } }: Sender,
  secrets: SecretFields,
): Promise<RawTransaction> {
  const signatory = { address, secondPublicKey: secondPublicKey ?? undefined };
  const signed = await signer.sign(order, terms, signatory, typedIn(secrets));
  for (const { current } of [secrets.passphrase, secrets.second, secrets.certifier])
    if (current) current.value = "";
  return signed;
}

/** Texts of the passphrase fields. */
const typedIn = ({ passphrase, second, certifier }: SecretFields) => ({
  passphrase: passphrase.current?.value ?? "",
  second: second.current?.value ?? "",
  certifier: certifier.current?.value ?? "",
});

/** Undefined if it cannot be loaded. */
const loadAdvice = () => import("../../signing/advice.ts").catch(() => undefined);
