/** The address of each screen, and the file that is loaded for it. */
import lazy from "preact-iso/lazy";

export const routes = [
  { path: "/console", component: lazy(() => import("../screens/overview/index.tsx")) },
  { path: "/console/blocks", component: lazy(() => import("../screens/blocks/index.tsx")) },
  { path: "/console/blocks/:id", component: lazy(() => import("../screens/block/index.tsx")) },
  { path: "/console/transactions", component: lazy(() => import("../screens/transactions/index.tsx")) },
  { path: "/console/transactions/:id", component: lazy(() => import("../screens/transaction/index.tsx")) },
  { path: "/console/wallets", component: lazy(() => import("../screens/wallets/index.tsx")) },
  { path: "/console/wallets/:id", component: lazy(() => import("../screens/wallet/index.tsx")) },
  { path: "/console/uniks", component: lazy(() => import("../screens/uniks/index.tsx")) },
  { path: "/console/uniks/:id", component: lazy(() => import("../screens/unik/index.tsx")) },
  { path: "/console/delegates", component: lazy(() => import("../screens/delegates/index.tsx")) },
  { path: "/console/delegates/:name", component: lazy(() => import("../screens/delegate/index.tsx")) },
  // These have addresses of their own below theirs.
  { path: "/console/webhooks/:rest*", component: lazy(() => import("../screens/webhooks/index.tsx")) },
  { path: "/console/live", component: lazy(() => import("../screens/live/index.tsx")) },
  { path: "/console/node/:rest*", component: lazy(() => import("../screens/node/index.tsx")) },
  { path: "/console/dev", component: lazy(() => import("../screens/dev/index.tsx")) },
  { path: "/console/send", component: lazy(() => import("../screens/send/index.tsx")) },
  { path: "/console/docs/:rest*", component: lazy(() => import("../screens/docs/index.tsx")) },
  { path: "/console/sign-in", component: lazy(() => import("../screens/sign-in/index.tsx")) },
] as const;
