// Errors of the schema and errors that depend on the platform or the time are reported in one reply.
import { describe, expect, it } from 'vitest';
import { createCustomer } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();

const create = (body: unknown) => app.call('POST', '/customers', body);
const patchCustomer = (id: string, change: object) =>
  app.call('PATCH', `/customers/${id}`, { customerType: 'INDIVIDUAL', ...change });
const fieldsOf = (response: { body: { details: { errors: { field: string }[] } } }) =>
  response.body.details.errors.map((error) => error.field).sort();

describe('errors of the schema and of the platform rules', () => {
  it('are combined for a new customer', async () => {
    const response = await create({
      customerType: 'INDIVIDUAL',
      email: 'x',
      umaAddress: 'nope',
      region: 'XX',
      currencies: ['USD', 7],
      endUserTermsConsent: {
        acceptedAt: '2999-01-01T00:00:00Z',
        termsVersion: 'V99',
        acceptanceMethod: 'CHECKBOX',
      },
    });
    expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(fieldsOf(response)).toEqual([
      'currencies.1',
      'email',
      'endUserTermsConsent.acceptedAt',
      'endUserTermsConsent.ipAddress',
      'endUserTermsConsent.termsVersion',
      'region',
      'umaAddress',
    ]);
    const businessResponse = await create({
      customerType: 'BUSINESS',
      phoneNumber: '1',
      businessInfo: { legalName: '', country: 'US', incorporatedOn: '2999-01-01' },
    });
    expect(fieldsOf(businessResponse)).toEqual([
      'businessInfo.incorporatedOn',
      'businessInfo.legalName',
      'businessInfo.taxId',
      'phoneNumber',
    ]);
    expect(fieldsOf(await create([7]))).toEqual(['']);
  });

  it('are combined for an update', async () => {
    const previousCustomer = await createCustomer(app);
    const response = await patchCustomer(previousCustomer.id, {
      phoneNumber: '1',
      currencies: ['Q'],
    });
    expect(fieldsOf(response)).toEqual(['currencies', 'phoneNumber']);
    expect((await app.call('GET', `/customers/${previousCustomer.id}`)).body).toEqual(
      previousCustomer,
    );
    const unknownResponse = await patchCustomer('Customer:none', {
      phoneNumber: '1',
      currencies: ['Q'],
    });
    expect([unknownResponse.status, fieldsOf(unknownResponse)]).toEqual([400, ['phoneNumber']]);
  });
});
