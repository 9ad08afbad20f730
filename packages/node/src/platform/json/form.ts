/** Forms of data that other nodes send: schemas, with tests for rules that a schema cannot express. */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { Static, TSchema } from "../../platform/json/schema.ts";
import { shortened, withoutControls } from "../../platform/text/foreign.ts";

/** Maximum length of the description of a violation. */
const MAX_VIOLATION = 200;

export type Form<T> = {
  /** Returns true if a value has the form. */
  is(value: unknown): value is T;
  /** Describes the first violation of a value, such as `/limit must be integer`. */
  violation(value: unknown): string;
};

const ajv = new Ajv({
  // The schemas are trusted.
  meta: false,
  validateSchema: false,
  keywords: [
    { keyword: "passes", validate: (test: (value: unknown) => boolean, value: unknown) => test(value) },
  ],
});

/** A schema whose values must also pass a test. */
export const refined = <S extends TSchema>(schema: S, passes: (value: unknown) => boolean): S => ({
  ...schema,
  passes,
});

/** The schema is compiled for the first value: a starting node needs few schemas. */
export function formOf<S extends TSchema>(schema: S): Form<Static<S>> {
  let validate: ValidateFunction | undefined;
  const is = (value: unknown): value is Static<S> => {
    validate ??= ajv.compile(schema);
    return validate(value) as boolean;
  };
  return { is, violation: (value) => (is(value) ? "" : firstViolation(validate?.errors?.[0])) };
}

/** Paths and names in the error come from another node. */
function firstViolation(error: ErrorObject | undefined): string {
  const { instancePath = "", keyword, message = "is invalid" } = error ?? {};
  const text = `${instancePath || "it"} ${keyword === "passes" ? "is invalid" : message}`;
  return shortened(withoutControls(text), MAX_VIOLATION);
}
