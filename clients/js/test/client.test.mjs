// Once only, capped, durable, and nothing without randomness.
import "fake-indexeddb/auto";
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Client, indexedDbStorage, memoryStorage, readTask, REPORT_BYTES, vectorOf } from "../dist/index.js";
import { fileStorage } from "../dist/node.js";
import { hex } from "../dist/sha256.js";

const run = promisify(execFile);
const shared = JSON.parse(readFileSync(new URL("vectors.json", import.meta.url), "utf8"));
const tasks = shared.tasks.map(({ document }) => readTask(document));
const record = { a: 1, b: 2, c: 3, y: 1 };
const folder = () => mkdtempSync(join(tmpdir(), "discreet-"));
let databases = 0;
const stores = {
  memory: () => { const one = memoryStorage(); return () => one; },
  indexeddb: () => { const name = `d${databases++}`; return () => indexedDbStorage(name); },
  file: () => { const place = folder(); return () => fileStorage(place); },
};

for (const [name, make] of Object.entries(stores)) {
  test(`${name}: the same task gets the same bytes, also from another client`, async () => {
    const open = make();
    const first = await new Client(tasks[0], { storage: open() }).report(record);
    assert.equal(first.length, REPORT_BYTES);
    assert.deepEqual(await new Client(tasks[0], { storage: open() }).report({ ...record, a: -5 }), first);
  });

  test(`${name}: clients that race send one report`, async () => {
    const open = make();
    const bodies = await Promise.all(Array.from({ length: 8 }, () => new Client(tasks[0], { storage: open() }).report(record)));
    assert.equal(new Set(bodies.map(hex)).size, 1);
  });

  test(`${name}: all reports together stay below the cap`, async () => {
    const open = make();
    await new Client(tasks[0], { storage: open(), cap: 6 }).report(record); // epsilon 4
    await assert.rejects(new Client(tasks[1], { storage: open(), cap: 6 }).report(record), { name: "BudgetError" });
    await new Client(tasks[7], { storage: open(), cap: 6 }).report({ ...record, y: "much" }); // epsilon 0.3
    assert.equal((await new Client(tasks[0], { storage: open(), cap: 6 }).report(record)).length, REPORT_BYTES);
  });

  test(`${name}: of a task and the one that continues it, one is answered`, async () => {
    const open = make();
    await new Client(tasks[0], { storage: open() }).report(record);
    const later = { ...tasks[1], question: tasks[0].id };
    await assert.rejects(new Client(later, { storage: open() }).report(record), { name: "BudgetError" });
  });
}

test("processes that race on one folder send one report", async () => {
  const place = folder();
  const script = `
    import { Client, readTask } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
    import { fileStorage } from ${JSON.stringify(new URL("../dist/node.js", import.meta.url).href)};
    const task = readTask(process.argv[1]);
    const body = await new Client(task, { storage: fileStorage(${JSON.stringify(place)}) }).report(${JSON.stringify(record)});
    console.log(Buffer.from(body).toString("hex"));`;
  const done = await Promise.all(Array.from({ length: 4 }, () =>
    run(process.execPath, ["--input-type=module", "-e", script, "--", shared.tasks[0].document])));
  assert.equal(new Set(done.map(({ stdout }) => stdout)).size, 1);
  assert.deepEqual(readdirSync(place), ["00000001.json"]); // nothing half-written is left
});

test("an altered answer file reports nothing", async () => {
  const place = folder();
  await new Client(tasks[0], { storage: fileStorage(place) }).report(record);
  writeFileSync(join(place, "00000001.json"), "{}");
  await assert.rejects(new Client(tasks[0], { storage: fileStorage(place) }).report(record), { name: "DeviceError" });
});

test("without cryptographic randomness nothing is reported", async () => {
  const kept = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true });
  try {
    const storage = memoryStorage();
    await assert.rejects(new Client(tasks[0], { storage }).report(record), { name: "DeviceError" });
    await storage.update((answers) => void assert.equal(answers.length, 0));
  } finally {
    Object.defineProperty(globalThis, "crypto", kept);
  }
});

test("a misspelt column is refused, a missing answer is not", async () => {
  const { c: _, ...less } = record;
  await assert.rejects(new Client(tasks[0], { storage: memoryStorage() }).report({ ...less, C: 3 }), /"c"/);
  const body = await new Client(tasks[0], { storage: memoryStorage() }).report({ ...record, c: null });
  assert.equal(body.length, REPORT_BYTES);
  assert.ok(vectorOf(tasks[0], { ...record, c: null }).every((value) => value === 0));
});

test("two devices draw different reports", async () => {
  const bodies = new Set();
  for (let i = 0; i < 50; i++) bodies.add(hex(await new Client(tasks[0], { storage: memoryStorage() }).report(record)));
  assert.equal(bodies.size, 50);
});

test("a report at twenty columns takes less than 50 ms", async () => {
  const task = tasks[5];
  const answers = Object.fromEntries([...task.columns.map(({ name }) => [name, 1]), [task.target.name, 1]]);
  await new Client(task, { storage: memoryStorage() }).report(answers);
  let best = Infinity; // a busy machine may take some of them away
  for (let i = 0; i < 10; i++) {
    const start = performance.now();
    await new Client(task, { storage: memoryStorage() }).report(answers);
    best = Math.min(best, performance.now() - start);
  }
  assert.ok(best < 50, `${best} ms`);
});
