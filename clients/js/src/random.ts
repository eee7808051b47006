import { DeviceError } from "./errors.js";
import type { RandomBytes } from "./unit.js";

/** The platform's cryptographic randomness. Without it nothing is reported; no other source is used. */
export const systemRandom: RandomBytes = (count) => {
  const source = (globalThis as { crypto?: Crypto }).crypto;
  if (typeof source?.getRandomValues !== "function") {
    throw new DeviceError("no cryptographic randomness (crypto.getRandomValues): nothing was reported");
  }
  return source.getRandomValues(new Uint8Array(count));
};
