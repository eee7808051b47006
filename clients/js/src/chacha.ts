/** ChaCha20's key stream (RFC 8439) with nonce zero: public random bits from a report's id. No secret depends on it. */
export function keyStream(key: Uint8Array, start: number, count: number): Uint8Array {
  const first = Math.floor(start / 64);
  const skip = start - 64 * first;
  const blocks = Math.ceil((skip + count) / 64);
  const stream = new Uint8Array(64 * blocks);
  const out = new DataView(stream.buffer);
  const keyView = new DataView(key.buffer, key.byteOffset, 32);
  const state = new Int32Array(16);
  state.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]); // "expand 32-byte k"
  for (let i = 0; i < 8; i++) state[4 + i] = keyView.getInt32(4 * i, true);
  const x = new Int32Array(16);
  for (let block = 0; block < blocks; block++) {
    state[12] = first + block;
    x.set(state);
    for (let round = 0; round < 10; round++) {
      quarter(x, 0, 4, 8, 12);
      quarter(x, 1, 5, 9, 13);
      quarter(x, 2, 6, 10, 14);
      quarter(x, 3, 7, 11, 15);
      quarter(x, 0, 5, 10, 15);
      quarter(x, 1, 6, 11, 12);
      quarter(x, 2, 7, 8, 13);
      quarter(x, 3, 4, 9, 14);
    }
    for (let i = 0; i < 16; i++) out.setInt32(64 * block + 4 * i, (x[i]! + state[i]!) | 0, true);
  }
  return stream.subarray(skip, skip + count);
}

function quarter(x: Int32Array, a: number, b: number, c: number, d: number): void {
  let p = x[a]!, q = x[b]!, r = x[c]!, s = x[d]!;
  p = (p + q) | 0; s ^= p; s = (s << 16) | (s >>> 16);
  r = (r + s) | 0; q ^= r; q = (q << 12) | (q >>> 20);
  p = (p + q) | 0; s ^= p; s = (s << 8) | (s >>> 24);
  r = (r + s) | 0; q ^= r; q = (q << 7) | (q >>> 25);
  x[a] = p; x[b] = q; x[c] = r; x[d] = s;
}
