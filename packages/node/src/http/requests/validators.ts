/** Validates parameters and bodies by the schemas of their routes. */
import { Ajv, type ValidateFunction } from "ajv";
import type { FastifySchema, FastifySchemaCompiler, FastifyServerOptions } from "fastify";
import { formats } from "./parameters.ts";

const tests = Object.fromEntries(Object.entries(formats).map(([name, { test }]) => [name, test]));

type Factories = NonNullable<NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]>;
type Validator = ReturnType<FastifySchemaCompiler<FastifySchema>>;

/** Compiles each schema at its first use: compiling all would be a third of the thread's start. */
export function createValidatorCompiler(): FastifySchemaCompiler<FastifySchema> {
  // The schemas are trusted: checking them takes longer than compiling them.
  const ajv = new Ajv({
    addUsedSchema: false,
    meta: false,
    validateSchema: false,
    verbose: true,
    code: { optimize: false },
    formats: tests,
  });
  return ({ schema }) => {
    let compiled: ValidateFunction | undefined;
    const validator: Validator = (data: unknown) => {
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
