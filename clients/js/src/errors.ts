/** A task or a record that cannot be used; the message names the public fact that is wrong, never an answer. */
export class TaskError extends Error {
  override name = "TaskError";
}

/** The report would cost more than the owner of this device allows, or its question was answered in another form. */
export class BudgetError extends Error {
  override name = "BudgetError";
}

/** Bytes that are not a report of the task; the message names the rule and never a value. */
export class WireError extends Error {
  override name = "WireError";
}

/** No cryptographic randomness, or no storage for reports: nothing was reported. */
export class DeviceError extends Error {
  override name = "DeviceError";
}
