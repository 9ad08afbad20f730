/** Reads the operations from the node's OpenAPI document. */

export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
};

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema: Schema;
};

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
type Described = { readonly $ref?: string; readonly description?: string; readonly content?: Content };

/** Part of an OpenAPI document that the page reads. */
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly components: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly responses?: Readonly<Record<string, Described>>;
  };
};

type DescribedOperation = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly security?: readonly unknown[];
  readonly responses: Readonly<Record<string, Described>>;
};

export type Operation = {
  /** Unique id; part of its URL in the console. */
  readonly id: string;
  /** Method in upper case. */
  readonly method: string;
  /** Path after the API prefix, with parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly needsToken: boolean;
  /** True if it only reads, regardless of its method. */
  readonly isReading: boolean;
  readonly parameters: readonly Parameter[];
  /** Schema of the request body. */
  readonly body: Schema | undefined;
  readonly responses: readonly ResponseDescription[];
};

export type ResponseDescription = {
  readonly status: string;
  readonly description: string;
  /** Schema of the response body. */
  readonly schema: Schema | undefined;
};

export type Api = {
  readonly groups: readonly Group[];
  readonly schemas: Readonly<Record<string, Schema>>;
};

export type Group = {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
};

const JSON_TYPE = "application/json";
/** Read-only operations that use POST because of their body. */
const SEARCH = /\/(search|unlocked|test)$/;

export function apiOf({ paths, tags, components }: OpenApi): Api {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      tag: described.tags?.[0],
      operation: operationOf(method.toUpperCase(), path, described, components),
    })),
  );
  const groups = tags.map(({ name, description = "" }) => ({
    name,
    description,
    operations: operations.filter(({ tag }) => tag === name).map(({ operation }) => operation),
  }));
  return {
    groups: groups.filter(({ operations }) => operations.length > 0),
    schemas: components.schemas ?? {},
  };
}

function operationOf(
  method: string,
  path: string,
  { operationId, summary = "", parameters = [], requestBody, security = [], responses }: DescribedOperation,
  components: OpenApi["components"],
): Operation {
  return {
    id: operationId ?? `${method} ${path}`,
    method,
    path,
    summary,
    needsToken: security.length > 0,
    isReading: method === "GET" || SEARCH.test(path),
    parameters,
    body: requestBody?.content[JSON_TYPE]?.schema,
    responses: Object.entries(responses).map(([status, response]) => {
      const { description = "", content } =
        components.responses?.[response.$ref?.split("/").at(-1) ?? ""] ?? response;
      const schema = content?.[JSON_TYPE]?.schema;
      return { status, description, schema };
    }),
  };
}

/** Filters operations by words in method, path or summary, and drops empty groups. */
export function filterGroups(groups: readonly Group[], filter: string): readonly Group[] {
  const words = filter.toLowerCase().split(/\s+/);
  return groups
    .map((group) => ({
      ...group,
      operations: group.operations.filter(({ method, path, summary }) => {
        const text = `${group.name} ${method} ${path} ${summary}`.toLowerCase();
        return words.every((word) => text.includes(word));
      }),
    }))
    .filter(({ operations }) => operations.length > 0);
}
