/** Forms of what other nodes send: schemas, with tests for what no schema can say. */
import { Ajv, type ValidateFunction } from "ajv";
import type { Static, TSchema } from "../../platform/json/schema.ts";

/** Whether a value has the form. */
export type Form<T> = (value: unknown) => value is T;

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

/** Compiled by the first value: a node has few of them at its start. */
export function formOf<S extends TSchema>(schema: S): Form<Static<S>> {
  let validate: ValidateFunction | undefined;
  return (value): value is Static<S> => {
    validate ??= ajv.compile(schema);
    return validate(value) as boolean;
  };
}
