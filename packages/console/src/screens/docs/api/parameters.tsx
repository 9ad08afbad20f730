/** Fields of the parameters: path first, then query, with rare ones collapsed. */
import { Field } from "../../../components/field.tsx";
import type { Parameter } from "./openapi.ts";
import { Words } from "./words.tsx";

export type ParameterFieldsProps = {
  readonly parameters: readonly Parameter[];
  readonly values: Readonly<Record<string, string>>;
  readonly faults: Readonly<Record<string, string>>;
  readonly onInput: (name: string, value: string) => void;
};

/** Number of fields before the rest is collapsed. */
const SHOWN = 4;

export function ParameterFields({ parameters, ...others }: ParameterFieldsProps) {
  const isNeeded = ({ in: part, required }: Parameter) => part === "path" || required === true;
  const sorted = [...parameters.filter(isNeeded), ...parameters.filter((parameter) => !isNeeded(parameter))];
  const shown = Math.max(SHOWN, parameters.filter(isNeeded).length);
  const more = sorted.slice(shown);
  return (
    <>
      {parameters.length > 0 && <Fields parameters={sorted.slice(0, shown)} {...others} />}
      {more.length > 0 && (
        <details>
          <summary>
            {more.length} more parameter{more.length === 1 ? "" : "s"}
          </summary>
          <Fields parameters={more} {...others} />
        </details>
      )}
    </>
  );
}

const Fields = ({ parameters, values, faults, onInput }: ParameterFieldsProps) => (
  <div class="docs-fields">
    {parameters.map((parameter) => {
      const { name, in: part, required, description } = parameter;
      const options = optionsOf(parameter);
      return (
        <Field
          key={name}
          name={name}
          label={part === "path" || required ? `${name} (needed)` : name}
          value={values[name] ?? ""}
          fault={faults[name]}
          onInput={(value) => onInput(name, value)}
          {...(description && { hint: <Words text={description} /> })}
          {...placeholderOf(parameter)}
          {...(options && { options })}
        />
      );
    })}
  </div>
);

function placeholderOf({ schema, example = schema.examples?.[0] ?? schema.default }: Parameter) {
  if (example === undefined) return {};
  return { placeholder: typeof example === "string" ? example : JSON.stringify(example) };
}

function optionsOf({ schema }: Parameter) {
  const values = schema.enum ?? (schema.type === "boolean" ? [true, false] : undefined);
  return (
    values && [
      { value: "", label: "not set" },
      ...values.map((value) => ({ value: `${value}`, label: `${value}` })),
    ]
  );
}
