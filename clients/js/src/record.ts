/** From a record to the vector that is randomized: the same bits as in every other language (docs/local_wire.md). */
import { TaskError } from "./errors.js";
import { padded, type Column, type Task } from "./task.js";

/** One answer for each column of the task and its target; null or "" where none was given. */
export type RecordOfAnswers = { readonly [name: string]: unknown };

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** Refuse a record that lacks a column. An answer that was not given has its column, with an empty value. */
export function checkColumns(task: Task, record: RecordOfAnswers): void {
  const names = [...task.columns.map((column) => column.name), task.target.name];
  const lacking = names.filter((name) => !Object.prototype.hasOwnProperty.call(record, name));
  if (lacking.length > 0) {
    throw new TaskError(`the record has no ${lacking.map((name) => JSON.stringify(name)).join(", ")}`);
  }
}

/** The vector of a record; all zero if anything is missing. */
export function vectorOf(task: Task, record: RecordOfAnswers): Float64Array {
  const zero = new Float64Array(task.randomizer.dimension);
  const features = [1];
  for (const column of task.columns) {
    const encoded = encode(column, record[column.name]);
    if (encoded === null) return zero;
    features.push(...encoded);
  }
  const label = labelOf(task, record[task.target.name]);
  if (label === null) return zero;
  return task.statistic.kind === "pilot" ? pilot(task, features) : moments(task, features, label);
}

function encode(column: Column, value: unknown): number[] | null {
  if ("values" in column) {
    const level = levelOf(column.values, value);
    return level < 0 ? null : column.values.slice(1).map((_, place) => (place + 1 === level ? 1 : 0));
  }
  const number = numberOf(value);
  if (number === null) return null;
  const centre = (column.low + column.high) / 2;
  const half = (column.high - column.low) / 2;
  return [(Math.min(Math.max(number, column.low), column.high) - centre) * (1 / half)];
}

function labelOf(task: Task, value: unknown): number | null {
  const target = task.target;
  let label: number | null;
  if (target.values.length > 0) {
    const level = levelOf(target.values, value);
    label = level < 0 ? null : level === target.values.indexOf(target.positive) ? 1 : 0;
  } else {
    label = numberOf(value);
    if (label !== null) label = Math.min(Math.max(label, target.low), target.high);
  }
  return label === null ? null : Math.min(Math.max((label - target.centre) * (1 / target.scale), -1), 1);
}

function numberOf(value: unknown): number | null {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string") {
    const text = value.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
    return DECIMAL.test(text) ? Number(text) : null;
  }
  return typeof value === "number" && !Number.isNaN(value) ? value : null;
}

function levelOf(values: readonly string[], value: unknown): number {
  const spelt = spelling(value);
  return spelt === null ? -1 : values.findIndex((one) => padded(one) === spelt);
}

function spelling(value: unknown): string | null {
  if (typeof value === "string") return padded(value);
  if (typeof value === "boolean") return value ? "1" : "0";
  return typeof value === "number" && Number.isFinite(value) ? String(value) : null;
}

function moments(task: Task, features: readonly number[], label: number): Float64Array {
  const { kind, flag, outer, cross, radius, transform } = task.statistic;
  const vector = new Float64Array(task.randomizer.dimension);
  const mapped = transform.map((row) => {
    let total = 0;
    for (let j = 0; j < features.length; j++) total += features[j]! * row[j]!;
    return total;
  });
  const length = Math.sqrt(orderedSum(mapped, mapped));
  const factor = length > radius ? radius / length : 1;
  const short = mapped.map((value) => value * factor * (1 / radius));
  let place = 0;
  vector[place++] = flag;
  if (kind === "both") {
    for (let i = 0; i < short.length; i++) {
      for (let j = i; j < short.length; j++) {
        vector[place++] = short[i]! * short[j]! * (outer * (i === j ? 1 : Math.SQRT2));
      }
    }
  }
  const weight = kind === "both" ? cross * label * factor : cross * label;
  for (const value of short) vector[place++] = value * weight;
  return vector;
}

function pilot(task: Task, features: readonly number[]): Float64Array {
  const { flag, first, second } = task.statistic;
  const inner = features.slice(1);
  const share = 1 / Math.sqrt(inner.length);
  return Float64Array.from([
    flag,
    ...inner.map((value) => value * (first * share)),
    ...inner.map((value) => value * value * (second * share)),
  ]);
}

/** The sum of products, from the first to the last, each step rounded. */
export function orderedSum(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < one.length; i++) total += one[i]! * other[i]!;
  return total;
}
