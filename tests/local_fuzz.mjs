// What the client that pages are served makes of odd inputs, one a line; the first line holds the tasks they are about.
import { createInterface } from "node:readline";

const client = await import(process.argv[2]);
let tasks;
const refusals = { task: "TaskError", wire: "WireError", record: "TaskError" };

function bytes(hexadecimal) {
  return Uint8Array.from(Buffer.from(hexadecimal, "hex"));
}

const answers = {
  task: ({ body }) => client.readTask(bytes(body)).id,
  wire: ({ task, body }) => {
    const { id, index } = client.decodeReport(tasks[task], bytes(body));
    return `${Buffer.from(id).toString("hex")} ${index}`;
  },
  record: ({ task, record, coins }) => {
    client.checkColumns(tasks[task], record);
    if (coins === "") return Buffer.from(client.vectorOf(tasks[task], record).map((value) => value + 0).buffer).toString("hex"); // no -0
    let rest = bytes(coins);
    const taken = (count) => {
      const some = rest.slice(0, count);
      rest = rest.slice(count);
      return some;
    };
    return Buffer.from(client.freshReport(tasks[task], record, taken)).toString("hex");
  },
};

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const input = JSON.parse(line);
  if (tasks === undefined) {
    tasks = input.map((document) => client.readTask(document));
    continue;
  }
  let said;
  try {
    said = answers[input.kind](input);
  } catch (error) {
    said = error.name === refusals[input.kind] ? "refused" : `crashed: ${error.stack}`.replace(/\n/g, " / ");
  }
  process.stdout.write(`${said}\n`);
}
