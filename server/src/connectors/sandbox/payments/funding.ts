// Payment instructions of accounts in the sandbox: well-formed details, unique for each account.
// Accounts are funded by a sandbox operation. Deposits are available in the currencies of the
// table.
import type { PaymentAccountInfo } from '../../../catalog/rails/payment-instructions.ts';
import type { FundingPort } from '../../ports/index.ts';
import {
  bitcoinAddressOf,
  clabeOf,
  digitsOf,
  evmAddressOf,
  ibanOf,
  lettersOf,
  pixKeyOf,
  pixPayload,
  solanaAddressOf,
  sparkAddressOf,
  tronAddressOf,
  withoutScriptedSuffix,
} from './account-details.ts';

const BANK = 'Railhead Sandbox Bank';
const NOTES =
  'Sandbox account details cannot receive real funds. Use the sandbox funding operation.';

/** Reference that attributes a deposit to its account. */
const reference = (seed: string) => `RH${lettersOf(seed, 'reference', 10)}`;

/** Digits of an account number, without a suffix that scripts an outcome. */
const numberOf = (identifier: string, purpose: string, count: number): string =>
  withoutScriptedSuffix(identifier, (seed) => digitsOf(seed, purpose, count));

const bank = (
  seed: string,
  accountType: string,
  paymentRails: string[],
  details: object,
): PaymentAccountInfo => ({
  accountType,
  ...details,
  bankName: BANK,
  accountHolderName: 'Railhead Sandbox FBO',
  paymentRails,
  reference: reference(seed),
});

const wallet = (accountType: string, address: string, assetType: string): PaymentAccountInfo => ({
  accountType,
  address,
  assetType,
});

const ACCOUNT_DETAILS: Readonly<Record<string, (seed: string) => PaymentAccountInfo[]>> = {
  USD: (seed) => [
    bank(seed, 'USD_ACCOUNT', ['ACH', 'WIRE', 'RTP', 'FEDNOW'], {
      accountNumber: numberOf(seed, 'usd', 14),
      // Passes the ABA checksum, but is not assigned to a bank.
      routingNumber: '110000000',
      bankAddress: '1 Test Street, New York, NY 10001, US',
    }),
  ],
  EUR: (seed) => [
    bank(seed, 'EUR_ACCOUNT', ['SEPA', 'SEPA_INSTANT'], {
      iban: ibanOf('LU', `999${numberOf(seed, 'eur', 13)}`),
      swiftCode: 'RLHDLULL',
    }),
  ],
  GBP: (seed) => [
    bank(seed, 'GBP_ACCOUNT', ['FASTER_PAYMENTS'], {
      // Sort codes that start with 00 are unassigned. The other digits allow more accounts.
      sortCode: `00${digitsOf(seed, 'gbp sort', 4)}`,
      accountNumber: numberOf(seed, 'gbp', 8),
    }),
  ],
  MXN: (seed) => [
    bank(seed, 'MXN_ACCOUNT', ['SPEI'], {
      clabeNumber: withoutScriptedSuffix(seed, (each) =>
        clabeOf(`999${digitsOf(each, 'mxn', 14)}`),
      ),
    }),
  ],
  BRL: (seed) => [
    {
      accountType: 'BRL_ACCOUNT',
      qrCode: pixPayload({
        key: pixKeyOf(seed),
        name: 'RAILHEAD SANDBOX',
        city: 'SAO PAULO',
        reference: reference(seed),
      }),
    },
  ],
  BTC: (seed) => [
    wallet('SPARK_WALLET', sparkAddressOf(seed), 'BTC'),
    { accountType: 'BITCOIN_L1', address: bitcoinAddressOf(seed), network: 'BITCOIN' },
  ],
  USDB: (seed) => [wallet('SPARK_WALLET', sparkAddressOf(seed), 'USDB')],
  USDC: (seed) => [
    wallet('SOLANA_WALLET', solanaAddressOf(seed), 'USDC'),
    ...['BASE_WALLET', 'POLYGON_WALLET', 'ETHEREUM_WALLET'].map((type) =>
      wallet(type, evmAddressOf(seed), 'USDC'),
    ),
  ],
  USDT: (seed) => [
    wallet('TRON_WALLET', tronAddressOf(seed), 'USDT'),
    wallet('SOLANA_WALLET', solanaAddressOf(seed), 'USDT'),
    ...['ETHEREUM_WALLET', 'PLASMA_WALLET'].map((type) => wallet(type, evmAddressOf(seed), 'USDT')),
  ],
};

/** Account details of a currency, derived from a string, such as an account ID. */
export const accountDetailsOf = (currency: string, seed: string): PaymentAccountInfo[] =>
  ACCOUNT_DETAILS[currency]?.(seed) ?? [];

export const sandboxFunding: FundingPort = {
  instructions: ({ accountId, currency, owner }) =>
    accountDetailsOf(currency, accountId).map((accountOrWalletInfo) => ({
      accountOrWalletInfo,
      instructionsNotes: NOTES,
      isPlatformAccount: owner === 'platform',
    })),
};
