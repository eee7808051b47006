// Odd tasks, records and reports: an error of ours or a right answer, never anything else. DISCREET_FUZZ sets how many.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { canonical } from "../dist/canonical.js";
import { decodeReport, freshReport, readTask, vectorOf } from "../dist/index.js";
import { systemRandom } from "../dist/random.js";

const shared = JSON.parse(readFileSync(new URL("vectors.json", import.meta.url), "utf8"));
const tasks = shared.tasks.map(({ document }) => readTask(document));
const runs = Number(process.env.DISCREET_FUZZ ?? 6000) / 3;

function places(content, path = []) {
  const inner = content !== null && typeof content === "object" ? Object.entries(content) : [];
  return [path, ...inner.flatMap(([key, value]) => places(value, [...path, key]))];
}

test("odd documents are refused by a TaskError, and what is accepted keeps its promise", () => {
  let accepted = 0;
  const bases = shared.tasks.map(({ document }) => JSON.parse(document)).filter((one) => (one.statistic.transform?.length ?? 0) < 6);
  const paths = bases.map((base) => places(base).slice(1));
  const value = fc.oneof(fc.jsonValue(), fc.double(), fc.constantFrom(0, 1, 2, 0.5, "unit", "goal", 1e12, 2 ** 53 - 1));
  fc.assert(fc.property(fc.nat(), fc.nat(), value, fc.boolean(), (which, where, odd, remove) => {
    const content = structuredClone(bases[which % bases.length]);
    const path = paths[which % bases.length][where % paths[which % bases.length].length];
    let inner = content;
    for (const step of path.slice(0, -1)) inner = inner[step];
    if (remove) delete inner[path.at(-1)];
    else inner[path.at(-1)] = odd;
    try {
      const task = readTask(canonical(content));
      const { high, low } = task.randomizer;
      assert.ok(Math.log(high / low) <= task.epsilon);
      accepted++;
    } catch (error) {
      assert.equal(error.name, "TaskError", error.stack);
    }
  }), { numRuns: runs });
  assert.ok(accepted > 0);
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
    assert.throws(() => readTask(text), { name: "TaskError" });
  }), { numRuns: runs / 10 });
});

test("whatever a record holds, its vector is finite, at most one long, and reported", () => {
  const odd = fc.oneof(fc.anything(), fc.double(), fc.string(), fc.constantFrom(1e308, -1e308, "1e400", "-0", Infinity, "f", "yes"));
  fc.assert(fc.property(fc.constantFrom(0, 1, 2, 3, 4, 8), fc.array(odd, { minLength: 6, maxLength: 6 }), (which, values) => {
    const task = tasks[which];
    const names = [...task.columns.map(({ name }) => name), task.target.name];
    const record = Object.fromEntries(names.map((name, place) => [name, values[place]]));
    const vector = vectorOf(task, record);
    assert.ok(vector.every(Number.isFinite));
    assert.ok(Math.hypot(...vector) <= 1 + 1e-12);
    if (values[5] === undefined) decodeReport(task, freshReport(task, record, systemRandom));
  }), { numRuns: runs });
});

test("odd bytes are refused by a WireError, and what is accepted is a report", () => {
  const task = tasks[0];
  const body = freshReport(task, { a: 1, b: 2, c: 3, y: 1 }, systemRandom);
  const change = fc.tuple(fc.nat({ max: body.length - 1 }), fc.nat({ max: 255 }));
  let refused = 0;
  fc.assert(fc.property(fc.oneof(fc.uint8Array({ maxLength: 70 }), fc.array(change, { minLength: 1, maxLength: 3 })), (odd) => {
    const bytes = odd instanceof Uint8Array ? odd : Uint8Array.from(body);
    if (!(odd instanceof Uint8Array)) for (const [place, value] of odd) bytes[place] = value;
    try {
      const { index } = decodeReport(task, bytes);
      assert.ok(index < task.randomizer.candidates);
      assert.deepEqual(bytes, body); // the check sum catches every change of up to three bytes
    } catch (error) {
      assert.equal(error.name, "WireError", error.stack);
      refused++;
    }
  }), { numRuns: runs });
  assert.ok(refused > runs / 2);
});
