/** A task as docs/local_wire.md describes it, checked: a device need not trust its author. */
import { canonical, digestOf, hexDigestOf, type Json } from "./canonical.js";
import { checkDesign } from "./design.js";
import { TaskError } from "./errors.js";
import { hex } from "./sha256.js";

export interface NumericColumn {
  readonly name: string;
  readonly low: number;
  readonly high: number;
}
export interface CategoricalColumn {
  readonly name: string;
  readonly values: readonly string[];
}
export type Column = NumericColumn | CategoricalColumn;

export interface Target {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly centre: number;
  readonly scale: number;
  /** The levels of a categorical label; empty for a number. */
  readonly values: readonly string[];
  readonly positive: string;
}

export interface Statistic {
  readonly kind: "cross" | "both" | "pilot";
  readonly flag: number;
  readonly outer: number;
  readonly cross: number;
  readonly first: number;
  readonly second: number;
  readonly radius: number;
  readonly transform: readonly (readonly number[])[];
}

export interface Unit {
  readonly dimension: number;
  readonly candidates: number;
  readonly top: number;
  readonly high: number;
  readonly low: number;
}

export interface Task {
  readonly name: string;
  readonly epsilon: number;
  readonly goal: number;
  readonly closes: string;
  readonly columns: readonly Column[];
  readonly target: Target;
  readonly statistic: Statistic;
  readonly randomizer: Unit;
  /** SHA-256 of the canonical task: 32 bytes, and as text. */
  readonly digest: Uint8Array;
  readonly id: string;
  /** The question that is answered once: the task, or the one that it continues. */
  readonly question: string;
}

const FIELDS = [
  "format", "name", "epsilon", "delta", "goal", "closes", "calibration", "fit_intercept", "parent",
  "target", "columns", "statistic", "randomizer",
];
const WEIGHTS = {
  cross: ["flag", "cross"],
  both: ["flag", "outer", "cross"],
  pilot: ["flag", "first", "second"],
} as const;
const HASH = /^[0-9a-f]{64}$/;

/**
 * A task from its canonical JSON: what a collector serves at /v1/task, or `discreet local task export` writes.
 *
 * expected: the digest in hexadecimal, where it is known from elsewhere; another task is then refused.
 */
export function readTask(source: string | Uint8Array, expected?: string): Task {
  let text: string;
  let content: Json;
  try {
    text = typeof source === "string" ? source : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(source);
    content = JSON.parse(text) as Json;
  } catch {
    throw new TaskError("a task must be JSON in UTF-8");
  }
  const fields = object(content, "a task");
  // Canonical form only: a repeated name, or a number written otherwise, would be read differently elsewhere.
  if (canonical(content) !== text) throw new TaskError("a task must be in its canonical form (RFC 8785)");
  const task = checkedTask(fields);
  if (expected !== undefined && task.id !== expected) throw new TaskError("this is another task than the one expected");
  return task;
}

function checkedTask(fields: Fields): Task {
  if (fields["format"] !== 2) throw new TaskError("a task must have format = 2");
  onlyFields(fields, FIELDS, "a task", ["design"]);
  const name = text(fields, "name");
  const characters = [...name].length;
  if (characters < 1 || characters > 200) throw new TaskError("a task's name must have 1 to 200 characters");
  const epsilon = number(fields, "epsilon");
  const delta = number(fields, "delta");
  if (!(epsilon > 0 && epsilon <= 100 && delta >= 0 && delta < 1)) {
    throw new TaskError("a task needs 0 < epsilon <= 100 and 0 <= delta < 1");
  }
  const goal = whole(fields, "goal");
  if (goal < 1) throw new TaskError("goal must be >= 1");
  const closes = text(fields, "closes");
  if (closes !== "goal" && !isDate(closes)) throw new TaskError("closes must be 'goal' or a date as 2030-12-31");
  const calibration = text(fields, "calibration");
  if (calibration !== "tight") throw new TaskError("this client answers tasks of calibration 'tight' only");
  if (typeof fields["fit_intercept"] !== "boolean") throw new TaskError("fit_intercept must be true or false");
  const parent = text(fields, "parent");
  if (parent !== "" && !HASH.test(parent)) throw new TaskError("parent must be a SHA-256 hash in hexadecimal");
  const columns = list(fields, "columns").map(column);
  const target = readTarget(object(fields["target"], "target"));
  checkNames(columns, target);
  const features = columns.reduce((count, one) => count + ("values" in one ? one.values.length - 1 : 1), 0);
  const statistic = readStatistic(object(fields["statistic"], "statistic"), features);
  const randomizer = readRandomizer(object(fields["randomizer"], "randomizer"), dimension(statistic, features));
  // The margin covers the last digits of exp; the proof needs nothing else.
  if (!(randomizer.high <= randomizer.low * Math.exp(epsilon) * (1 - 5e-13))) {
    throw new TaskError(`the unit randomizer does not give epsilon ${epsilon}`);
  }
  const digest = digestOf(withoutDesign(fields, features));
  const id = hex(digest);
  return { name, epsilon, goal, closes, columns, target, statistic, randomizer, digest, id, question: parent || id };
}

