/** Options of commands that call the API of a node. */

import { optionTable, readInteger, readNodeUrl, readSwitch } from "./define-option.ts";
import { nodeOptions } from "./options.ts";

export const connectionOptions = optionTable({
  url: {
    placeholder: "URL",
    sentence: "Base URL of the node.",
    default: "http://127.0.0.1:4003",
    read: readNodeUrl,
  },
  data: {
    ...nodeOptions.data,
    sentence: "Data folder of a running node on this machine, whose base URL is used if --url is not given.",
  },
  timeout: {
    placeholder: "SECONDS",
    sentence: "Timeout in seconds for each response of the node.",
    default: 10,
    read: readInteger(1, 3_600),
  },
  json: {
    sentence: "Print one JSON document.",
    default: false,
    read: readSwitch,
  },
});
