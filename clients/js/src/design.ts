/** The public design in a task. Only the collector uses it, but a task with an invalid design is invalid. */
import type { Json } from "./canonical.js";
import { TaskError } from "./errors.js";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const UNIT = 2 ** 20; // of an encoded feature

export function checkDesign(design: { [key: string]: Json }, features: number): void {
  const { kind, count, data, second_moment: moment } = design;
  const fields = Object.keys(design).sort().join();
  if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 1) {
    throw new TaskError("a design's count must be a whole number >= 1");
  }
  if (kind === "rows" && fields === "count,data,kind") return checkRows(data, count, features);
  if (kind === "moments" && fields === "count,kind,second_moment") return checkMoment(moment, features + 1);
  throw new TaskError("a design has a kind, a count, and either data (rows) or second_moment (moments)");
}

/** Signed 32-bit numbers, little endian, in base64: encoded features in units of 2^-20. */
function checkRows(data: Json | undefined, count: number, features: number): void {
  const bytes = typeof data === "string" ? unpacked(data) : null;
  if (bytes === null || bytes.length !== 4 * count * features) {
    throw new TaskError("a design's data must be base64 of four bytes for each row and feature");
  }
  const view = new DataView(bytes.buffer);
  for (let place = 0; place < bytes.length; place += 4) {
    if (Math.abs(view.getInt32(place, true)) > UNIT) throw new TaskError("a design's rows must be encoded to [-1, 1]");
  }
}

function checkMoment(moment: Json | undefined, size: number): void {
  const rows = Array.isArray(moment) ? moment : [];
  const square = rows.every((row) => Array.isArray(row) && row.length === size && row.every((one) => typeof one === "number"));
  if (rows.length !== size || !square) throw new TaskError(`a design's second moment must be ${size} x ${size} numbers`);
}

/** Canonical base64, with padding and unused bits zero; null for anything else. */
function unpacked(text: string): Uint8Array | null {
  if (text.length % 4 !== 0) return null;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  let [bits, held, place] = [0, 0, 0];
  for (let i = 0; i < text.length - padding; i++) {
    const digit = DIGITS.indexOf(text.charAt(i));
    if (digit < 0) return null;
    bits = ((bits << 6) | digit) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[place++] = (bits >> held) & 0xff;
    }
  }
  return (bits & ((1 << held) - 1)) === 0 ? bytes : null;
}
