/**
 * Forms of external data: schemas, with tests for rules that a schema cannot express. HTTP requests are validated by the
 * schemas of their routes; all other external JSON is validated here (docs/architecture.md, "External data").
 */
import { createRequire } from "node:module";
import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv";
import { shortened, withoutControls } from "../text/foreign.ts";
import type { Static, TSchema } from "./schema.ts";

/** Maximum length of the description of a violation. */
const MAX_VIOLATION = 200;

/** First member that violates a form. */
export type Fault = {
  /** JSON pointer of the member, such as `/list/0/ip`; empty for the value itself. */
  readonly path: string;
  /** Text that follows the name of the member, such as `must be integer`. */
  readonly message: string;
};

export type Form<T> = {
  /** Returns true if a value has the form. */
  is(value: unknown): value is T;
  /** Returns the first fault of a value; undefined if it has the form. */
  fault(value: unknown): Fault | undefined;
  /** Describes the first fault of a value, such as `/limit must be integer`. */
  violation(value: unknown): string;
};

/** Returns a schema whose values must also pass a test. */
export const refined = <S extends TSchema>(schema: S, passes: (value: unknown) => boolean): S => ({
  ...schema,
  passes,
});

const load = createRequire(import.meta.url);
let ajv: Ajv | undefined;

/** The library is loaded, and the schema compiled, for the first value: a starting node needs few schemas. */
export function formOf<S extends TSchema>(schema: S): Form<Static<S>> {
  let validate: ValidateFunction | undefined;

  function fault(value: unknown): Fault | undefined {
    ajv ??= createAjv({ keywords: [PASSES] });
    validate ??= ajv.compile(schema);
    if (validate(value)) return undefined;
    const found = faultFrom(validate.errors ?? []);
    // The errors hold the value.
    validate.errors = null;
    return found;
  }

  return {
    is: (value): value is Static<S> => fault(value) === undefined,
    fault,
    violation: (value) => textOf(fault(value)),
  };
}

const PASSES = {
  keyword: "passes",
  validate: (test: (value: unknown) => boolean, value: unknown) => test(value),
};

/** Loads the library. The schemas are trusted: checking them takes longer than compiling them. */
export function createAjv(options: Options): Ajv {
  const library = load("ajv") as typeof import("ajv");
  return new library.Ajv({
    addUsedSchema: false,
    meta: false,
    validateSchema: false,
    verbose: true,
    code: { optimize: false },
    ...options,
  });
}

/** Faults that name another member than the one whose schema is violated. */
const NAMES_MEMBER = new Set(["required", "additionalProperties"]);

/** A choice fails for each of its schemas, and as a whole: it is described as a whole if it has a description. */
function faultFrom(errors: readonly ErrorObject[]): Fault {
  const error = errors.find(isDescribed) ?? errors[0];
  if (error === undefined) return { path: "", message: "is invalid" };
  const { instancePath: path, keyword, message = "is invalid", parentSchema } = error;
  if (isDescribed(error)) return { path, message: `must be ${parentSchema?.description}` };
  return { path, message: keyword === "passes" ? "is invalid" : message };
}

const isDescribed = ({ keyword, parentSchema }: ErrorObject): boolean =>
  !NAMES_MEMBER.has(keyword) && parentSchema?.description !== undefined;

/** Paths and names in the fault come from another node. */
const textOf = (fault: Fault | undefined): string =>
  fault === undefined
    ? ""
    : shortened(withoutControls(`${fault.path || "it"} ${fault.message}`), MAX_VIOLATION);
