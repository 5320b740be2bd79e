// Scenario of linking a stablecoin provider with valid and invalid secrets, with a repeated
// Idempotency-Key, and with the secret in an unexpected field.
import { ok } from '../app/fixtures.ts';
import { stablecoinFixture } from '../payments/stablecoins.ts';
import { randomPassword, type StrongAuthenticationHarness } from './second-factors.ts';

type IssuerHarness = Pick<StrongAuthenticationHarness, 'app' | 'platform' | 'secrets'>;

export const CREDENTIALS = 'stablecoin_provider_accounts.credentials';
const PATH = '/stablecoin-provider-accounts';

export async function runIssuerScenario({ app, platform, secrets }: IssuerHarness): Promise<void> {
  const fixture = stablecoinFixture(app, { platform });
  const randomSecret = (suffix: string) =>
    secrets.note('a secret at a provider', `${randomPassword()}-${suffix}`);
  const body = fixture.linkBody({ apiClientSecret: randomSecret('000') });
  const linkedAccount = ok(await fixture.write(PATH, body, 'issuer-link'), 201);
  ok(await fixture.write(PATH, body, 'issuer-link'), 201);
  ok(await fixture.write(PATH, body), 409);
  for (const [suffix, status] of [
    ['002', 400],
    ['005', 400],
    ['008', 503],
  ] as const) {
    ok(await fixture.linkAccount({ apiClientSecret: randomSecret(suffix) }), status);
  }
  ok(await fixture.linkAccount({ apiClientSecret: '', apiClientId: randomSecret('000') }), 400);
  ok(await fixture.linkAccount({ provider: randomSecret('000') }), 400);
  const { id: stablecoinProviderAccountId } = linkedAccount;
  const coin = ok(await fixture.registerCoin('005', { stablecoinProviderAccountId }), 201);
  ok(await fixture.requestEnablement(coin.id), 200);
  const [sealedRow] = await app.runtime.db.query<{ credentials: string }>(
    'select credentials from stablecoin_provider_accounts where id = $1',
    [stablecoinProviderAccountId],
  );
  secrets.note(`the encrypted value of ${CREDENTIALS}`, sealedRow?.credentials ?? '', CREDENTIALS);
}
