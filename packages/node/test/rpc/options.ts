/** Options of a companion on loopback that stores everything in memory. */
export const OPTIONS = {
  rpcHost: "127.0.0.1",
  rpcPort: 0,
  rpcAllow: "127.0.0.1",
  rpcHosts: ["node.example"],
  derivationsPerMinute: 0,
  rpcData: ":memory:",
};
