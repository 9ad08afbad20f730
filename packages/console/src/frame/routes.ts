/** URL and file of each screen. */
import { loadable } from "../components/loadable.tsx";

export const routes = [
  { path: "/console", component: loadable(() => import("../screens/overview/index.tsx")) },
  { path: "/console/blocks", component: loadable(() => import("../screens/blocks/list.tsx")) },
  { path: "/console/blocks/:id", component: loadable(() => import("../screens/blocks/detail.tsx")) },
  { path: "/console/transactions", component: loadable(() => import("../screens/transactions/list.tsx")) },
  {
    path: "/console/transactions/:id",
    component: loadable(() => import("../screens/transactions/detail.tsx")),
  },
  { path: "/console/wallets", component: loadable(() => import("../screens/wallets/list.tsx")) },
  { path: "/console/wallets/:id", component: loadable(() => import("../screens/wallets/detail.tsx")) },
  { path: "/console/uniks", component: loadable(() => import("../screens/uniks/list.tsx")) },
  { path: "/console/uniks/:id", component: loadable(() => import("../screens/uniks/detail.tsx")) },
  { path: "/console/delegates", component: loadable(() => import("../screens/delegates/list.tsx")) },
  { path: "/console/delegates/:name", component: loadable(() => import("../screens/delegates/detail.tsx")) },
  // These screens have sub-pages.
  { path: "/console/webhooks/:rest*", component: loadable(() => import("../screens/webhooks/index.tsx")) },
  { path: "/console/live", component: loadable(() => import("../screens/live/index.tsx")) },
  { path: "/console/node/:rest*", component: loadable(() => import("../screens/node/index.tsx")) },
  { path: "/console/dev", component: loadable(() => import("../screens/dev/index.tsx")) },
  { path: "/console/send", component: loadable(() => import("../screens/send/index.tsx")) },
  { path: "/console/docs/:rest*", component: loadable(() => import("../screens/docs/index.tsx")) },
  { path: "/console/sign-in", component: loadable(() => import("../screens/sign-in/index.tsx")) },
] as const;
