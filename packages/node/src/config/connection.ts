/** Options of commands that call the API of a node. */
import { option, readInteger, readNodeUrl, readSwitch } from "./define-option.ts";

export const connectionOptions = {
  url: option({
    name: "url",
    placeholder: "URL",
    sentence: "Base URL of the node.",
    default: "http://127.0.0.1:4003",
    read: readNodeUrl,
  }),
  timeout: option({
    name: "timeout",
    placeholder: "SECONDS",
    sentence: "Timeout in seconds for each response of the node.",
    default: 10,
    read: readInteger(1, 3_600),
  }),
  json: option({
    name: "json",
    sentence: "Print one JSON document.",
    default: false,
    read: readSwitch,
  }),
};
