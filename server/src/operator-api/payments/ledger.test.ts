// Ledger verification and postings over the operator API.
import { expect, it } from 'vitest';
import { operatorService } from '../../../test/kit/operator/production.ts';

const { service, read, rejects, isHidden } = operatorService();

it('the API verifies the ledger', async () => {
  await service.createPayment();
  const { balanced, currencies, problems } = await read('/ledger/verification');
  expect({ balanced, problems }).toEqual({ balanced: true, problems: [] });
  const usdTotals = currencies.find((each: { currency: string }) => each.currency === 'USD');
  expect(usdTotals).toMatchObject({ sum: 0, owned: -usdTotals.system });
});

it('the API lists the postings of a transaction', async () => {
  const { id, account } = await service.createPayment();
  const path = `/transactions/${id}/postings`;
  const body = await read(path);
  expect(body).toMatchObject({ transactionId: id, platformId: service.platform.id });
  expect(body.postings).toContainEqual(
    expect.objectContaining({ phase: 'pending', currency: 'USD', debit: account }),
  );
  await isHidden('GET', path);
  const unknownPath = '/transactions/Transaction:018f0000-0000-7000-8000-000000000000/postings';
  await rejects(404, 'TRANSACTION_NOT_FOUND', 'GET', unknownPath);
});
