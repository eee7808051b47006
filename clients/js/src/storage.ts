/** The storage of a device's reports: no question is answered twice, and the total cost stays below the owner's cap. */
import { DeviceError } from "./errors.js";

/** One report that was drawn: `question` is what it answers, `epsilon` what it cost, `body` its bytes in hexadecimal. */
export interface Answer {
  readonly question: string;
  readonly task: string;
  readonly epsilon: number;
  readonly body: string;
}

/**
 * Durable and atomic: `change` gets all answers so far and returns one to be added, or undefined. If the answers have
 * changed before it could be added, `change` is called again; its last call counts. The promise resolves only when the
 * new answer is on disk. If `change` throws, nothing is stored and the promise is rejected with its error. Your own storage
 * (React Native) must do the same.
 */
export interface AnswerStorage {
  update(change: (answers: readonly Answer[]) => Answer | undefined): Promise<void>;
}

/** In memory, as long as the object lives: for tests and for pages that store nothing. */
export function memoryStorage(): AnswerStorage {
  const answers: Answer[] = [];
  return {
    update(change) {
      try {
        const added = change(answers);
        if (added) answers.push(added);
        return Promise.resolve();
      } catch (error) {
        return Promise.reject(error);
      }
    },
  };
}

/** In a browser: IndexedDB. One readwrite transaction at a time, in however many tabs; synced before it is reported done. */
export function indexedDbStorage(database = "discreet", factory: IDBFactory | undefined = globalThis.indexedDB): AnswerStorage {
  return {
    async update(change) {
      if (!factory) throw new DeviceError("there is no IndexedDB here to remember answers: nothing was reported");
      const opened = await open(factory, database);
      try {
        await inTransaction(opened, change);
      } finally {
        opened.close();
      }
    },
  };
}

function open(factory: IDBFactory, name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = factory.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("answers", { keyPath: "question" });
    request.onsuccess = () => resolve(request.result);
    request.onblocked = request.onerror = () => reject(failure(request.error));
  });
}

function inTransaction(database: IDBDatabase, change: (answers: readonly Answer[]) => Answer | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction("answers", "readwrite", { durability: "strict" });
    const store = transaction.objectStore("answers");
    let thrown: unknown;
    transaction.oncomplete = () => resolve();
    transaction.onabort = transaction.onerror = () => reject(thrown ?? failure(transaction.error));
    const request = store.getAll();
    request.onsuccess = () => {
      try {
        const added = change(request.result as Answer[]);
        if (added) store.add(added);
      } catch (error) {
        thrown = error;
        transaction.abort();
      }
    };
  });
}

function failure(cause: unknown): DeviceError {
  const error = new DeviceError("the answers of this device cannot be read or written: nothing was reported");
  (error as { cause?: unknown }).cause = cause;
  return error;
}
