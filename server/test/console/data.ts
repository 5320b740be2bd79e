// Data for the console: pending identity checks, and an installation in which no screen is empty.
import { ok } from '../kit/app/fixtures.ts';
import { csvFile, importHarness } from '../kit/customers/imports.ts';
import { PERSON } from '../kit/customers/onboarding.ts';
import { documentForm, pdfFile, pngFile } from '../kit/http/documents.ts';
import { createPhoneVerifiedCustomer } from '../kit/sca/strong-customers.ts';
import { walletFixture } from '../kit/wallets/embedded-wallets.ts';
import { newPhoneNumber } from '../kit/wallets/one-time-codes.ts';
import type { OpenConsole } from './console.ts';
import { fillProvider } from './provider-data.ts';
import { SCREENS } from './screens.ts';

/** No server listens at this address. Deliveries to it fail immediately and are repeated. */
const CLOSED_PORT_URL = 'http://127.0.0.1:9/hook';

type DocumentKind = 'picture' | 'pdf';

/** A person with a document whose identity check needs a decision. */
export async function waitingCheck(
  { app, callOptions }: OpenConsole,
  fullName: string,
  kind: DocumentKind = 'picture',
) {
  const person = ok(
    await app.call('POST', '/customers', { ...PERSON, fullName }, callOptions),
    201,
  );
  const fields = {
    ...{ documentHolder: person.id, documentType: 'PASSPORT', country: 'US' },
    ...{ documentNumber: 'X-100', issuingAuthority: 'Department of State' },
  };
  const bytes = kind === 'pdf' ? pdfFile() : pngFile();
  const form = documentForm(fields, { bytes });
  const { id: documentId } = ok(await app.call('POST', '/documents', form, callOptions), 201);
  ok(await app.call('POST', '/verifications', { customerId: person.id }, callOptions), 200);
  return { id: person.id as string, documentId: documentId as string };
}

/** Requests a change that needs the approval of a second operator. */
async function createWaitingApproval({ client }: OpenConsole): Promise<void> {
  const policy = { operationId: 'revokeOperatorToken', hours: 24, reason: 'Four eyes' };
  ok(await client.call('POST', '/approval-policies', { body: policy }), 201);
  const body = { name: 'Nightly export', roles: ['viewer'], expiresInDays: 30 };
  const token = ok(await client.call('POST', '/operator-tokens', { body }), 201);
  ok(await client.call('DELETE', `/operator-tokens/${token.id}`), 202);
}

async function fillMainCustomers({ app, client }: OpenConsole): Promise<void> {
  const { id } = await createPhoneVerifiedCustomer(app);
  const body = { factor: 'SMS_OTP' };
  ok(await app.call('POST', `/sca/factors/reset?customerId=${id}`, body), 201);
  const { accountId } = await walletFixture(app).createWalletCustomer({
    phoneNumber: newPhoneNumber(),
  });
  const recovery = { type: 'SMS_OTP', reason: 'Lost the mailbox' };
  ok(await client.call('POST', `/wallets/${accountId}/recoveries`, { body: recovery }), 201);
  const { startImport, personRow } = await importHarness(app);
  await startImport(
    csvFile(personRow('Person-1'), personRow('Person-2', { birthDate: 'unknown' })),
  );
  const customer = ok(
    await app.call('POST', '/customers', { ...PERSON, fullName: 'Leo Left' }),
    201,
  );
  ok(await app.call('DELETE', `/customers/${customer.id}`), 200);
  const erasure = { confirm: 'ERASE', reason: 'Request of the customer' };
  ok(await client.call('POST', `/customers/${customer.id}/erasure`, { body: erasure }), 200);
}

const WORLDS = [
  ...['starter', 'customers', 'payments', 'cards', 'accounts'],
  ...['deposits', 'agents', 'stablecoins'],
];

/**
 * Fills the main platform and a production platform. Returns the ID for each screen of one resource.
 */
export async function fillInstallation(
  consoleFixture: OpenConsole,
): Promise<Record<string, string>> {
  const { app, client, createPayment } = consoleFixture;
  ok(await app.call('PATCH', '/config', { webhookEndpoint: CLOSED_PORT_URL }), 200);
  for (const world of WORLDS) {
    const path = `/platforms/${app.platform.id}/fixtures`;
    ok(await client.call('POST', path, { body: { world } }), 201);
  }
  await createPayment();
  await fillProvider(consoleFixture);
  await waitingCheck(consoleFixture, 'Mia Meyer');
  await fillMainCustomers(consoleFixture);
  await createWaitingApproval(consoleFixture);
  await app.settle();
  const ids: Record<string, string> = {};
  for (const [route, { firstItem }] of Object.entries(SCREENS)) {
    if (!firstItem) continue;
    const [path, field] = firstItem;
    const completePath = path.replace('{platformId}', app.platform.id);
    ids[route] = ok(await client.call('GET', completePath), 200).data[0][field];
  }
  return ids;
}
