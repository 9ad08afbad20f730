/** The server to which routes and hooks are added, and the prefixes of the routes of the API. */
import type { IncomingMessage, ServerResponse, Server as TcpServer } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";

export type Server = FastifyInstance<
  TcpServer,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** Prefixes of the API; each route is served below both. */
export const API_PREFIXES = ["/api", "/api/v2"] as const;
