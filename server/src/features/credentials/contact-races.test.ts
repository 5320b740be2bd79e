// A contact and what hangs on it, changed in one instant: whoever comes second sees what the first has done,
// so that nobody's codes go to an address that no holder has signed for. The other thing is made to happen
// after everything was read and before anything was written.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/fixtures.ts';
import { startApp, type TestApp } from '../../../test/harness.ts';
import { type WalletDesk, walletDesk } from '../../../test/wallet-desk.ts';
import { connectorRegistry } from '../../connectors/registry.ts';
import { changeCustomer, updateCustomerById } from '../customers/index.ts';
import type { Input } from '../../kernel/operation.ts';
import { openWallets } from '../wallets/index.ts';
import { tiedCredentials } from './contacts.ts';

let app: TestApp;
let desk: WalletDesk;
beforeAll(async () => {
  app = await startApp();
  desk = walletDesk(app);
});
afterAll(() => app.close());

let counter = 0;
const freshPhone = () => `+1512555${String(2000 + ++counter)}`;

/** Changes a customer, and on the first attempt only does `meanwhile` between its reads and its commit. */
function change(customerId: string, more: object, meanwhile: () => Promise<unknown>) {
  const connectors = connectorRegistry(app.world);
  const parts = {
    connectors,
    openWallets: (...[ctx, customer, accounts]: Parameters<typeof openAll>) =>
      openAll(ctx, customer, accounts),
    credentialsTiedTo: tiedCredentials({ connectors }),
  };
  const openAll = (
    ctx: Parameters<typeof openWallets>[0],
    customer: Parameters<typeof openWallets>[2],
    accounts: Parameters<typeof openWallets>[3],
  ) => openWallets(ctx, { connectors }, customer, accounts);
  const body = { customerType: 'INDIVIDUAL', ...more };
  const input = { params: { customerId }, query: {}, headers: {}, body } as unknown;
  let attempts = 0;
  return app.operate(async (ctx) => {
    const result = await changeCustomer(ctx, parts, input as Input<typeof updateCustomerById>);
    if (++attempts === 1) await meanwhile();
    return result;
  });
}

describe('a change of contact', () => {
  it('is asked to be signed when a credential came to hang on it in this instant', async () => {
    const { customer, accountId } = await desk.customerWithWallet({ phoneNumber: freshPhone() });
    const session = await desk.emailSession(accountId);
    const add = async () => {
      const body = { type: 'SMS_OTP', accountId };
      ok(await desk.signed('POST', '/auth/credentials', body, session), 201);
    };
    const answer = await change(customer.id, { phoneNumber: freshPhone() }, add);
    expect(answer).toMatchObject({ status: 202 });
    const now = ok(await app.call('GET', `/customers/${customer.id}`), 200);
    expect(now.phoneNumber).toBe(customer.phoneNumber);
  });
});
