// Rules of the configuration without a database: errors, changes and the API view.
import { describe, expect, it } from 'vitest';
import { Fault, type FieldError } from '../../../kernel/fault.ts';
import type { PlatformCurrency, PlatformRow } from '../platform/store.ts';
import {
  addedCurrencies,
  type ConfigUpdate,
  checkUpdate,
  patchOf,
  presentPlatform,
} from './config.ts';
import { CardTokenization2FAConfig, EmbeddedWalletConfig } from './contract.ts';

const SCHEMAS = { wallet: EmbeddedWalletConfig, card: CardTokenization2FAConfig };

const currencyConfig = (currencyCode: string, overrides: Partial<PlatformCurrency> = {}) => ({
  currencyCode,
  minAmount: 1,
  maxAmount: 100,
  requiredCounterpartyFields: [],
  enabledTransactionTypes: ['INCOMING' as const],
  ...overrides,
});

const feeConfig = (sourceCurrency: string, variableFeeBps: number, amount: number) => ({
  feeType: 'CROSS_CURRENCY_TRANSACTION' as const,
  sourceCurrency,
  variableFeeBps,
  fixedFee: { amount, currency: sourceCurrency },
});

const row: PlatformRow = {
  id: 'PlatformConfig:018f0000-0000-7000-8000-000000000000',
  name: 'P',
  environment: 'sandbox',
  regulated: true,
  documents_optional: false,
  sca: true,
  terms_required: false,
  wallet_polls: 0,
  passkey_site: null,
  sca_two_steps: false,
  request_bodies_until: null,
  invitations: true,
  standard_webhooks: true,
  uma_domain: 'uma.test',
  proxy_uma_subdomain: 'p-1',
  webhook_endpoint: null,
  currencies: [currencyConfig('USD'), currencyConfig('EUR')],
  wallet_config: null,
  card_program: null,
  card_config: null,
  fees: [],
  limits: [],
  hourly_payments: null,
  brand_color: null,
  created_at: 0,
  updated_at: 1_000,
  version: 1,
};

function faultOf(update: ConfigUpdate, environment: 'sandbox' | 'production' = 'sandbox'): Fault {
  try {
    checkUpdate(update, { environment, loopback: true });
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('the update was accepted');
}

const fieldsOf = ({ details }: Fault) =>
  (details as { errors: FieldError[] }).errors.map((each) => each.field);

describe('checkUpdate', () => {
  it('reports every error in one response', () => {
    const fault = faultOf({
      umaDomain: 'not a domain',
      webhookEndpoint: 'http://example.com',
      supportedCurrencies: [
        currencyConfig('USD'),
        currencyConfig('ZZZ'),
        currencyConfig('USD', { minAmount: 5, maxAmount: 4 }),
        currencyConfig('EUR', {
          requiredCounterpartyFields: [
            { name: 'FULL_NAME', mandatory: true },
            { name: 'FULL_NAME', mandatory: false },
          ],
        }),
      ] as NonNullable<ConfigUpdate['supportedCurrencies']>,
      feeConfigs: [feeConfig('USD', 1, 1), feeConfig('USD', 2, 2)],
    });
    expect(fault.code).toBe('INVALID_INPUT');
    expect(fieldsOf(fault)).toEqual([
      'umaDomain',
      'webhookEndpoint',
      'supportedCurrencies.1.currencyCode',
      'supportedCurrencies.2.currencyCode',
      'supportedCurrencies.2.minAmount',
      'supportedCurrencies.3.requiredCounterpartyFields',
      'feeConfigs.1',
    ]);
  });

  it('rejects fees of other currencies, and fixed fees in another currency', () => {
    expect(faultOf({ feeConfigs: [feeConfig('EUR', 10, 0)] }).code).toBe('NOT_IMPLEMENTED');
    const feeWithForeignFixedFee = {
      ...feeConfig('USD', 10, 5),
      fixedFee: { amount: 5, currency: 'EUR' },
    };
    expect(faultOf({ feeConfigs: [feeWithForeignFixedFee] }).code).toBe('NOT_IMPLEMENTED');
  });

  it('requires public https endpoints in production', () => {
    const update = { webhookEndpoint: 'http://localhost:1' };
    expect(() => checkUpdate(update, { environment: 'sandbox', loopback: true })).not.toThrow();
    expect(fieldsOf(faultOf(update, 'production'))).toEqual(['webhookEndpoint']);
  });
});

describe('patchOf', () => {
  it('changes only the settings of the request', () => {
    expect(patchOf(row, {}, SCHEMAS)).toEqual({});
  });

  it('merges settings recursively and drops unknown names', () => {
    const card = { displayName: 'Card', email: { fromName: 'A', subject: 'Code' } };
    const update = {
      cardTokenization2faConfig: { email: { subject: 'Your code', stray: 1 }, other: 2 },
    };
    const patch = patchOf({ ...row, card_config: card }, update, SCHEMAS);
    expect(patch).toEqual({
      card_config: { displayName: 'Card', email: { fromName: 'A', subject: 'Your code' } },
    });
  });

  it('sets single fees and removes zero fees', () => {
    const rowWithFee = { ...row, fees: [feeConfig('USD', 25, 100)] };
    expect(patchOf(rowWithFee, { feeConfigs: [] }, SCHEMAS).fees).toEqual(rowWithFee.fees);
    expect(patchOf(rowWithFee, { feeConfigs: [feeConfig('USD', 30, 0)] }, SCHEMAS).fees).toEqual([
      feeConfig('USD', 30, 0),
    ]);
    expect(patchOf(rowWithFee, { feeConfigs: [feeConfig('USD', 0, 0)] }, SCHEMAS).fees).toEqual([]);
  });

  it('replaces the list of currencies and drops the fields that the server sets', () => {
    const input = {
      ...currencyConfig('GBP', { enabledTransactionTypes: ['OUTGOING', 'OUTGOING'] }),
      providerRequiredCustomerFields: ['TAX_ID'],
    };
    const patch = patchOf(row, { supportedCurrencies: [input] } as ConfigUpdate, SCHEMAS);
    expect(patch.currencies).toEqual([
      currencyConfig('GBP', { enabledTransactionTypes: ['OUTGOING'] }),
    ]);
    expect(addedCurrencies(row.currencies, patch.currencies ?? [])).toEqual(['GBP']);
  });

  it('converts domains to lower case', () => {
    expect(patchOf(row, { umaDomain: 'Pay.Example.COM' }, SCHEMAS)).toEqual({
      uma_domain: 'pay.example.com',
    });
  });
});

describe('presentPlatform', () => {
  it('omits absent settings', () => {
    const platform = presentPlatform(row);
    expect(platform).not.toHaveProperty('webhookEndpoint');
    expect(platform).not.toHaveProperty('embeddedWalletConfig');
    expect(platform).not.toHaveProperty('cardTokenization2faConfig');
    expect(platform.updatedAt).toBe('1970-01-01T00:00:01.000Z');
  });

  it('shows the defaults of a wallet configuration', () => {
    const platform = presentPlatform({ ...row, wallet_config: { appName: 'App', otpLength: 8 } });
    expect(platform.embeddedWalletConfig).toEqual({
      appName: 'App',
      otpLength: 8,
      alphanumeric: false,
      expirationSeconds: 300,
      sendFromEmailSenderName: 'Notifications',
    });
  });
});
