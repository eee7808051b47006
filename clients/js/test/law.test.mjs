// Distribution tests of the client's own: exact probabilities by enumeration, means and uniformity by their laws.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { candidate, freshReport, decodeReport, readTask, vectorOf } from "../dist/index.js";
import { below, randomize } from "../dist/unit.js";

const shared = JSON.parse(readFileSync(new URL("vectors.json", import.meta.url), "utf8"));
const tasks = shared.tasks.map(({ document }) => readTask(document));

// A reproducible source for tests: xorshift, good enough for counting.
function seeded(seed) {
  let state = BigInt(seed) * 0x9e3779b97f4a7c15n + 1n;
  return (count) => Uint8Array.from({ length: count }, () => {
    state ^= (state << 13n) & 0xffffffffffffffffn;
    state ^= state >> 7n;
    state ^= (state << 17n) & 0xffffffffffffffffn;
    return Number((state >> 24n) & 255n);
  });
}

function words(id, ...numbers) {
  const parts = [id, ...numbers.map((number) => {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, number, true);
    return bytes;
  })];
  return () => parts.shift();
}

const small = { ...tasks[0], randomizer: { dimension: tasks[0].randomizer.dimension, candidates: 6, top: 2, high: 3, low: 1 } };

function chances(vector, id, sign) {
  const counts = new Array(6).fill(0);
  for (let draw = 0n; draw < 10n; draw++) counts[randomize(small, vector, words(id, sign, draw)).index]++;
  return counts;
}

test("enumeration: every record favours exactly two of six candidates, three to one", () => {
  const numbers = fc.array(fc.double({ noNaN: true, min: -1, max: 1 }), { minLength: small.randomizer.dimension, maxLength: small.randomizer.dimension });
  const ids = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(fc.property(numbers, numbers, ids, fc.boolean(), (one, other, id, sign) => {
    const laws = [one, other].map((vector) => chances(Float64Array.from(vector), id, sign ? 0n : 2n ** 64n - 1n));
    for (const law of laws) assert.deepEqual([...law].sort(), [1, 1, 1, 1, 3, 3]);
    for (let i = 0; i < 6; i++) assert.ok(laws[0][i] <= 3 * laws[1][i]);
  }), { numRuns: 200 });
});

test("a number below any total is uniform", () => {
  assert.equal(below(10, words(new Uint8Array([255, 255, 255, 255, 255, 255, 255, 255]), 7n)), 7); // 2^64 is no multiple of ten
  const random = seeded(3);
  const counts = new Array(7).fill(0);
  for (let i = 0; i < 14_000; i++) counts[below(7, random)]++;
  const distance = counts.reduce((sum, count) => sum + (count - 2000) ** 2 / 2000, 0);
  assert.ok(distance < 35, `chi-square ${distance} of six degrees: below 1e-5`);
});

test("candidates are uniform on the sphere", () => {
  const n = 20_000;
  for (const task of [tasks[0], tasks[3]]) {
    const size = task.randomizer.dimension;
    const random = seeded(5);
    const axis = Float64Array.from({ length: size }, (_, i) => Math.cos(i + 1));
    const length = Math.hypot(...axis);
    let [first, second, fourth] = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      const vector = candidate(task, random(16), i % task.randomizer.candidates);
      assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-12);
      const t = vector.reduce((sum, value, place) => sum + value * axis[place], 0) / length;
      first += t / n;
      second += t ** 2 / n;
      fourth += t ** 4 / n;
    }
    assert.ok(Math.abs(first) < 5 / Math.sqrt(size * n));
    assert.ok(Math.abs(second - 1 / size) < 6 * Math.sqrt(3) / size / Math.sqrt(n));
    assert.ok(Math.abs(fourth - 3 / (size * (size + 2))) < 6 * Math.sqrt(105) / size ** 2 / Math.sqrt(n));
  }
});

test("the mean report points where the record does", () => {
  const task = tasks[0];
  const record = { a: 2, b: -1, c: 0.5, y: 1 };
  const vector = vectorOf(task, record);
  const random = seeded(11);
  const n = 4000;
  const mean = new Float64Array(vector.length);
  for (let i = 0; i < n; i++) {
    const { id, index } = decodeReport(task, freshReport(task, record, random));
    candidate(task, id, index).forEach((value, place) => (mean[place] += value / n));
  }
  const dot = mean.reduce((sum, value, place) => sum + value * vector[place], 0);
  const along = dot / vector.reduce((sum, value) => sum + value * value, 0);
  assert.ok(along > 0.2);
  mean.forEach((value, place) => assert.ok(Math.abs(value - along * vector[place]) < 5 / Math.sqrt(n)));
});
