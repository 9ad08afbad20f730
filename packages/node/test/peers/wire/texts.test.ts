/** Texts of clients: almost valid ones, and valid ones that look unusual. */
import { describe, expect, test } from "vitest";
import { readClientMessage } from "../../../src/peers/wire/client-messages.ts";
import type { WireErrorCode } from "../../../src/peers/wire/wire-error.ts";
import { codeOf } from "./hostile.ts";

const STATUS = '"event":"p2p.peer.getStatus"';
const EMPTY = '"data":{"data":{},"headers":{}}';
const ID = "ab".repeat(32);

/** A call of an event with the text of its argument. */
const call = (event: string, argument: string, headers = "{}") =>
  `{"event":"${event}","data":{"data":${argument},"headers":${headers}},"cid":2}`;
const getBlocks = (members: string) => call("p2p.peer.getBlocks", `{"lastBlockHeight":1${members}}`);
const post = (transactions: string) => call("p2p.peer.postTransactions", `{"transactions":${transactions}}`);

describe("is a call, despite its form:", () => {
  test.each<[string, string]>([
    ["members in another order", `{"cid":2,"data":{"headers":{},"data":{}},${STATUS}}`],
    [
      "blanks everywhere",
      ` \t\r\n{ ${STATUS} , "data" : { "data" : { } , "headers" : { } } , "cid" : 2 } \n`,
    ],
    ["an event in escapes", `{"event":"\\u00702p.peer.getStatus",${EMPTY},"cid":2}`],
    ["a number that is not an integer", `{${STATUS},${EMPTY},"cid":-1.5}`],
    ["a value that is not a number", `{${STATUS},${EMPTY}}`],
    ["headers of an unknown type", call("p2p.peer.getStatus", "{}", '{"version":null,"port":0,"height":""}')],
    ["digits with a letter between them as text", call("p2p.peer.getStatus", "{}", '{"version":"1e5"}')],
    ["ids in capitals", call("p2p.peer.getCommonBlocks", `{"ids":["${ID.toUpperCase()}"]}`)],
    ["an id of one digit", call("p2p.peer.getCommonBlocks", '{"ids":["7"]}')],
    ["the same id ten times", call("p2p.peer.getCommonBlocks", `{"ids":[${Array(10).fill(`"${ID}"`)}]}`)],
    ["a height beyond every chain", getBlocks(',"blockLimit":400').replace(":1,", ":9007199254740991,")],
    ["an empty block", call("p2p.peer.postBlock", '{"block":{"base64":true,"data":""}}')],
    [
      "bytes with a member that is dropped",
      call("p2p.peer.postBlock", '{"block":{"base64":true,"data":"AA==","x":1}}'),
    ],
    ["no transactions", post("[]")],
    ["invalid transactions", post('[{},{"a":{"b":[1,2,{}]}}]')],
    ["names of inherited members", post('[{"constructor":1,"__proto__":{"a":1},"toString":null}]')],
  ])("%s", (_, text) => {
    expect(readClientMessage(text)).toMatchObject({ kind: "call" });
  });
});

test("Names of inherited members have no effect.", () => {
  readClientMessage(post('[{"__proto__":{"polluted":true}}]'));
  expect("polluted" in {}).toBe(false);
});

