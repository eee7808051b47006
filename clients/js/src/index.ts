export { Client, freshReport, sendReport, type ClientOptions, type Receipt } from "./client.js";
export { BudgetError, DeviceError, TaskError, WireError } from "./errors.js";
export { checkColumns, vectorOf, type RecordOfAnswers } from "./record.js";
export { indexedDbStorage, memoryStorage, type Answer, type AnswerStorage } from "./storage.js";
export {
  cost,
  readTask,
  type CategoricalColumn,
  type Column,
  type NumericColumn,
  type Statistic,
  type Target,
  type Task,
  type Unit,
} from "./task.js";
export { candidate, type RandomBytes } from "./unit.js";
export { decodeReport, REPORT_BYTES } from "./wire.js";
