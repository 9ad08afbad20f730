/** Form for one kind of transaction: fields, preview and passphrase. */
import type { RawTransaction } from "@uniknode/client";
import { useRef, useState } from "preact/hooks";
import { ErrorBoundary } from "preact-iso/lazy";
import { announce } from "../../components/announce.tsx";
import { loadable } from "../../components/loadable.tsx";
import { useNode } from "../../data/node.ts";
import type { OrderField } from "../../signing/order.ts";
import { Outcome } from "../../signing/outcome.tsx";
import { fieldOf, type Posted, post, reasonText } from "../../signing/post.ts";
import { useSigner } from "../../signing/signer.ts";
import { OrderFields, SenderField, TermsFields } from "./fields.tsx";
import { Preview } from "./preview.tsx";
import type { Faults, Kind } from "./read-order.ts";
import { SignCard, taken } from "./sign-card.tsx";
import { faultsOf, useOrder } from "./use-order.ts";
import { useValues } from "./use-values.ts";

/** Command and code forms, loaded when there is an order. */
const Elsewhere = loadable(() => import("./elsewhere.tsx"), "nothing");

type Made = { readonly signed: RawTransaction; readonly posted?: Posted };

export function OrderForm({ kind }: { kind: Kind }) {
  const { api, responses, poll } = useNode();
  const { values, settled, set, settle } = useValues();
  const signer = useSigner();
  const state = useOrder(kind, values, settled, signer);
  const { sender, drafted, isReady, chosen } = state;
  const form = useRef<HTMLFormElement>(null);
  const passphrase = useRef<HTMLInputElement>(null);
  const second = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  /** True if missing fields are marked. */
  const [wasTried, setTried] = useState(false);
  const [made, setMade] = useState<Made>();
  /** Errors of the node or the worker, until the input changes. */
  const [refusal, setRefusal] = useState<Faults>({});
  const faults: Faults = { ...state.faults, ...refusal };
  const faultOf = (field: OrderField, name: string = field): string | undefined =>
    wasTried || values[name] || refusal[field] ? faults[field] : undefined;

  function onInput(name: string, value: string): void {
    setRefusal({});
    set(name, value);
  }

  async function onSubmit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const isKept = (event.submitter as HTMLButtonElement | null)?.value === "keep";
    settle();
    if (isBusy) return;
    if (!signer) return refuse({ passphrase: "The signing code is still loading. Try again in a moment." });
    if (!passphrase.current?.value) return refuse({ passphrase: "Enter the passphrase." });
    setBusy(true);
    setRefusal({});
    try {
      if (!values.from) await findWallet();
      else await sign(isKept);
    } catch (error) {
      refuse(faultsOf(error));
    } finally {
      setBusy(false);
    }
  }

  /** Shows the errors and focuses the first invalid field. */
  function refuse(faults: Faults): void {
    setTried(true);
    setRefusal(faults);
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  }

  /** Keeps the passphrase in its field, because nothing is signed yet. */
  async function findWallet(): Promise<void> {
    const { address } = await signer!.walletOf(passphrase.current!.value);
    settle({ from: address });
    announce(`The passphrase belongs to ${address}. Check what will be signed.`);
  }

  async function sign(isKept: boolean): Promise<void> {
    if (!isReady || !drafted || !sender.value) return refuse({});
    const { address, secondPublicKey } = sender.value.wallet;
    const passphrases = { passphrase: taken(passphrase.current), second: taken(second.current) };
    const signatory = { address, secondPublicKey: secondPublicKey ?? undefined };
    const signed = await signer!.sign(drafted.order, drafted.terms, signatory, passphrases);
    setTried(false);
    if (isKept) setMade({ signed });
    else await send(signed);
  }

  async function send(signed: RawTransaction): Promise<void> {
    const [posted] = await post(api, [signed]);
    setMade({ signed, posted: posted! });
    const field = posted!.became === "refused" ? fieldOf(posted!) : undefined;
    if (field) refuse({ [field]: reasonText(posted!.reasons) });
    announce(
      posted!.became === "accepted" ? "The node accepted the transaction." : "The transaction was not sent.",
    );
    responses.refresh("wallet ");
    poll();
  }

  return (
    <div class="send-page">
      <form class="send" noValidate ref={form} onSubmit={onSubmit} onChange={() => settle()}>
        <div class="card send-fields">
          <SenderField {...{ values, onInput, faultOf }} sender={sender} />
          <OrderFields kind={kind} {...{ values, onInput, faultOf, settle }} sender={sender.value} />
          <TermsFields {...{ values, onInput, faultOf }} sender={sender.value} fee={drafted?.draft.fee} />
        </div>
        <div class="send-side">
          <Preview draft={drafted?.draft} sender={sender.value} />
          <SignCard
            {...{ passphrase, second }}
            needsSecond={Boolean(sender.value?.wallet.secondPublicKey)}
            hasSender={Boolean(values.from)}
            isBusy={isBusy}
            faults={refusal}
            hindrance={wasTried && !isReady ? hindranceOf(faults) : undefined}
          />
        </div>
      </form>
      {made && <Outcome {...made} onAgain={() => void send(made.signed)} />}
      <ErrorBoundary>
        {drafted && <Elsewhere order={drafted.order} chosen={chosen} delegate={values.delegate ?? ""} />}
      </ErrorBoundary>
    </div>
  );
}

/** Explains why nothing was signed; without errors, the preview was not shown yet. */
const hindranceOf = (faults: Faults): string =>
  Object.keys(faults).length > 0 ? "correct the marked fields." : "check what will be signed first.";
