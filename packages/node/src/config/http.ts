/** Options of the HTTP server: addresses, connections, the listener of health and metrics, and the console. */
import { optionTable, readChoice, readHosts, readInteger, readRanges, readText } from "./define-option.ts";

export const httpOptions = optionTable({
  httpHost: {
    placeholder: "HOST",
    sentence: "Address that the HTTP server listens on.",
    oldVariables: ["CORE_API_HOST"],
    default: "127.0.0.1",
    read: readText,
  },
  httpPort: {
    placeholder: "PORT",
    sentence: "Port of the HTTP server; 0 selects a free port and prints it.",
    oldVariables: ["CORE_API_PORT"],
    default: 4003,
    read: readInteger(0, 65535),
  },
  httpAllow: {
    placeholder: "RANGES",
    sentence:
      "Client addresses and networks that may use the HTTP server, separated by commas (192.0.2.7,10.0.0.0/8); * for all.",
    default: "*",
    read: readRanges,
  },
  httpTrustProxy: {
    placeholder: "RANGES",
    sentence:
      "Addresses of trusted proxies in front of the HTTP server, in the format of httpAllow; the client address is read from their X-Forwarded-For header.",
    read: readRanges,
  },
  httpHosts: {
    placeholder: "NAMES",
    sentence:
      "Names and addresses of this machine, separated by commas, that are allowed in the Host header of console requests, in addition to localhost and the address that a request arrives at.",
    default: [],
    read: readHosts,
  },
  httpKeepAlive: {
    placeholder: "SECONDS",
    sentence:
      "Time for which a connection to the HTTP server stays open without a request; longer than that of a proxy in front of it.",
    default: 10,
    read: readInteger(1, 3_600),
  },
  operationsPort: {
    placeholder: "PORT",
    sentence:
      "Port of a separate listener for /health and /metrics, which httpPort then does not serve; 0 selects a free port.",
    read: readInteger(0, 65535),
  },
  operationsHost: {
    placeholder: "HOST",
    sentence:
      "Address that the separate listener of operationsPort listens on; a Prometheus on another machine or in another container needs another one than loopback.",
    default: "127.0.0.1",
    read: readText,
  },
  console: {
    placeholder: "on|off",
    sentence: "Serve the console, a web interface at /console/; operator pages require signing in.",
    default: "on" as const,
    read: readChoice("on", "off"),
  },
  rateLimit: {
    placeholder: "N",
    sentence: "Maximum number of requests per minute and client; 0 for no limit.",
    oldVariables: ["CORE_API_RATE_LIMIT_USER_LIMIT"],
    default: 100,
    read: readInteger(0, 1_000_000),
  },
});
