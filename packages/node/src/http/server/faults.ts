/**
 * What is told of a request that does not fit its schemas. Where it has several faults, those that the old node told
 * (http-api.md 2): of the first part and the first member that have any, in the order of the schemas, and only
 * then the members that are too many, all of them.
 */
import type { FastifyRequest } from "fastify";

/** Parts of a request as schemas call them, and as answers do; in the order in which they are looked at. */
const SOURCES = { params: "params", querystring: "query", body: "payload" } as const;
type Part = keyof typeof SOURCES;
type Source = (typeof SOURCES)[Part];

/** Of members that are too many: a body has room for a hundred thousand. */
const MAX_TOLD = 100;

export type Fault = {
  /** The parameter or member, as `id.0` for an item; empty for a body as a whole. */
  readonly key: string;
  readonly reason: string;
};

/** The part that is at fault, and how. */
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
  if (!validate.errors?.some(isMemberTooMany)) return faultsFrom(validate.errors);
  const members = Object.entries(value as object);
  const { properties = {} } = (request.routeOptions.schema?.[part] ?? {}) as { properties?: object };
  const isKnown = ([name]: [string, unknown]) => Object.hasOwn(properties, name);
  if (!validate(Object.fromEntries(members.filter(isKnown)))) return faultsFrom(validate.errors);
  const unknown = members.filter((member) => !isKnown(member)).slice(0, MAX_TOLD);
  return unknown.map(([key]) => ({ key, reason: NOT_ALLOWED }));
}

const NOT_ALLOWED = "is not allowed";

/** What the compiled schemas say, which look for members that are too many before all others. */
type Validate = NonNullable<ReturnType<FastifyRequest["getValidationFunction"]>>;
type Failure = NonNullable<Validate["errors"]>[number];

const isMemberTooMany = ({ instancePath, params }: Failure): boolean =>
  instancePath === "" && params.additionalProperty !== undefined;

/** A choice between schemas fails once for each of them, and once as a whole: that one is told where it is described. */
function faultsFrom(failures: readonly Failure[] | null | undefined): Fault[] {
  const all = failures ?? [];
  const described = all.filter(
    ({ keyword, parentSchema }) => keyword === "anyOf" && parentSchema?.description !== undefined,
  );
  const isToldAsAWhole = ({ schemaPath }: Failure) =>
    described.some((choice) => schemaPath.startsWith(`${choice.schemaPath}/`));
  return all
    .filter((failure) => failure.keyword !== "anyOf" || described.includes(failure))
    .filter((failure) => !isToldAsAWhole(failure))
    .map((failure) => ({ key: keyOf(failure), reason: reasonOf(failure) }));
}

const keyOf = ({ params, instancePath }: Failure): string =>
  [...instancePath.split("/"), params.additionalProperty ?? params.missingProperty ?? ""]
    .filter((name) => name !== "")
    .join(".");

/** Rules that the description of their schema puts into words. */
const DESCRIBED = new Set(["anyOf", "format", "pattern"]);

function reasonOf({ keyword, params, message, parentSchema }: Failure): string {
  if (params.additionalProperty !== undefined) return NOT_ALLOWED;
  if (keyword === "required") return "is required";
  // Numbers may come as numbers and as text.
  if (keyword === "enum")
    return `must be ${[...new Set((params.allowedValues as unknown[]).map(String))].join(" or ")}`;
  const expected: string | undefined = DESCRIBED.has(keyword) ? parentSchema?.description : undefined;
  return expected === undefined ? (message ?? "is not valid") : `must be: ${expected}`;
}