/** The length of the vector that is randomized. */
export function dimension(statistic: Statistic, features: number): number {
  const width = statistic.transform.length;
  if (statistic.kind === "pilot") return 1 + 2 * features;
  return 1 + width + (statistic.kind === "both" ? (width * (width + 1)) / 2 : 0);
}

/** What a report of the task costs: log(high / low), at most the task's epsilon. */
export function cost(task: Task): number {
  return Math.log(task.randomizer.high / task.randomizer.low);
}

/** The document with the design's hash, which is hashed for the digest. */
function withoutDesign(fields: Fields, features: number): Json {
  const design = fields["design"];
  if (design === undefined) return fields;
  if (typeof design === "string") {
    if (!HASH.test(design)) throw new TaskError("a design that is left out is a SHA-256 hash in hexadecimal");
    return fields;
  }
  checkDesign(object(design, "design"), features);
  return { ...fields, design: hexDigestOf(design) };
}

function column(entry: Json): Column {
  const fields = object(entry, "a column");
  if ("values" in fields) {
    onlyFields(fields, ["name", "values"], "a category");
    return { name: text(fields, "name"), values: levels(fields) };
  }
  onlyFields(fields, ["name", "low", "high"], "a numeric column");
  const [low, high] = bounds(fields);
  return { name: text(fields, "name"), low, high };
}

function readTarget(fields: Fields): Target {
  if ("values" in fields) {
    onlyFields(fields, ["name", "values", "positive"], "a categorical target");
    const values = levels(fields);
    const positive = text(fields, "positive");
    if (!values.includes(positive)) throw new TaskError("the target's positive level must be one of its values");
    return { name: text(fields, "name"), low: 0, high: 1, centre: 0.5, scale: 0.5, values, positive };
  }
  onlyFields(fields, ["name", "low", "high", "centre", "scale"], "a numeric target");
  const [low, high] = bounds(fields);
  const [centre, scale] = [number(fields, "centre"), number(fields, "scale")];
  if (!(scale > 0)) throw new TaskError("the target's scale must be > 0");
  return { name: text(fields, "name"), low, high, centre, scale, values: [], positive: "" };
}

function bounds(fields: Fields): [number, number] {
  const [low, high] = [number(fields, "low"), number(fields, "high")];
  const larger = Math.max(Math.abs(low), Math.abs(high));
  if (!(low < high && larger <= 1e300 && high - low >= 1e-300 && high - low >= 2 ** -26 * larger)) {
    throw new TaskError("bounds must have low < high, at most 1e300 in size and well apart for their size");
  }
  return [low, high];
}

function levels(fields: Fields): string[] {
  const values = list(fields, "values");
  if (!values.every((value): value is string => typeof value === "string")) {
    throw new TaskError("the values of a category must be texts");
  }
  const spellings = new Set(values.map(padded));
  if (values.length < 2 || spellings.size !== values.length) {
    throw new TaskError("a category must have at least two different values");
  }
  return values;
}

/** Levels count without trailing NUL characters, with which some arrays pad texts. */
export function padded(value: string): string {
  return value.replace(/\0+$/, "");
}

function checkNames(columns: readonly Column[], target: Target): void {
  const names = [...columns.map((one) => one.name), target.name];
  if (columns.length === 0 || new Set(names).size !== names.length || names.includes("")) {
    throw new TaskError("a task needs at least one column, and no name twice among columns and target");
  }
}

