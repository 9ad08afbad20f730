/** Every attack, in order: attacks that leave the most data come last, then attacks with a node of their own. */
import type { Attack } from "../attack-definition.ts";
import { largeUnik, largeWallet } from "./accumulated.ts";
import { ipv6Flood, multisignatureFlood, pipelinedPayments, unsignedFlood } from "./admissions.ts";
import { compressedBodies, deepBodies } from "./bodies.ts";
import {
  halfOpenConnections,
  headerFloods,
  idleConnections,
  manyAddresses,
  methodFloods,
  pipelinedRequests,
  silentConnections,
  slowBodies,
  slowHeaders,
  slowReaders,
} from "./connections.ts";
import { consoleFlood } from "./console.ts";
import { fullDisk } from "./disk.ts";
import { registerImports } from "./imports.ts";
import { ipv6Peers } from "./ipv6.ts";
import { unwritableLog } from "./log.ts";
import { longMessages } from "./long-messages.ts";
import { lyingPeers } from "./lying-peers.ts";
import { silentNames } from "./names.ts";
import { extremePages, operationsFlood } from "./pages.ts";
import { peerTransactions } from "./peer-transactions.ts";
import { delegateBlocks, peerMessages, peerSessions } from "./peers.ts";
import { pendingPages } from "./pending.ts";
import { nonceGaps, replacedTransactions, unfundedTransactions } from "./pool.ts";
import { chunkExtensions, interimResponses, trailers } from "./responses.ts";
import { restoredFolder } from "./restore.ts";
import { rpcBatches } from "./rpc.ts";
import { foreignFlood, largeFlood, registrationFlood } from "./signed-junk.ts";
import { abandonedStreams, hostileConditions, unreadStreams } from "./streams.ts";
import { foreignPages, hangingReceivers, registrations } from "./webhooks.ts";

export const ATTACKS: readonly Attack[] = [
  deepBodies,
  compressedBodies,
  halfOpenConnections,
  silentConnections,
  idleConnections,
  slowHeaders,
  slowBodies,
  slowReaders,
  pipelinedRequests,
  headerFloods,
  methodFloods,
  manyAddresses,
  extremePages,
  operationsFlood,
  consoleFlood,
  foreignPages,
  unfundedTransactions,
  nonceGaps,
  replacedTransactions,
  unsignedFlood,
  multisignatureFlood,
  foreignFlood,
  registrationFlood,
  largeFlood,
  abandonedStreams,
  unreadStreams,
  hostileConditions,
  peerSessions,
  peerMessages,
  longMessages,
  peerTransactions,
  pendingPages,
  ipv6Peers,
  delegateBlocks,
  rpcBatches,
  unwritableLog,
  interimResponses,
  chunkExtensions,
  trailers,
  hangingReceivers,
  registrations,
  fullDisk,
  restoredFolder,
  silentNames,
  registerImports,
  pipelinedPayments,
  ipv6Flood,
  lyingPeers,
  largeWallet,
  largeUnik,
];
