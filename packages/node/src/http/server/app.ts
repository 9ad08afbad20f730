/** The type of the server to which routes and hooks are added. */
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
