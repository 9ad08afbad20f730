/** Every recorded response of the old network's API, on the chain that it was recorded on. */

import { openSqlite } from "../../../test-support/parity/read-models.ts";
import { testParity } from "./suite.ts";

testParity(openSqlite);