describe("is refused:", () => {
  test.each<[string, string, WireErrorCode]>([
    ["nothing", "", "MESSAGE_TOO_SHORT"],
    ["the other keep-alive text", "#1", "MESSAGE_TOO_SHORT"],
    ["a pong with a blank", "#2 ", "MESSAGE_TOO_SHORT"],
    ["blanks", " ".repeat(20), "MESSAGE_JSON"],
    ["a text in quotation marks", '"p2p.peer.getStatus"', "MESSAGE_JSON"],
    ["a number", "12345678901", "MESSAGE_JSON"],
    ["null and blanks", "null      ", "MESSAGE_JSON"],
    ["a byte order mark", `\ufeff{${STATUS},${EMPTY},"cid":2}`, "MESSAGE_JSON"],
    ["a blank that JSON does not allow", `\u00a0{${STATUS},${EMPTY},"cid":2}`, "MESSAGE_JSON"],
    ["a comma too many", `{${STATUS},${EMPTY},"cid":2,}`, "MESSAGE_JSON"],
    ["text after it", `{${STATUS},${EMPTY},"cid":2}}`, "MESSAGE_JSON"],
    ["two messages", `{${STATUS},${EMPTY},"cid":2}{${STATUS},${EMPTY},"cid":3}`, "MESSAGE_JSON"],
    ["half a message", `{${STATUS},${EMPTY},"cid"`, "MESSAGE_JSON"],
    ["a number with a leading zero", `{${STATUS},${EMPTY},"cid":02}`, "MESSAGE_JSON"],
    ["a number in another base", `{${STATUS},${EMPTY},"cid":0x2}`, "MESSAGE_JSON"],
    ["an invalid number", `{${STATUS},${EMPTY},"cid":NaN}`, "MESSAGE_JSON"],
    ["a number with an exponent", `{${STATUS},${EMPTY},"cid":2e0}`, "MESSAGE_JSON"],
    ["an exponent deep inside", post('[{"asset":{"a":[1E2]}}]'), "MESSAGE_JSON"],
    ["a name twice, once in escapes", `{${STATUS},${EMPTY},"cid":2,"\\u0063id":2}`, "MESSAGE_JSON"],
    ["a name twice deep inside", post('[{"asset":{"a":1,"a":1}}]'), "MESSAGE_JSON"],
    ["an empty name deep inside", post('[{"asset":{"":1}}]'), "MESSAGE_JSON"],
    ["a line that ends within a text", `{"event":"p2p.peer\n.getStatus",${EMPTY}}`, "MESSAGE_JSON"],
    ["a list", `[{${STATUS},${EMPTY},"cid":2}]`, "MESSAGE_FORM"],
    ["an empty object", "{        }", "MESSAGE_FORM"],
    ["bytes", '{"base64":true,"data":"AAAA"}', "MESSAGE_FORM"],
    ["a reply of ours", '{"rid":2,"data":{"data":[],"headers":{}}}', "MESSAGE_FORM"],
    ["an event and a reply in one", `{${STATUS},${EMPTY},"cid":2,"rid":2}`, "MESSAGE_FORM"],
    ["an event that is a list", `{"event":["p2p.peer.getStatus"],${EMPTY},"cid":2}`, "MESSAGE_FORM"],
    ["an event that is null", `{"event":null,${EMPTY},"cid":2}`, "MESSAGE_FORM"],
    ["a number that is null", `{${STATUS},${EMPTY},"cid":null}`, "MESSAGE_FORM"],
    ["a number in a list", `{${STATUS},${EMPTY},"cid":[2]}`, "MESSAGE_FORM"],
    ["a number that is true", `{${STATUS},${EMPTY},"cid":true}`, "MESSAGE_FORM"],
    ["data that is null", `{${STATUS},"data":null,"cid":2}`, "MESSAGE_FORM"],
    ["data that is a list", `{${STATUS},"data":[{},{}],"cid":2}`, "MESSAGE_FORM"],
    ["data that is a text", `{${STATUS},"data":"{}","cid":2}`, "MESSAGE_FORM"],
    ["an argument that is null", call("p2p.peer.getStatus", "null"), "MESSAGE_FORM"],
    ["an argument that is false", call("p2p.peer.getStatus", "false"), "MESSAGE_FORM"],
    ["a missing argument", `{${STATUS},"data":{"headers":{}},"cid":2}`, "MESSAGE_FORM"],
    ["an inherited name beside data", `{${STATUS},${EMPTY},"cid":2,"constructor":1}`, "MESSAGE_FORM"],
    ["a prototype beside data", `{${STATUS},${EMPTY},"cid":2,"__proto__":{}}`, "MESSAGE_FORM"],
    ["an event of no name", call("", "{}"), "EVENT_UNKNOWN"],
    ["an event in capitals", call("P2P.peer.getStatus", "{}"), "EVENT_UNKNOWN"],
    ["an event and a blank", call("p2p.peer.getStatus ", "{}"), "EVENT_UNKNOWN"],
    ["an event of four parts", call("p2p.peer.getStatus.x", "{}"), "EVENT_UNKNOWN"],
    ["an event of another service", call("api.peer.getStatus", "{}"), "EVENT_UNKNOWN"],
    ["an event of the socket library", call("#publish", "{}"), "EVENT_UNKNOWN"],
    ["an authentication", '{"event":"#authenticate","data":"token","cid":2}', "EVENT_UNKNOWN"],
    ["an event with the name of an inherited member", call("__proto__", "{}"), "EVENT_UNKNOWN"],
    ["headers that are null", call("p2p.peer.getStatus", "{}", "null"), "HEADERS_FORM"],
    ["headers that are a list", call("p2p.peer.getStatus", "{}", "[]"), "HEADERS_FORM"],
    ["a header of another case", call("p2p.peer.getStatus", "{}", '{"content-type":"x"}'), "HEADERS_FORM"],
    ["a prototype as header", call("p2p.peer.getStatus", "{}", '{"__proto__":{}}'), "HEADERS_FORM"],
    ["a height as a list", call("p2p.peer.getStatus", "{}", '{"height":[1]}'), "HEADERS_FORM"],
    ["a prototype as argument", call("p2p.peer.getStatus", '{"__proto__":{}}'), "ARGUMENT_FORM"],
    ["ids that are one text", call("p2p.peer.getCommonBlocks", `{"ids":"${ID}"}`), "ARGUMENT_FORM"],
    ["ids as numbers", call("p2p.peer.getCommonBlocks", '{"ids":[1]}'), "ARGUMENT_FORM"],
    ["an id and a line end", call("p2p.peer.getCommonBlocks", '{"ids":["1\\n"]}'), "ARGUMENT_FORM"],
    ["an id of 63 digits", call("p2p.peer.getCommonBlocks", `{"ids":["${ID.slice(1)}"]}`), "ARGUMENT_FORM"],
    ["a request for no blocks", getBlocks(',"blockLimit":0'), "ARGUMENT_FORM"],
    ["a limit as text", getBlocks(',"blockLimit":"400"'), "ARGUMENT_FORM"],
    ["a limit that is null", getBlocks(',"blockLimit":null'), "ARGUMENT_FORM"],
    ["headers only, as a number", getBlocks(',"headersOnly":1'), "ARGUMENT_FORM"],
    ["a height below zero", getBlocks("").replace(":1}", ":-1}"), "ARGUMENT_FORM"],
    ["a block as a list of bytes", call("p2p.peer.postBlock", '{"block":[0,1]}'), "ARGUMENT_FORM"],
    [
      "a block marked as bytes by a text",
      call("p2p.peer.postBlock", '{"block":{"base64":"true","data":""}}'),
      "ARGUMENT_FORM",
    ],
    ["transactions as an object", post('{"0":{},"length":1}'), "ARGUMENT_FORM"],
    ["transactions as texts", post('["ff02"]'), "ARGUMENT_FORM"],
    ["a transaction that is null", post("[null]"), "ARGUMENT_FORM"],
    ["a transaction that is bytes", post('[{"base64":true,"data":"AA=="}]'), "ARGUMENT_FORM"],
    ["an end without a code", '{"event":"#disconnect"}', "MESSAGE_FORM"],
    ["an end with no data", '{"event":"#disconnect","data":null}', "MESSAGE_FORM"],
    ["an end with a code of null", '{"event":"#disconnect","data":{"code":null}}', "MESSAGE_FORM"],
    ["objects in objects", '{"a":'.repeat(300), "MESSAGE_COMPLEXITY"],
    ["more values than any message has", post(`[${"1,".repeat(30_001)}1]`), "MESSAGE_COMPLEXITY"],
  ])("%s", (_, text, code) => {
    expect(codeOf(() => readClientMessage(text))).toBe(code);
  });
});
