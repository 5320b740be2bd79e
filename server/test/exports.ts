// Everything that an export says of a customer, as the operator's command writes it.

import type { System } from '../src/operator/cli/verb.ts';
import { everythingAbout, openerOf } from '../src/operator/customers/export-customer.ts';
import type { TestApp } from './harness.ts';

/** As text, and read. */
export async function exportOf({ runtime }: TestApp, customerId: string) {
  const system = {
    runtime,
    stream: async function* (sql: string, values: unknown[]) {
      yield await runtime.db.query(sql, values);
    },
  } as unknown as System;
  let text = '';
  const opener = await openerOf(system, customerId);
  for await (const piece of everythingAbout(system, opener)) text += piece;
  return { text, all: JSON.parse(text) };
}
