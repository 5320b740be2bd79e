// Exports the data of a customer like the operator command.

import {
  exportCustomerData,
  openCustomerData,
} from '../../../src/features/customers/privacy/index.ts';
import { PERSONAL_DATA } from '../../../src/personal-data.ts';
import type { TestApp } from '../app/harness.ts';

/** Export as text, and parsed. */
export async function exportOf({ runtime }: TestApp, customerId: string) {
  async function* stream<R extends object>(sql: string, values: readonly unknown[] = []) {
    yield await runtime.db.query<R>(sql, [...values]);
  }
  let text = '';
  const opener = await openCustomerData(runtime, customerId);
  const deps = { stream, personalData: PERSONAL_DATA };
  for await (const chunk of exportCustomerData(deps, opener)) text += chunk;
  return { text, all: JSON.parse(text) };
}
