/** Options of `uniknode scenario`. */
import { connectionOptions } from "../../config/connection.ts";
import { option, readInteger, readNodeUrl, readSwitch, readText } from "../../config/define-option.ts";
import { tokenOptions } from "../access/local-token.ts";
import { serviceOptions } from "../webhooks/service.ts";

const { json } = connectionOptions;

export const scenarioRunOptions = {
  url: option({
    name: "url",
    placeholder: "URL",
    sentence:
      "Base URL of a running dev chain; if not given, the command starts a new one and removes it afterwards.",
    read: readNodeUrl,
  }),
  ...tokenOptions,
  stepTimeout: option({
    name: "stepTimeout",
    variable: "UNIKNODE_SCENARIO_STEP_TIMEOUT",
    placeholder: "SECONDS",
    sentence: "Time limit of each step in seconds.",
    default: 30,
    read: readInteger(1, 600),
  }),
  junit: option({
    name: "junit",
    variable: "UNIKNODE_SCENARIO_JUNIT",
    placeholder: "FILE",
    sentence: "File for the report as JUnit XML.",
    read: readText,
  }),
  json,
};

export const scenarioRecordOptions = {
  ...serviceOptions,
  restart: option({
    name: "restart",
    variable: "UNIKNODE_SCENARIO_RESTART",
    sentence: "Begin a new recording afterwards, at the present head.",
    default: false,
    read: readSwitch,
  }),
};
