// The same records and coins give the same bytes as in Python; the same documents are tasks.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { canonical } from "../dist/canonical.js";
import { decodeReport, freshReport, readTask } from "../dist/index.js";
import { hex, sha256, unhex } from "../dist/sha256.js";
import { keyStream } from "../dist/chacha.js";
import { cosines } from "../dist/unit.js";
import { createHash } from "node:crypto";

const shared = JSON.parse(readFileSync(new URL("vectors.json", import.meta.url), "utf8"));

export function coins(text) {
  let rest = unhex(text);
  return (count) => {
    const taken = rest.slice(0, count);
    rest = rest.slice(count);
    return taken;
  };
}

test("tasks have the digests that Python gives them", () => {
  for (const { digest, document } of shared.tasks) {
    assert.equal(readTask(document).id, digest);
    assert.equal(readTask(new TextEncoder().encode(document), digest).id, digest);
    assert.equal(hex(sha256(new TextEncoder().encode(document))), digest);
  }
});

test("a thousand reports are the same bytes as in Python", () => {
  const tasks = shared.tasks.map(({ document }) => readTask(document));
  assert.equal(shared.reports.length, 1000);
  for (const { task, record, random, body } of shared.reports) {
    const made = freshReport(tasks[task], record, coins(random));
    assert.equal(hex(made), body);
    assert.ok(decodeReport(tasks[task], made).index < tasks[task].randomizer.candidates);
  }
});

test("documents with one thing changed are tasks here exactly if they are in Python", () => {
  for (const { task, path, value, digest } of shared.verdicts) {
    const content = JSON.parse(shared.tasks[task].document);
    let inner = content;
    for (const step of path.slice(0, -1)) inner = inner[step];
    const last = path.at(-1);
    if (value !== "delete") inner[last] = value;
    else if (Array.isArray(inner)) inner.splice(last, 1);
    else delete inner[last];
    let found = null;
    try {
      found = readTask(canonical(content)).id;
    } catch (error) {
      assert.equal(error.name, "TaskError", `${path}: ${error.stack}`);
    }
    assert.equal(found, digest, `${path.join(".")} = ${JSON.stringify(value)}`);
  }
});

test("SHA-256 and ChaCha20 are what their standards say", () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000]) {
    const message = Uint8Array.from({ length }, (_, i) => (7 * i) & 255);
    assert.equal(hex(sha256(message)), createHash("sha256").update(message).digest("hex"));
  }
  // RFC 8439, A.1, test vector 1.
  assert.equal(hex(keyStream(new Uint8Array(32), 0, 16)), "76b8e0ada0f13d90405d6ae55386bd28");
  const key = Uint8Array.from({ length: 32 }, (_, i) => i);
  const whole = keyStream(key, 0, 640);
  for (const [start, count] of [[63, 2], [64, 64], [130, 300]]) {
    assert.deepEqual(keyStream(key, start, count), whole.subarray(start, start + count));
  }
  assert.equal(cosines()[0], 1073741508);
});

test("numbers and texts are canonical as RFC 8785 wants them", () => {
  assert.equal(canonical([4.0, 1e-7, 1e21, 0.1, -0, 123456789012345680000, 5e-324, 1.5e300]),
    "[4,1e-7,1e+21,0.1,0,123456789012345680000,5e-324,1.5e+300]");
  assert.equal(canonical({ b: 1, a: "\u20ac\n" }), '{"a":"\u20ac\\n","b":1}');
  assert.throws(() => canonical("\ud800"), { name: "TaskError" });
  const { document } = shared.tasks[0];
  for (const other of [` ${document}`, document.replace('"delta":0', '"delta":0.0'), document.replace("{", '{"format":2,')]) {
    assert.throws(() => readTask(other), { name: "TaskError" });
  }
  assert.throws(() => readTask(document, "0".repeat(64)), { name: "TaskError" });
});
