// Fixture for SCA logins and their events.
import { dataKeyOf } from '../../../src/features/customers/records/index.ts';
import { customers } from '../../../src/features/customers/records/store.ts';
import {
  type ScaEventRow,
  scaEventPersonal,
  scaEvents,
} from '../../../src/features/sca/events/events.ts';
import type { ApiResponse, CallOptions, TestApp } from '../app/harness.ts';
import { ADDRESS } from './strong-customers.ts';

/** Status, code and invalid fields. */
export const statusCodeAndFields = ({ status, body }: ApiResponse): unknown[] => [
  status,
  body.code,
  ...(body.details?.errors ?? []).map(({ field }: { field: string }) => field),
];

export function loginFixture(app: TestApp, options: CallOptions = {}) {
  const post = (path: string, customerId: string, body: object) =>
    app.call('POST', `/sca/${path}?customerId=${customerId}`, body, options);
  const start = (id: string, factor: string) => post('login/start', id, { factor });
  const complete = (id: string, body: object) =>
    post('login/complete', id, { endUserIpAddress: ADDRESS, ...body });
  const record = (id: string, eventType: string) => post('record-event', id, { eventType });

  return {
    start,
    complete,
    record,
    fail: (id: string) => record(id, 'FAILED_LOGIN_ATTEMPT'),
    reset: (id: string) => record(id, 'RESET_PASSWORD_COMPLETED'),
    async failTimes(id: string, times: number): Promise<ApiResponse[]> {
      const responses: ApiResponse[] = [];
      for (let index = 0; index < times; index++)
        responses.push(await record(id, 'FAILED_LOGIN_ATTEMPT'));
      return responses;
    },
  };
}

/** SCA events of a customer, oldest first, with decrypted IP addresses. */
export async function scaEventsOf(app: TestApp, customerId: string) {
  const { db, vault } = app.runtime;
  const rows: ScaEventRow[] = await db.find(scaEvents, { customer_id: customerId });
  rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  const row = await db.read(customers, customerId);
  const key = row && dataKeyOf(row);
  return rows.map((row) => ({ ...row, ip: scaEventPersonal({ vault, key }, row).ip_address }));
}
