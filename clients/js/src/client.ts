/** The device's side: it turns one record into one randomized report. The record goes no further. */
import { BudgetError } from "./errors.js";
import { checkColumns, vectorOf, type RecordOfAnswers } from "./record.js";
import { systemRandom } from "./random.js";
import { hex, unhex } from "./sha256.js";
import type { AnswerStorage } from "./storage.js";
import { cost, type Task } from "./task.js";
import { randomize, type RandomBytes } from "./unit.js";
import { encodeReport } from "./wire.js";

export interface ClientOptions {
  /** Where reports are stored: indexedDbStorage() in a browser, fileStorage(folder) in Node, or your own. */
  readonly storage: AnswerStorage;
  /** The most epsilon that all reports in this storage may cost together; 10 if not given. */
  readonly cap?: number;
  /** For tests only: a report from known bytes is not private. */
  readonly randomBytesForTests?: RandomBytes;
}

/** Answers a task from one record, and only once. */
export class Client {
  constructor(
    private readonly task: Task,
    private readonly options: ClientOptions,
  ) {}

  /**
   * The report's bytes; every later call returns the same bytes.
   *
   * Any report is at most e^epsilon times as likely with this record as with any other record. The report of a record
   * with a missing answer looks like any other.
   */
  async report(record: RecordOfAnswers): Promise<Uint8Array> {
    checkColumns(this.task, record);
    let body = "";
    await this.options.storage.update((answers) => {
      const before = answers.find((answer) => answer.question === this.task.question);
      if (before) {
        if (before.task !== this.task.id) {
          throw new BudgetError("this device has answered another task of the same collection already");
        }
        body = before.body;
        return undefined;
      }
      const epsilon = cost(this.task);
      const spent = answers.reduce((sum, answer) => sum + answer.epsilon, 0);
      const cap = this.options.cap ?? 10;
      if (!(spent + epsilon <= cap * (1 + 1e-12))) {
        throw new BudgetError(
          `this report would cost epsilon ${epsilon.toPrecision(4)} on top of ${spent.toPrecision(4)}: together more than ` +
            `this device's cap, epsilon ${cap}`,
        );
      }
      body = hex(freshReport(this.task, record, this.options.randomBytesForTests ?? systemRandom));
      return { question: this.task.question, task: this.task.id, epsilon, body };
    });
    return unhex(body);
  }
}

/** A new report, which is not stored. Devices use `Client`. */
export function freshReport(task: Task, record: RecordOfAnswers, random: RandomBytes): Uint8Array {
  checkColumns(task, record);
  const { id, index } = randomize(task, vectorOf(task, record), random);
  return encodeReport(task, id, index);
}

/** The outcome of a report that was sent. */
export interface Receipt {
  readonly accepted: boolean;
  readonly status: number;
  /** The collector's code: accepted, repeated, token_used, ... */
  readonly code: string;
}

/** Send a report to a collector with an enrolment token. Sending the same bytes again is safe. */
export async function sendReport(collector: string, token: string, body: Uint8Array): Promise<Receipt> {
  const response = await fetch(new URL("/v1/reports", collector), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/octet-stream" },
    body: body as BodyInit,
    credentials: "omit",
  });
  const answer = (await response.json().catch(() => ({}))) as { status?: string; error?: string };
  return { accepted: response.ok, status: response.status, code: answer.status ?? answer.error ?? "" };
}
