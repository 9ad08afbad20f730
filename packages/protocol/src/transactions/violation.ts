/** Describes a violation of a schema for the author of the transaction. */

import type { ErrorObject } from "ajv";
import { present } from "../present.ts";
import type { SchemaViolation } from "./errors.ts";
import { type Limits, MULTI_PAYMENT, U63_MAX } from "./keywords.ts";

/** `errors` of the schema, which stops at the first one, except for one of each failed choice. */
export function violationOf(errors: readonly ErrorObject[], limits: Limits): SchemaViolation {
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
