/** The schema of each type (transactions.md 8). */
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import { createAjv } from "#ajv";
import { present } from "../present.ts";
import type { SchemaViolation } from "./errors.ts";
import { copyJson } from "./json.ts";
import { keywords, type Limits, MULTI_PAYMENT, U63_MAX } from "./keywords.ts";
import { TYPE_GROUPS } from "./type-groups.ts";
import { alphanumericText, distinctItems, hashText, publicKeyText, u63 } from "./types/members.ts";
import { milestoneOf, type TransactionContext, transactionTypes } from "./types/registry.ts";
import type { MemberSchema, TransactionType, TypeSchema } from "./types/type.ts";

/** The members of every type (transactions.md 8.1). */
const commonMembers: Record<string, MemberSchema> = {
  id: { anyOf: [hashText, { type: "null" }] },
  version: { enum: [1, 2] },
  network: { network: true },
  timestamp: { type: "integer", minimum: 0 },
  nonce: u63(0),
  typeGroup: { type: "integer", minimum: 0 },
  amount: u63(1),
  fee: u63(0),
  senderPublicKey: publicKeyText,
  signature: alphanumericText,
  secondSignature: alphanumericText,
  signSignature: alphanumericText,
  signatures: distinctItems(
    { ...alphanumericText, minLength: 130, maxLength: 130 },
    { minItems: 1, maxItems: 16 },
  ),
};

const always = ["type", "senderPublicKey", "fee", "amount"];

