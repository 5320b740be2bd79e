// Messages of providers are deleted after their retention period. Their bodies are deleted when
// the customer is erased.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { providerMessagePersonalData } from '../../src/features/payments/provider-messages/personal-data.ts';
import { DAY } from '../kit/app/production.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Adapter, addProvider, startAdapter } from '../kit/providers/adapter.ts';

const { service, read, write } = operatorService();
const BANK = 'acme-bank';
let adapter: Adapter;

beforeAll(async () => {
  adapter = await startAdapter(service.app);
  await addProvider(write, adapter, BANK);
  await write('POST', `/providers/${BANK}/check`);
  await write('POST', '/provider-routes', {
    ...{ providerId: BANK, environment: 'production', priority: 10, currency: 'EUR' },
  });
});
afterAll(() => adapter.close());

const readBodies = () =>
  service.app.runtime.db.query<{ transaction_id: string | null; body: string | null }>(
    'select transaction_id, body from provider_messages order by created_at, id',
  );

describe('messages of providers', () => {
  it('lose their bodies when the customer is erased, even if they are invalid', async () => {
    const { id, person } = await service.createPayment();
    const settledState = { state: 'settled', reference: 'BANK-1' };
    const contradictoryFields = {
      type: 'transfer.updated',
      transferId: id,
      amount: 1,
      currency: 'EUR',
    };
    expect(
      (await adapter.send(BANK, { ...contradictoryFields, transfer: settledState })).status,
    ).toBe(409);
    const invalidFields = {
      ...contradictoryFields,
      transfer: { state: 'none', name: 'Grace Hopper' },
    };
    expect((await adapter.send(BANK, invalidFields)).status).toBe(400);
    const storedBodies = await readBodies();
    expect(storedBodies.map((message) => [message.transaction_id, message.body !== null])).toEqual([
      [id, true],
      [id, true],
    ]);
    await adapter.send(BANK, { type: 'transfer.updated', transferId: id, transfer: settledState });
    const { tables, empty } = providerMessagePersonalData;
    const { vault, db } = service.app.runtime;
    const [storedMessage] = await db.query<Record<string, unknown>>(
      `select * from provider_messages t where (${tables.provider_messages?.rows}) and result = 'REJECTED'`,
      [person.id],
    );
    const customer = { id: person.id, platform_id: service.platform.id, created_at: 0 };
    const openedBody = tables.provider_messages?.open?.(
      { vault, customer, key: undefined },
      storedMessage ?? {},
    );
    expect(openedBody?.body).toContain('Grace Hopper');
    expect(await empty?.(service.app.runtime, customer)).toEqual({ provider_messages: 2 });
    expect((await readBodies()).every(({ body }) => body === null)).toBe(true);
  });

  it('are deleted after 400 days', async () => {
    expect((await read('/provider-messages')).data).toHaveLength(3);
    const { effects, settle } = service.app;
    const startTime = effects.now();
    effects.set(startTime + 399 * DAY);
    await settle();
    expect(await readBodies()).toHaveLength(3);
    effects.set(startTime + 401 * DAY);
    await settle();
    expect(await readBodies()).toEqual([]);
  });
});
