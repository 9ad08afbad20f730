/**
 * The kinds of parameter (http-api.md 3.1) as schemas, and their validation. A value in a path or a query stays text: the schema
 * defines the form of the text, and the handler converts it if it needs a number.
 */
import { isIP } from "node:net";
import type { Ajv, ValidateFunction } from "ajv";
import type { FastifyRequest, FastifySchema, FastifySchemaCompiler, FastifyServerOptions } from "fastify";
import { createAjv } from "../../platform/json/form.ts";
import { type TObject, type TProperties, type TString, Type } from "../../platform/json/schema.ts";
import * as expected from "../../platform/text/wording.ts";
import type { ListDefinition, OrderOf } from "../../read/list-definition.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";

/** Maximum length of a vendor field in any network. */
const MAX_VENDOR_FIELD_BYTES = 255;

const isUnsigned = (text: string): boolean => /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text));

/** Returns whether a text is an IPv4 or IPv6 address, or a range of addresses. */
function isIpText(text: string): boolean {
  const [address = "", prefix, ...others] = text.split("/");
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  if (bits === undefined || others.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}

export const MAX_LIMIT = 100;
const MAX_DAYS = 30;
const MAX_HOURS = 24 * MAX_DAYS;

const isBetween = (minimum: number, maximum: number) => (text: string) =>
  isUnsigned(text) && Number(text) >= minimum && Number(text) <= maximum;

export type Format = {
  readonly test: (text: string) => boolean;
  /** Description in the document, and in the response to an invalid value. */
  readonly description: string;
  /** Schema in the document: that of the value that the text represents. */
  readonly shown: Readonly<Record<string, unknown>>;
};

const MAX = Number.MAX_SAFE_INTEGER;
const integer = (minimum: number, maximum = MAX) => ({ type: "integer", minimum, maximum });

/** Definitions of the `format`s in the schemas below. */
export const formats = {
  uint: { test: isUnsigned, description: expected.integer(0), shown: integer(0) },
  "uint+": { test: isBetween(1, MAX), description: expected.integer(1), shown: integer(1) },
  int: {
    test: (text) => isUnsigned(text.replace(/^-/, "")),
    description: expected.integer(),
    shown: integer(-MAX),
  },
  limit: {
    test: isBetween(1, MAX_LIMIT),
    description: expected.integer(1, MAX_LIMIT),
    shown: { ...integer(1, MAX_LIMIT), default: MAX_LIMIT },
  },
  hours: {
    test: isBetween(1, MAX_HOURS),
    description: expected.integer(1, MAX_HOURS),
    shown: integer(1, MAX_HOURS),
  },
  days: {
    test: isBetween(1, MAX_DAYS),
    description: expected.integer(1, MAX_DAYS),
    shown: integer(1, MAX_DAYS),
  },
  percentage: {
    test: (text) => /^([0-9]{1,2}(\.[0-9]+)?|100(\.0+)?)$/.test(text),
    description: "a number from 0 to 100",
    shown: { type: "number", minimum: 0, maximum: 100 },
  },
  ip: { test: isIpText, description: "an address of IPv4 or IPv6", shown: { type: "string" } },
  bool: {
    test: (text) => /^(true|false)$/i.test(text),
    description: expected.BOOLEAN,
    shown: { type: "boolean" },
  },
  vendorField: {
    test: (text) => Buffer.byteLength(text) <= MAX_VENDOR_FIELD_BYTES,
    description: `a string of up to ${MAX_VENDOR_FIELD_BYTES} bytes`,
    shown: { type: "string", maxLength: MAX_VENDOR_FIELD_BYTES },
  },
} satisfies Readonly<Record<string, Format>>;
export type FormatName = keyof typeof formats;

const formatted = (format: FormatName) => Type.String({ format, description: formats[format].description });
/** Schema of a text; the response to an invalid value contains the description, as with a format. */
const text = (description: string, pattern: string) => Type.String({ pattern, description });

export const uint = formatted("uint");
export const positive = formatted("uint+");
export const int = formatted("int");
/** Maximum rows of a page. */
export const limit = formatted("limit");
/** Length of a period. */
export const hours = formatted("hours");
export const days = formatted("days");
export const bool = formatted("bool");
export const ip = formatted("ip");
export const hex = text("hexadecimal digits", "^[0-9a-fA-F]+$");
export const hex64 = text("64 hexadecimal digits", "^[0-9a-fA-F]{64}$");
export const digests = text(
  "1 to 16 times 64 hexadecimal digits, separated by commas",
  "^[0-9a-fA-F]{64}(,[0-9a-fA-F]{64}){0,15}$",
);
export const publicKey = text("66 hexadecimal digits", "^[0-9a-fA-F]{66}$");
/** The network byte is not checked: an address of another network is merely unknown. */
export const address = text("34 letters and digits", "^[0-9A-Za-z]{34}$");
/** A wallet kit sends the addresses of all its accounts in one parameter. */
export const addressList = text(
  "34 letters and digits, or up to 50 of these, separated by commas",
  "^[0-9A-Za-z]{34}(,[0-9A-Za-z]{34}){0,49}$",
);
export const username = text("a name of 1 to 64 of a-z, 0-9 and ! @ $ & _ .", "^[a-z0-9!@$&_.]{1,64}$");
export const vendorField = formatted("vendorField");
export const walletId = text(
  "an address, a public key or the username of a delegate",
  "^([a-z0-9!@$&_.]{1,64}|[0-9A-Za-z]{34}|[0-9a-fA-F]{66})$",
);
/** Block id, short or full; a height looks like a short one. */
export const blockId = text(
  "up to 20 decimal digits, or 64 hexadecimal digits",
  "^([0-9]{1,20}|[0-9a-fA-F]{64})$",
);

/** `<field>:<asc|desc>` with one of the fields. */
export const orderBy = (...fields: readonly string[]): TString =>
  text(`${expected.oneOf(fields)}, followed by :asc or :desc`, `^(${fields.join("|")}):(asc|desc)$`);

/** Schema of a query with these parameters, each optional; other parameters are refused. */
export const query = <P extends TProperties>(parameters: P): TObject<{ [K in keyof P]: P[K] }> =>
  Type.Object(parameters, { additionalProperties: false });

/** Parameter to request transformed objects, which is the default (http-api.md 3.6). */
export const transformQuery = { transform: Type.Optional(bool) };

export const wantsTransform = ({ transform }: { transform?: string }): boolean =>
  transform?.toLowerCase() !== "false";

/** Parses an `orderBy` text, which names one of the fields of the list; returns the default order without a text. */
export function orderOf<L extends ListDefinition>(text: string | undefined, list: L): OrderOf<L> {
  if (text === undefined) return list.defaultOrder;
  const [field = "", direction] = text.split(":");
  return { field, direction: direction === "desc" ? "desc" : "asc" };
}

const tests = Object.fromEntries(Object.entries(formats).map(([name, { test }]) => [name, test]));

type Factories = NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;
type Validator = ReturnType<FastifySchemaCompiler<FastifySchema>>;

/** Loads the library, and compiles each schema, at the first use: compiling all would be a third of the thread's start. */
export function createValidatorCompiler(): FastifySchemaCompiler<FastifySchema> {
  let ajv: Ajv | undefined;
  return ({ schema }) => {
    let compiled: ValidateFunction | undefined;
    const validator: Validator = (data: unknown) => {
      ajv ??= createAjv({ formats: tests });
      compiled ??= ajv.compile(schema);
      const isValid = compiled(data);
      validator.errors = (compiled.errors ?? null) as NonNullable<Validator["errors"]> | null;
      return isValid;
    };
    return validator;
  };
}

/** Replaces the compilers that the server would load. */
export const validatorFactory = createValidatorCompiler as unknown as NonNullable<
  Factories["buildValidator"]
>;

/** Adds the rules of queries that schemas cannot express. */
export function addQueryRules(app: Server): void {
  app.addHook("preValidation", (request, _reply, done) => {
    const query = request.query as Record<string, unknown>;
    // An empty value counts as absent (http-api.md 2), and so does `undefined`: some clients send `days=undefined`.
    for (const [name, value] of Object.entries(query)) {
      if (value === "" || value === "undefined") delete query[name];
    }
    if ("at" in query && ignoresAt(request)) {
      done(new HttpError("UNKNOWN_MEMBER", '"at" is not allowed: this route has no earlier states'));
    } else done();
  });
}

/**
 * Returns whether a route without earlier states ignores unknown parameters, as in the old network: the response would be the
 * present state.
 */
function ignoresAt({ method, routeOptions: { schema }, is404 }: FastifyRequest): boolean {
  if ((method !== "GET" && method !== "HEAD") || is404 || schema?.hide) return false;
  const { properties = {}, additionalProperties } = (schema?.querystring ?? {}) as {
    readonly properties?: object;
    readonly additionalProperties?: boolean;
  };
  return additionalProperties !== false && !("at" in properties);
}