/** The base form of a type with the additions of the Signed form (transactions.md 8.2). */
const signedSchema = (number: number, { properties, required = [] }: TypeSchema): MemberSchema => ({
  type: "object",
  if: { properties: { version: { enum: [null, 1] } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: [...always, "timestamp"] },
  else: { required: [...always, "nonce"] },
  required: ["id", ...required],
  anyOf: [{ required: ["signature"] }, { required: ["signatures"] }],
  properties: { ...commonMembers, type: { transactionType: number }, ...properties },
});

/** `members` are the members that the type defines. */
type Form = { isSigned: ValidateFunction; members: ReadonlySet<string> };

const createCompiler = () =>
  createAjv({
    strict: false,
    // The schemas are trusted: without checking them, the first one is compiled 45 ms earlier.
    meta: false,
    validateSchema: false,
    $data: true,
    // A violation needs the requirement of the schema.
    verbose: true,
    passContext: true,
    removeAdditional: true,
    unicodeRegExp: false,
    // The optimizer takes half of the time to compile; the engine does the same work better.
    code: { optimize: false },
    keywords,
  });

let ajv: Ajv | undefined;
const forms = new Map<TypeSchema, Form>();

/** Compiled at first use, for all networks: values that depend on the milestone are read at each run. */
function formOf(number: number, schema: TypeSchema): Form {
  let form = forms.get(schema);
  if (!form) {
    ajv ??= createCompiler();
    const members = new Set(["type", ...Object.keys(commonMembers), ...Object.keys(schema.properties)]);
    form = { isSigned: ajv.compile(signedSchema(number, schema)), members };
    forms.set(schema, form);
  }
  return form;
}

/**
 * Compiles the schemas that are not compiled yet, one in each step. Otherwise, the first transaction of each
 * type costs tens of milliseconds more.
 */
export function* compileSchemas(): Generator<void, void> {
  for (const { type, schema, legacySchema } of transactionTypes) {
    for (const form of legacySchema ? [schema, legacySchema] : [schema]) {
      formOf(type, form);
      yield;
    }
  }
}

/**
 * Checks the Strict form of a type and *rewrites* the transaction: unknown members are removed, keys converted to
 * lower case, 64-bit values become `bigint`.
 *
 * @returns the first violation
 */
export function strictViolation(
  transaction: Record<string, unknown>,
  type: TransactionType,
  context: TransactionContext,
): SchemaViolation | undefined {
  const { isSigned, members } = formOf(type.type, type.schema);
  for (const name of Object.keys(transaction)) if (!members.has(name)) delete transaction[name];
  const limits = limitsOf(context, true);
  return isSigned.call(limits, transaction) ? undefined : violationOf(isSigned.errors ?? [], limits);
}

/**
 * Returns true if each item matches the Signed form of some type (transactions.md 8.2): the check of complete
 * batches, before the check of each transaction by its own Strict schema. The items are not changed.
 *
 * @returns the violation of the first item without a match, in terms of the type that it names; `anyOf` if it
 *   names none
 */
export function matchesBatchSchema(
  items: readonly unknown[],
  context: TransactionContext,
): SchemaViolation | undefined {
  const limits = limitsOf(context, false);
  const index = items.findIndex((item) => !matchesSomeType(item, limits));
  if (index < 0) return undefined;
  const violation = violationOfNamedType(items[index], limits) ?? OF_NO_TYPE;
  return { ...violation, path: `/${index}${violation.path}` };
}

const OF_NO_TYPE: SchemaViolation = {
  path: "",
  rule: "anyOf",
  expectation: 'must name a known type by the integers "type" and "typeGroup", which is 1 if absent',
};

function violationOfNamedType(item: unknown, limits: Limits): SchemaViolation | undefined {
  const { typeGroup = TYPE_GROUPS.core, type } = (item ?? {}) as { typeGroup?: unknown; type?: unknown };
  const named = transactionTypes.find((known) => known.typeGroup === typeGroup && known.type === type);
  if (!named) return undefined;
  const { isSigned } = formOf(named.type, named.schema);
  return isSigned.call(limits, copyJson(item)) ? undefined : violationOf(isSigned.errors ?? [], limits);
}

function matchesSomeType(item: unknown, limits: Limits): boolean {
  const { type: number } = (item ?? {}) as { type?: unknown };
  // No schema accepts another number, except for the trap of type 6.
  const candidates = transactionTypes.filter(({ type }) => number === type || number === MULTI_PAYMENT);
  if (candidates.length === 0) return false;
  const copy = copyJson(item);
  return candidates.some(({ type, schema, legacySchema }) => {
    const schemas = legacySchema ? [schema, legacySchema] : [schema];
    return schemas.some((form) => formOf(type, form).isSigned.call(limits, copy));
  });
}

function limitsOf(context: TransactionContext, isStrict: boolean): Limits {
  const { vendorFieldLength, multiPaymentLimit = 500 } = milestoneOf(context);
  return {
    networkByte: context.network.description.pubKeyHash,
    vendorFieldLength,
    multiPaymentLimit,
    isStrict,
  };
}

/** `errors` of the schema, which stops at the first one, except for one of each failed choice. */
function violationOf(errors: readonly ErrorObject[], limits: Limits): SchemaViolation {
  const first = errors.find((error) => !isOfAnotherChoice(error)) ?? errors[0];
  const reported = present(first, "the error of the schema");
  const { instancePath, keyword, params } = reported;
  const missing = keyword === "required" ? `/${escaped(params.missingProperty)}` : "";
  return {
    path: instancePath + missing,
    rule: keyword,
    expectation: expectationOf(reported, errors, limits),
  };
}

/** Returns true for the least useful errors of a choice: they distinguish its branches, or report the choice itself. */
const isOfAnotherChoice = ({ keyword, params }: ErrorObject): boolean =>
  keyword === "const" || keyword === "anyOf" || (keyword === "type" && params.type === "null");

/** Escapes a name as in a JSON pointer. */
const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

function expectationOf(error: ErrorObject, errors: readonly ErrorObject[], limits: Limits): string {
  const { keyword, params, schema, data, instancePath, propertyName, message = "is not valid" } = error;
  if (propertyName !== undefined) return `has a member whose name ${message}`;
  switch (keyword) {
    case "required":
      return "is required";
    case "not":
      return "is not allowed";
    case "enum":
      return mustBeOneOf((params.allowedValues as unknown[]).filter((value) => value !== null));
    case "const": {
      const same = errors.filter((other) => other.keyword === keyword && other.instancePath === instancePath);
      return mustBeOneOf(same.map((other) => other.params.allowedValue));
    }
    case "u63": {
      const { minimum, maximum = U63_MAX } = schema as { minimum: number; maximum?: number };
      if (maximum === minimum) return `must be ${minimum}`;
      return `must be an integer from ${minimum} to ${maximum}, as a number or as text`;
    }
    case "network":
      return `must be ${limits.networkByte}, as on the whole network`;
    case "vendorField":
      return `must have up to ${limits.vendorFieldLength} bytes`;
    case "transactionType":
      // The keyword also limits the payments.
      return schema === MULTI_PAYMENT && data === MULTI_PAYMENT
        ? `${MULTI_PAYMENT} allows up to ${limits.multiPaymentLimit} payments`
        : `must be ${schema}`;
    case "notNegative":
      return "must not be negative";
    case "seedNode":
      return "must be an IPv4 or IPv6 address, and none of the machine itself";
    default:
      return message;
  }
}

const mustBeOneOf = (values: readonly unknown[]): string => `must be ${values.join(" or ")}`;
