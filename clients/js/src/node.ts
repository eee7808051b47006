/** For Node: reports in a folder, synced before they are returned; any number of processes, no lock. */
import { link, mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DeviceError } from "./errors.js";
import type { Answer, AnswerStorage } from "./storage.js";

const NAME = /^(\d{8})\.json$/;

/**
 * Answer number n is the file n.json, which is written under another name and then linked. The link fails if the file
 * exists: then another process was first, and `change` is called again with the current answers.
 */
export function fileStorage(folder: string): AnswerStorage {
  return {
    async update(change) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (;;) {
        const answers = await stored(folder);
        const added = change(answers);
        if (!added || (await appended(folder, answers.length + 1, added))) return;
      }
    },
  };
}

async function stored(folder: string): Promise<Answer[]> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name, place) => {
      const answer = parsed(await readFile(join(folder, name), "utf8"));
      if (!answer || name !== numbered(place + 1)) {
        throw new DeviceError(`${join(folder, name)} is not what was written: nothing was reported`);
      }
      return answer;
    }),
  );
}

async function appended(folder: string, number: number, answer: Answer): Promise<boolean> {
  const beside = join(folder, `.${randomUUID()}.part`);
  try {
    await synced(beside, "wx", JSON.stringify(answer));
    await link(beside, join(folder, numbered(number)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(beside, { force: true });
  }
  await synced(folder, "r"); // the folder's own entry
  return true;
}

async function synced(path: string, flags: string, text?: string): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    if (text !== undefined) await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function numbered(number: number): string {
  return `${String(number).padStart(8, "0")}.json`;
}

function parsed(text: string): Answer | undefined {
  let answer: Partial<Answer> | null;
  try {
    answer = JSON.parse(text) as Partial<Answer> | null;
  } catch {
    return undefined;
  }
  const sound =
    typeof answer?.question === "string" &&
    typeof answer.task === "string" &&
    typeof answer.epsilon === "number" &&
    typeof answer.body === "string" &&
    /^([0-9a-f]{2})+$/.test(answer.body);
  return sound ? (answer as Answer) : undefined;
}
