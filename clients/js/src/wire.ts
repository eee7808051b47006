/** The bytes of a report: docs/local_wire.md. */
import { WireError } from "./errors.js";
import type { Task } from "./task.js";

export const REPORT_BYTES = 34;
const VERSION = 2;
const UNIT = 1;

export function encodeReport(task: Task, id: Uint8Array, index: number): Uint8Array {
  const body = new Uint8Array(REPORT_BYTES);
  const view = new DataView(body.buffer);
  body.set([0x64, 0x4c, VERSION, UNIT]); // "dL"
  body.set(task.digest.subarray(0, 8), 4);
  body.set(id, 12);
  view.setUint16(28, index, true);
  view.setUint32(30, crc32(body.subarray(0, 30)), true);
  return body;
}

/** The id and the candidate's number of a report of this task; a WireError names the first rule that is broken. */
export function decodeReport(task: Task, body: Uint8Array): { id: Uint8Array; index: number } {
  if (body.length !== REPORT_BYTES) throw new WireError(`a report of this task has ${REPORT_BYTES} bytes`);
  if (body[0] !== 0x64 || body[1] !== 0x4c) throw new WireError("not a discreet report");
  if (body[2] !== VERSION) throw new WireError(`only version ${VERSION} of the report format is known`);
  if (body[3] !== UNIT) throw new WireError("a report of another randomizer");
  for (let i = 0; i < 8; i++) if (body[4 + i] !== task.digest[i]) throw new WireError("a report of another task");
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  if (view.getUint32(30, true) !== crc32(body.subarray(0, 30))) throw new WireError("damaged: the checksum is wrong");
  const index = view.getUint16(28, true);
  if (index >= task.randomizer.candidates) throw new WireError("outside of the support of this task's reports");
  return { id: body.slice(12, 28), index };
}

function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