function readStatistic(fields: Fields, features: number): Statistic {
  const kind = fields["kind"];
  if (kind !== "cross" && kind !== "both" && kind !== "pilot") {
    throw new TaskError("a statistic's kind must be cross, both or pilot");
  }
  const names = WEIGHTS[kind];
  onlyFields(fields, ["kind", ...names, ...(kind === "pilot" ? [] : ["radius", "transform"])], "a statistic");
  const weights = { flag: 0, outer: 0, cross: 0, first: 0, second: 0 };
  let squares = 0;
  for (const name of names) {
    weights[name] = number(fields, name);
    if (!(weights[name] >= 0 && weights[name] <= 1)) throw new TaskError("a statistic's weights lie between 0 and 1");
    squares += weights[name] * weights[name];
  }
  if (!(squares <= 1 + 1e-12)) throw new TaskError("the squares of a statistic's weights add up to at most 1");
  const statistic: Statistic =
    kind === "pilot"
      ? { kind, ...weights, radius: 1, transform: [] }
      : { kind, ...weights, radius: number(fields, "radius"), transform: matrix(fields, features + 1) };
  if (!(statistic.radius >= 1e-6 && statistic.radius <= 1e6)) throw new TaskError("radius must lie between 1e-6 and 1e6");
  const size = dimension(statistic, features);
  if (size < 2 || size > 10_000) throw new TaskError("a report must be of 2 to 10,000 numbers");
  return statistic;
}

function matrix(fields: Fields, columns: number): number[][] {
  const rows = list(fields, "transform");
  if (rows.length < 1 || rows.length > columns) throw new TaskError(`transform must have 1 to ${columns} rows`);
  return rows.map((row) => {
    const entries = Array.isArray(row) ? row : [];
    if (entries.length !== columns || !entries.every((one) => typeof one === "number" && Math.abs(one) <= 1e12)) {
      throw new TaskError(`transform must have ${columns} numbers in every row, up to 1e12 in size`);
    }
    return entries as number[];
  });
}

function readRandomizer(fields: Fields, size: number): Unit {
  if (fields["name"] !== "unit") throw new TaskError("this client knows the unit randomizer only");
  onlyFields(fields, ["name", "dimension", "candidates", "top", "high", "low"], "a unit randomizer");
  const [candidates, top] = [whole(fields, "candidates"), whole(fields, "top")];
  const [high, low] = [whole(fields, "high"), whole(fields, "low")];
  if (whole(fields, "dimension") !== size) throw new TaskError(`the randomizer must have dimension ${size}`);
  if (!(candidates >= 2 && candidates <= 65_536 && top >= 1 && top < candidates)) {
    throw new TaskError("a unit randomizer has 2 to 65536 candidates and 1 <= top < candidates");
  }
  const total = BigInt(top) * BigInt(high) + BigInt(candidates - top) * BigInt(low);
  if (!(low >= 1 && low <= high && total < 2n ** 53n)) {
    throw new TaskError("a unit randomizer needs 1 <= low <= high, and weights that add up to less than 2^53");
  }
  return { dimension: size, candidates, top, high, low };
}

// Fields of JSON objects, checked by type.

type Fields = { [key: string]: Json };

function object(value: Json | undefined, what: string): Fields {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new TaskError(`${what} must be an object`);
  return value;
}

function onlyFields(fields: Fields, names: readonly string[], what: string, optional: readonly string[] = []): void {
  const unknown = Object.keys(fields).filter((key) => !names.includes(key) && !optional.includes(key));
  const lacking = names.filter((key) => !Object.prototype.hasOwnProperty.call(fields, key));
  if (unknown.length > 0 || lacking.length > 0) {
    throw new TaskError(`${what} has ${unknown.length} unknown fields and lacks ${lacking.join(", ") || "none"}`);
  }
}

function number(fields: Fields, key: string): number {
  const value = fields[key];
  if (typeof value !== "number") throw new TaskError(`${key} must be a number`);
  return value;
}

function whole(fields: Fields, key: string): number {
  const value = fields[key];
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw new TaskError(`${key} must be a whole number`);
  return value;
}

function text(fields: Fields, key: string): string {
  const value = fields[key];
  if (typeof value !== "string") throw new TaskError(`${key} must be text`);
  return value;
}

function list(fields: Fields, key: string): Json[] {
  const value = fields[key];
  if (!Array.isArray(value)) throw new TaskError(`${key} must be a list`);
  return value;
}

function isDate(value: string): boolean {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value);
  if (!found || found[1] === "0000") return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === value;
}
