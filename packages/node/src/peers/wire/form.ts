/** Forms of data that other nodes send: schemas, with tests for rules that a schema cannot express. */
import { Ajv, type ValidateFunction } from "ajv";
import type { Static, TSchema } from "../../platform/json/schema.ts";

/** Returns true if a value has the form. */
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

/** The schema is compiled for the first value: a starting node needs few schemas. */
export function formOf<S extends TSchema>(schema: S): Form<Static<S>> {
  let validate: ValidateFunction | undefined;
  return (value): value is Static<S> => {
    validate ??= ajv.compile(schema);
    return validate(value) as boolean;
  };
}
