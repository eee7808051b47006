/** The JSON of RFC 8785, and SHA-256 of it. */
import { TaskError } from "./errors.js";
import { hex, sha256 } from "./sha256.js";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export function canonical(value: Json): string {
  if (typeof value === "string") {
    utf8(value);
    return JSON.stringify(value);
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TaskError("a task's numbers must be finite");
    return String(value === 0 ? 0 : value);
  }
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const keys = Object.keys(value).sort(); // by UTF-16 code units, as RFC 8785 wants
    return `{${keys.map((key) => `${canonical(key)}:${canonical(value[key]!)}`).join(",")}}`;
  }
  return String(value);
}

export function digestOf(value: Json): Uint8Array {
  return sha256(utf8(canonical(value)));
}

/** UTF-8, without TextEncoder, which React Native may lack; a lone surrogate has none. */
function utf8(text: string): Uint8Array {
  let escaped: string;
  try {
    escaped = encodeURIComponent(text);
  } catch {
    throw new TaskError("a task's text must be well-formed Unicode");
  }
  const bytes: number[] = [];
  for (let i = 0; i < escaped.length; i++) {
    if (escaped[i] === "%") {
      bytes.push(parseInt(escaped.slice(i + 1, i + 3), 16));
      i += 2;
    } else bytes.push(escaped.charCodeAt(i));
  }
  return Uint8Array.from(bytes);
}

export function hexDigestOf(value: Json): string {
  return hex(digestOf(value));
}
