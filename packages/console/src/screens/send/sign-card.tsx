/** Passphrase fields and buttons. The passphrase stays only in these fields until it signs. */
import type { ComponentChildren, RefObject } from "preact";
import { Amount } from "../../components/amount.tsx";
import { FieldNotes } from "../../components/field.tsx";
import type { Drafting } from "../../signing/build.ts";
import type { Faults } from "./read-order.ts";
import type { SecretFields } from "./use-submission.ts";

export type SignCardProps = SecretFields & {
  /** Passphrases beside the first one. */
  readonly needs: Readonly<Record<"second" | "certifier", boolean>>;
  readonly hasSender: boolean;
  readonly isBusy: boolean;
  readonly faults: Faults;
  /** Reason why nothing was signed. */
  readonly hindrance: string | undefined;
  /** Further fields. */
  readonly children?: ComponentChildren;
};

const FURTHER = [
  ["second", "Second passphrase"],
  ["certifier", "Passphrase of the factory"],
] as const;

export function SignCard(props: SignCardProps) {
  const { passphrase, needs, hasSender, isBusy, faults, hindrance, children } = props;
  return (
    <section class="card send-sign" aria-label="Sign">
      <SecretField name="passphrase" label="Passphrase" field={passphrase} fault={faults.passphrase} />
      {FURTHER.map(
        ([name, label]) =>
          needs[name] && (
            <SecretField key={name} name={name} label={label} field={props[name]} fault={faults[name]} />
          ),
      )}
      <p class="quiet">
        A separate worker of this page signs. Passphrases are not stored and do not leave this browser.
      </p>
      {children}
      {hindrance !== undefined && (
        <p class="field-fault" role="alert">
          Not signed: {hindrance}
        </p>
      )}
      <div class="send-buttons">
        <button type="submit" class="primary" aria-busy={isBusy}>
          {isBusy ? "Signing…" : hasSender ? "Sign and send" : "Find the wallet"}
        </button>
        {hasSender && (
          <button type="submit" value="keep">
            Sign only
          </button>
        )}
      </div>
    </section>
  );
}

export type HighFeeProps = Pick<Drafting, "draft" | "usualFee"> & {
  readonly isConfirmed: boolean;
  readonly onConfirm: (isConfirmed: boolean) => void;
};

/** Checkbox that confirms a fee far above the usual one. */
export const HighFee = ({ draft: { fee }, usualFee, isConfirmed, onConfirm }: HighFeeProps) => (
  <label class="choice">
    <input
      type="checkbox"
      checked={isConfirmed}
      aria-invalid={!isConfirmed}
      onChange={({ currentTarget }) => onConfirm(currentTarget.checked)}
    />
    <span>
      Pay a fee of <Amount value={fee} />; the usual one is <Amount value={usualFee} />
    </span>
  </label>
);

type SecretFieldProps = {
  readonly name: string;
  readonly label: string;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly fault: string | undefined;
};

/** Uncontrolled field without a name, so that neither the page state nor a form contains the passphrase. */
const SecretField = ({ name, label, field, fault }: SecretFieldProps) => (
  <div class="field">
    <label for={`field-${name}`}>{label}</label>
    <input
      ref={field}
      id={`field-${name}`}
      type="password"
      autocomplete="off"
      spellcheck={false}
      aria-describedby={`field-${name}-notes`}
      aria-invalid={fault !== undefined}
    />
    <FieldNotes name={name} hint={undefined} fault={fault} />
  </div>
);
