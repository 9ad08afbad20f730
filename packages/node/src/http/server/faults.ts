/**
 * Selects the faults to report for a request that does not match its schemas, like the old node (http-api.md 2): the faults
 * of the first part and of its first invalid member, in the order of the schemas. Members that are not allowed come last,
 * up to `MAX_REPORTED`.
 */
import type { FastifyRequest } from "fastify";
import * as expected from "../../platform/text/wording.ts";
import { mostSimilar } from "../../platform/text/wording.ts";
import { isOwnPath } from "../core/error.ts";
import type { ErrorCode } from "../core/error-codes.ts";

/** Parts of a request by their names in schemas and in responses, in the order of validation. */
const SOURCES = { params: "params", querystring: "query", body: "payload" } as const;
type Part = keyof typeof SOURCES;
type Source = (typeof SOURCES)[Part];

/** Maximum of reported members that are not allowed: a body can have a hundred thousand. */
const MAX_REPORTED = 100;

export type Fault = {
  /** Name of the parameter or member, such as `id.0` for an item; empty for the body as a whole. */
  readonly key: string;
  readonly code: ErrorCode;
  readonly reason: string;
};

/** Returns the invalid part of the request, and its faults. */
export function faultsOf(request: FastifyRequest): { source: Source; faults: Fault[] } | undefined {
  for (const [part, source] of Object.entries(SOURCES) as [Part, Source][]) {
    const faults = faultsIn(part, request);
    if (faults.length > 0) return { source, faults };
  }
  return undefined;
}

function faultsIn(part: Part, request: FastifyRequest): Fault[] {
  const validate = request.getValidationFunction(part);
  const value = part === "querystring" ? request.query : request[part];
  if (!validate || validate(value)) return [];
  const { properties = {} } = (request.routeOptions.schema?.[part] ?? {}) as { properties?: object };
  const isKnown = ([name]: [string, unknown]) => Object.hasOwn(properties, name);
  const members = Object.entries(Object(value) as object);
  const unknown = members.filter((member) => !isKnown(member)).slice(0, MAX_REPORTED);
  const otherFaults = () => {
    const faults = faultsFrom(validate.errors, part);
    // Messages on paths of the old node are its own.
    return isOwnPath(request.url) ? faults.map((fault) => withMisspelt(fault, unknown)) : faults;
  };
  if (!validate.errors?.some(isUnknownMember)) return otherFaults();
  if (!validate(Object.fromEntries(members.filter(isKnown)))) return otherFaults();
  const known = unknown.length === 1 ? Object.keys(properties) : [];
  return unknown.map(([key]) => ({ key, code: "UNKNOWN_MEMBER", reason: expected.notAllowed(key, known) }));
}

/** Names the unknown member that was probably meant as the missing one. */
function withMisspelt(fault: Fault, unknown: readonly [name: string, value: unknown][]): Fault {
  if (fault.code !== "MISSING_MEMBER") return fault;
  const name = mostSimilar(
    fault.key,
    unknown.map(([name]) => name),
  );
  return name === undefined ? fault : { ...fault, reason: `${fault.reason}, not "${name}"` };
}

/** A compiled schema, which reports members that are not allowed before all other faults. */
type Validate = NonNullable<ReturnType<FastifyRequest["getValidationFunction"]>>;
type Failure = NonNullable<Validate["errors"]>[number];

const isUnknownMember = ({ instancePath, params }: Failure): boolean =>
  instancePath === "" && params.additionalProperty !== undefined;

/**
 * A choice between schemas fails for each schema, and as a whole: only the choice is reported if it has a description.
 */
function faultsFrom(failures: readonly Failure[] | null | undefined, part: Part): Fault[] {
  const all = failures ?? [];
  const described = all.filter(
    ({ keyword, parentSchema }) => keyword === "anyOf" && parentSchema?.description !== undefined,
  );
  const isPartOfDescribed = ({ schemaPath }: Failure) =>
    described.some((choice) => schemaPath.startsWith(`${choice.schemaPath}/`));
  return all
    .filter((failure) => failure.keyword !== "anyOf" || described.includes(failure))
    .filter((failure) => !isPartOfDescribed(failure))
    .map((failure) => ({
      key: keyOf(failure),
      code: codeOf(failure),
      reason: isRepeated(failure, part) ? expected.ONCE : reasonOf(failure),
    }));
}

/** A parameter that is given twice arrives as a list. */
const isRepeated = ({ keyword, data }: Failure & { readonly data?: unknown }, part: Part): boolean =>
  part === "querystring" && keyword === "type" && Array.isArray(data);

const keyOf = ({ params, instancePath }: Failure): string =>
  [...instancePath.split("/"), params.additionalProperty ?? params.missingProperty ?? ""]
    .filter((name) => name !== "")
    .join(".");

function codeOf({ keyword, params }: Failure): ErrorCode {
  if (params.additionalProperty !== undefined) return "UNKNOWN_MEMBER";
  return keyword === "required" ? "MISSING_MEMBER" : "INVALID_MEMBER";
}

function reasonOf({ keyword, params, message, parentSchema }: Failure): string {
  if (params.additionalProperty !== undefined)
    return expected.notAllowed(params.additionalProperty as string);
  if (keyword === "required") return expected.REQUIRED;
  if (keyword === "uniqueItems") return "must not contain duplicate items";
  const { description, type, minimum, maximum, minItems, maxItems } = (parentSchema ?? {}) as Expected;
  if (keyword === "minItems" || keyword === "maxItems") return expected.items(minItems, maxItems);
  // A value may be allowed both as a number and as text.
  if (keyword === "enum")
    return expected.mustBe(expected.oneOf((params.allowedValues as unknown[]).map(String)));
  if (DESCRIBED.has(keyword) && description !== undefined) return expected.mustBe(description);
  if (type === "integer") return expected.mustBe(expected.integer(minimum, maximum));
  if (keyword === "type") return expected.mustBe(expected.typeName(`${type}`));
  return message ?? "is not valid";
}

/** Keywords whose faults are reported by the description of the schema. */
const DESCRIBED = new Set(["anyOf", "format", "pattern"]);

/** Members of a schema that describe the expected value. */
type Expected = {
  readonly description?: string;
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
};
