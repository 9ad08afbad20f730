/** Form for one kind of transaction: fields, preview and passphrase. */
import { useRef, useState } from "preact/hooks";
import { ErrorBoundary } from "preact-iso/lazy";
import { loadable } from "../../components/loadable.tsx";
import type { OrderField } from "../../signing/order.ts";
import { Outcome } from "../../signing/outcome.tsx";
import { useSigner } from "../../signing/signer.ts";
import { OrderFields, SenderField, TermsFields } from "./fields.tsx";
import { Preview } from "./preview.tsx";
import type { Faults, Kind } from "./read-order.ts";
import { HighFee, SignCard } from "./sign-card.tsx";
import { type OrderState, useOrder } from "./use-order.ts";
import { useSubmission } from "./use-submission.ts";
import { useValues } from "./use-values.ts";

/** Command and code forms, loaded when there is an order. */
const OrderAsCode = loadable(
  async () => ({ default: (await import("./drafted.tsx")).OrderAsCode }),
  "nothing",
);

export function OrderForm({ kind }: { kind: Kind }) {
  const { values, settled, set, settle } = useValues();
  const signer = useSigner();
  const order = useOrder(kind, values, settled, signer);
  const form = useRef<HTMLFormElement>(null);
  const secrets = { passphrase: useSecret(), second: useSecret(), certifier: useSecret() };
  const onRefused = () => focusFirstFault(form.current);
  const { isReady, checkbox } = useHighFee(order);
  const input = { values, settle };
  const submission = useSubmission({ signer, order: { ...order, isReady }, input, secrets, onRefused });
  const { sender, drafted, chosen } = order;
  const { wasTried, made, refusal } = submission;
  const faults: Faults = { ...order.faults, ...refusal };
  const fields = {
    values,
    onInput(name: string, value: string): void {
      submission.clear();
      set(name, value);
    },
    faultOf: (field: OrderField, name: string = field): string | undefined =>
      wasTried || values[name] || refusal[field] ? faults[field] : undefined,
  };

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    void submission.submit((event.submitter as HTMLButtonElement | null)?.value === "keep");
  }

  return (
    <div class="send-page">
      <form class="send" noValidate ref={form} onSubmit={onSubmit} onChange={() => settle()}>
        <div class="card send-fields">
          <SenderField {...fields} sender={sender} />
          <OrderFields kind={kind} {...fields} settle={settle} sender={sender.value} />
          <TermsFields {...fields} sender={sender.value} fee={drafted?.draft.fee} />
        </div>
        <div class="send-side">
          <Preview draft={drafted?.draft} sender={sender.value} />
          <SignCard
            {...secrets}
            needs={{
              second: Boolean(sender.value?.wallet.secondPublicKey),
              certifier: kind === "disclose",
            }}
            hasSender={Boolean(values.from)}
            isBusy={submission.isBusy}
            faults={refusal}
            hindrance={wasTried && !isReady ? hindranceOf(faults, order.isReady) : undefined}
          >
            {checkbox}
          </SignCard>
        </div>
      </form>
      {made && <Outcome {...made} onAgain={() => void submission.send(made.signed)} />}
      <ErrorBoundary>
        {drafted && <OrderAsCode order={drafted.order} chosen={chosen} delegate={values.delegate ?? ""} />}
      </ErrorBoundary>
    </div>
  );
}

const useSecret = () => useRef<HTMLInputElement>(null);

/** Checkbox for a fee that is probably a mistake, and whether the order is ready with it. */
function useHighFee({ drafted, isReady }: OrderState) {
  const [confirmedFee, confirm] = useState<string>();
  if (!drafted?.isFeeHigh) return { isReady };
  const { fee } = drafted.draft;
  const isConfirmed = confirmedFee === fee;
  return {
    isReady: isReady && isConfirmed,
    checkbox: (
      <HighFee {...drafted} isConfirmed={isConfirmed} onConfirm={(is) => confirm(is ? fee : undefined)} />
    ),
  };
}

/** Focuses the first invalid field after the next rendering. */
const focusFirstFault = (form: HTMLFormElement | null): number =>
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());

/** Explains why nothing was signed; without errors, the preview was not shown yet. */
function hindranceOf(faults: Faults, isReady: boolean): string {
  if (isReady) return "confirm the fee.";
  return Object.keys(faults).length > 0 ? "correct the marked fields." : "check what will be signed first.";
}
