/** Lowers the priority of a test worker and of the processes that it starts: other tests keep time with the clock. */
import { constants, setPriority } from "node:os";

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
