/** Routes for operators besides health and metrics, protected by the webhook token (operations.md 10). */
import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import type { Server } from "../../http/core/app.ts";
import { described, single } from "../../http/documentation/route.ts";
import { query } from "../../http/requests/parameters.ts";
import type { Access } from "../../http/webhooks/access.ts";
import { type Static, Type } from "../../platform/json/schema.ts";
import { NodeOverview } from "../overview.ts";
import { FIGURE_NAMES, SERIES_FIGURES, type Series } from "../series.ts";

export type Operator = {
  readonly overview: () => Promise<NodeOverview>;
  readonly series: Pick<Series, "since">;
  readonly seriesIntervalSeconds: number;
  readonly options: StartOption[];
};

const nullable = Type.Union([Type.Number(), Type.Null()]);

const Column = (description: string) => Type.Array(nullable, { description });
const SeriesResponse = Type.Object(
  {
    intervalSeconds: Type.Integer({ minimum: 1 }),
    times: Type.Array(Type.Integer(), {
      description: "Time of each sample, in seconds since 1970, ascending.",
    }),
    figures: Type.Object(
      Object.fromEntries(FIGURE_NAMES.map((name) => [name, Column(SERIES_FIGURES[name])])),
      { description: "One value per time; null if it was unknown." },
    ),
  },
  { title: "Series" },
);

const StartOption = Type.Object(
  {
    option: Type.String({ description: "Name in the configuration file." }),
    value: Type.Optional(
      Type.Unsafe<string | number | boolean | readonly string[]>({
        description: "`***` for a secret. Absent if there is neither a value nor a default.",
        anyOf: [
          { type: "string" },
          { type: "number" },
          { type: "boolean" },
          { type: "array", items: { type: "string" } },
        ],
      }),
    ),
    origin: Type.Enum(["default", "file", "environment", "argument"]),
    source: Type.Optional(Type.String({ description: "The flag, variable or file that sets the value." })),
  },
  { title: "Option" },
);
type StartOption = Static<typeof StartOption>;

/** Creates a plugin for each prefix of the routes. */
export function createOperatorRoutes(
  access: Access,
  { overview, series, seriesIntervalSeconds, options }: Operator,
): FastifyPluginAsync {
  return async (scope: FastifyInstance) => {
    const app = scope as unknown as Server;
    app.addHook("onRequest", access);

    app.get(
      "/operations/node",
      { schema: schemaOf("State of each part of the node.", NodeOverview) },
      async () => ({
        data: await overview(),
      }),
    );

    app.get(
      "/operations/series",
      {
        schema: {
          ...schemaOf("Metrics of the last hours, kept in memory since the process started.", SeriesResponse),
          querystring: query({
            since: Type.Optional(
              Type.String({
                format: "uint",
                description: "Only samples after this time, in seconds since 1970.",
              }),
            ),
          }),
        },
      },
      ({ query: { since } }) => ({
        data: { intervalSeconds: seriesIntervalSeconds, ...series.since(Number(since ?? -1)) },
      }),
    );

    app.get(
      "/operations/options",
      { schema: schemaOf("Options with their values and origins.", Type.Array(StartOption)) },
      () => ({ data: options }),
    );
  };
}

const schemaOf = <A extends Parameters<typeof single>[0]>(summary: string, response: A) => ({
  ...described("Operations", summary, single(response)),
  querystring: query({}),
  response: {
    200: single(response),
    401: Type.Object({}, { description: "Wrong token." }),
  },
  security: [{ token: [] }],
});
