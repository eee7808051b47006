/**
 * The unit randomizer: the report is the number of one of K candidate vectors, which the report's random id fixes.
 *
 * Exactly `top` candidates, those closest to the record's vector, have the weight `high`, all others `low`. So the sum
 * of weights is the same for every record, and no two records differ by more than high / low <= e^epsilon in the
 * probability of any report. The proof is in discreet/local/unit.py.
 */
import { keyStream } from "./chacha.js";
import { orderedSum } from "./record.js";
import { sha256 } from "./sha256.js";
import type { Task } from "./task.js";

/** Fresh random bytes; cryptographic ones but in tests. */
export type RandomBytes = (count: number) => Uint8Array;

const ANGLES = 4096;
let table: Float64Array | undefined;

/** cos(2 pi (a + 1/2) / 4096) in units of 2^-30, rounded to whole numbers; none is near a half. */
export function cosines(): Float64Array {
  table ??= Float64Array.from({ length: ANGLES }, (_, a) => Math.round(2 ** 30 * Math.cos((2 * Math.PI * (a + 0.5)) / ANGLES)));
  return table;
}

/** The id of a new report and the number of the candidate that it reports. */
export function randomize(task: Task, vector: Float64Array, random: RandomBytes): { id: Uint8Array; index: number } {
  const id = random(16);
  const rounded = roundedToSphere(vector, word(random));
  const { candidates, top, high, low } = task.randomizer;
  const draw = below(top * high + (candidates - top) * low, random);
  const scores = scoresOf(task, id, rounded);
  const order = Uint32Array.from(scores, (_, index) => index);
  order.sort((a, b) => scores[b]! - scores[a]! || a - b);
  if (draw < top * high) return { id, index: order.slice(0, top).sort()[Math.floor(draw / high)]! };
  return { id, index: order.slice(top).sort()[Math.floor((draw - top * high) / low)]! };
}

/** The unit vector or its opposite, with the vector as mean; the first axis in place of a zero vector. */
function roundedToSphere(vector: Float64Array, bits: bigint): Float64Array {
  const length = Math.min(Math.sqrt(orderedSum(vector, vector)), 1);
  const directed = length > 0 ? vector : Float64Array.from(vector, (_, place) => (place === 0 ? 1 : 0));
  const keep = Number(bits >> 11n) * 2 ** -53 < (1 + length) / 2;
  return keep ? directed : directed.map((value) => -value);
}

function scoresOf(task: Task, id: Uint8Array, vector: Float64Array): Float64Array {
  const { dimension, candidates } = task.randomizer;
  const size = candidateBytes(dimension);
  const stream = keyStream(codebookKey(task.digest, id), 0, size * candidates);
  const scores = new Float64Array(candidates);
  const book = new Candidates(dimension);
  for (let index = 0; index < candidates; index++) scores[index] = orderedSum(book.read(stream, size * index), vector);
  return scores;
}

/** One candidate of a report, for the collector's sum. */
export function candidate(task: Task, id: Uint8Array, index: number): Float64Array {
  const { dimension } = task.randomizer;
  const size = candidateBytes(dimension);
  return new Candidates(dimension).read(keyStream(codebookKey(task.digest, id), size * index, size), 0);
}

function codebookKey(digest: Uint8Array, id: Uint8Array): Uint8Array {
  const both = new Uint8Array(48);
  both.set(digest);
  both.set(id, 32);
  return sha256(both);
}

function candidateBytes(dimension: number): number {
  return 6 * Math.ceil(dimension / 2) - 4;
}

/** Uniform vectors on the sphere: spacings of sorted cuts are squared lengths of pairs, whose angles are uniform. */
class Candidates {
  private readonly pairs: number;
  private readonly ends: Float64Array;
  private readonly point: Float64Array;

  constructor(private readonly dimension: number) {
    this.pairs = Math.ceil(dimension / 2);
    this.ends = new Float64Array(this.pairs + 1);
    this.point = new Float64Array(dimension);
  }

  /** The candidate whose bytes begin at this place; the same array every time. */
  read(stream: Uint8Array, start: number): Float64Array {
    const { pairs, ends, point, dimension } = this;
    const view = new DataView(stream.buffer, stream.byteOffset + start);
    const cosine = cosines();
    ends[0] = 0;
    for (let i = 1; i < pairs; i++) {
      const cut = view.getUint32(4 * (i - 1), true);
      let place = i;
      for (; place > 1 && ends[place - 1]! > cut; place--) ends[place] = ends[place - 1]!;
      ends[place] = cut;
    }
    ends[pairs] = 2 ** 32;
    for (let i = 0; i < pairs; i++) {
      const length = Math.sqrt(ends[i + 1]! - ends[i]!);
      const angle = view.getUint16(4 * (pairs - 1) + 2 * i, true) & (ANGLES - 1);
      point[2 * i] = length * cosine[angle]!;
      if (2 * i + 1 < dimension) point[2 * i + 1] = length * cosine[(angle - ANGLES / 4) & (ANGLES - 1)]!;
    }
    const norm = Math.sqrt(orderedSum(point, point));
    for (let i = 0; i < dimension; i++) point[i] = point[i]! / norm;
    return point;
  }
}

/** A uniform whole number below `total`: by rejection of words whose remainders would not be uniform. */
export function below(total: number, random: RandomBytes): number {
  const divisor = BigInt(total);
  const limit = 2n ** 64n - (2n ** 64n % divisor);
  for (;;) {
    const drawn = word(random);
    if (drawn < limit) return Number(drawn % divisor);
  }
}

function word(random: RandomBytes): bigint {
  const bytes = random(8);
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
}
