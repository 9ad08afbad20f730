/** Validates parameters and bodies by the schemas of their routes, without the parameters that count as absent. */
import { createRequire } from "node:module";
import type { Ajv, ValidateFunction } from "ajv";
import type { FastifySchema, FastifySchemaCompiler, FastifyServerOptions } from "fastify";
import type { Server } from "../core/app.ts";
import { formats } from "./parameters.ts";

const tests = Object.fromEntries(Object.entries(formats).map(([name, { test }]) => [name, test]));

type Factories = NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;
type Validator = ReturnType<FastifySchemaCompiler<FastifySchema>>;

const load = createRequire(import.meta.url);

/** Loads the library, and compiles each schema, at the first use: compiling all would be a third of the thread's start. */
export function createValidatorCompiler(): FastifySchemaCompiler<FastifySchema> {
  let ajv: Ajv | undefined;
  return ({ schema }) => {
    let compiled: ValidateFunction | undefined;
    const validator: Validator = (data: unknown) => {
      ajv ??= createAjv();
      compiled ??= ajv.compile(schema);
      const isValid = compiled(data);
      validator.errors = (compiled.errors ?? null) as NonNullable<Validator["errors"]> | null;
      return isValid;
    };
    return validator;
  };
}

/** The schemas are trusted: checking them takes longer than compiling them. */
function createAjv(): Ajv {
  const library = load("ajv") as typeof import("ajv");
  return new library.Ajv({
    addUsedSchema: false,
    meta: false,
    validateSchema: false,
    verbose: true,
    code: { optimize: false },
    formats: tests,
  });
}

/** Replaces the compilers that the server would load. */
export const validatorFactory = createValidatorCompiler as unknown as NonNullable<
  Factories["buildValidator"]
>;

/** An empty query value counts as absent (http-api.md 2), and so does `undefined`: some clients send `days=undefined`. */
export function addAbsentValues(app: Server): void {
  app.addHook("preValidation", (request, _reply, done) => {
    const query = request.query as Record<string, unknown>;
    for (const [name, value] of Object.entries(query)) {
      if (value === "" || value === "undefined") delete query[name];
    }
    done();
  });
}
