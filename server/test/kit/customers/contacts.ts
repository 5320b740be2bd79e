// Customers whose contacts must be verified, the requests to verify them, and the messages that
// were sent.

import { openMessageOf } from '../../../src/features/notifications/messages/send.ts';
import { messages } from '../../../src/features/notifications/messages/store.ts';
import { customerKey } from '../../../src/features.ts';
import { createCustomer } from '../app/fixtures.ts';
import type { CallOptions, TestApp } from '../app/harness.ts';

export type ChannelName = 'email' | 'phone';

let counter = 0;

/** An individual in Germany, where contact verification is mandatory. */
export function createEuropeanCustomer(
  app: TestApp,
  options: CallOptions = {},
  overrides: object = {},
) {
  const number = String(++counter).padStart(4, '0');
  const contact = { email: `ada${number}@example.org`, phoneNumber: `+4915112${number}00` };
  return createCustomer(app, options, { region: 'DE', ...contact, ...overrides });
}

export const sendCode = (
  app: TestApp,
  id: string,
  name: ChannelName,
  options: CallOptions = {},
  body?: object,
) => app.call('POST', `/customers/${id}/verify-${name}`, body, options);

export const confirmCode = (
  app: TestApp,
  id: string,
  name: ChannelName,
  code: unknown,
  options: CallOptions = {},
) => app.call('POST', `/customers/${id}/verify-${name}/confirm`, { code }, options);

/** Decrypted messages to a customer, oldest first. */
export async function messagesTo(app: TestApp, customerId: string) {
  const rows = await app.runtime.db.find(messages, { customer_id: customerId });
  rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  return Promise.all(
    rows.map(async (row) => ({
      ...row,
      ...(await openMessageOf(app.runtime, customerKey, row)),
    })),
  );
}
