/** Form field with label, hint and error. */
import type { ComponentChildren } from "preact";

export type FieldProps = {
  /** Name in the form and in the URL. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: ComponentChildren;
  readonly fault?: string | undefined;
  readonly placeholder?: string;
  /** Number of lines; more than one for multi-line text. */
  readonly rows?: number;
  /** Options to choose from, instead of text. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  /** Button next to the field. */
  readonly aside?: ComponentChildren;
};

export function Field(props: FieldProps) {
  const { name, label, hint, fault, aside } = props;
  return (
    <div class="field">
      <label for={`field-${name}`}>{label}</label>
      <div class="field-line">
        <Control {...props} />
        {aside}
      </div>
      <FieldNotes name={name} hint={hint} fault={fault} />
    </div>
  );
}

function Control({ name, value, onInput, fault, placeholder, rows = 1, options }: FieldProps) {
  const common = {
    id: `field-${name}`,
    name,
    value,
    "aria-describedby": `field-${name}-notes`,
    "aria-invalid": fault !== undefined,
  };
  if (options) {
    return (
      <select {...common} onInput={({ currentTarget }) => onInput(currentTarget.value)}>
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    );
  }
  const text = { ...common, placeholder, spellcheck: false, autocomplete: "off" as const };
  return rows > 1 ? (
    <textarea {...text} rows={rows} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
  ) : (
    <input {...text} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
  );
}

type FieldNotesProps = {
  readonly name: string;
  readonly hint: ComponentChildren;
  readonly fault: string | undefined;
};

/** Hint or error below a field; screen readers announce errors. */
export const FieldNotes = ({ name, hint, fault }: FieldNotesProps) => (
  <div id={`field-${name}-notes`} class="field-notes" aria-live="polite">
    {fault !== undefined && <p class="field-fault">{fault}</p>}
    {hint && <p class="quiet">{hint}</p>}
  </div>
);
