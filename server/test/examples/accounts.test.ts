// Examples of internal and external accounts, and of reads before a payment: rates, receivers,
// fees.
import { describe } from 'vitest';
import { exampleOf } from '../../src/catalog/accounts/account-examples.ts';
import { ACCOUNT_TYPE_ROWS, ACCOUNT_TYPES } from '../../src/catalog/accounts/account-types.ts';
import { ok } from '../kit/app/fixtures.ts';
import { balanceOf, createGermanAccount, createPerson } from '../kit/http/example-people.ts';
import { type ExampleRecorder, examples } from '../kit/http/examples.ts';
import { evmWallet } from '../kit/wallets/chain-wallets.ts';

const kebab = (type: string) => type.toLowerCase().replaceAll('_', '-');

/** Each type of account that a customer can register. */
async function recordAccountTypes(recorder: ExampleRecorder) {
  for (const type of ACCOUNT_TYPES) {
    // Some types have the same example account, which a customer can register only once.
    const customer = await createPerson(recorder);
    // SWIFT delivers every currency.
    const [currency = 'USD'] = ACCOUNT_TYPE_ROWS[type].currencies;
    const name = kebab(type);
    await recorder.record('createCustomerExternalAccount', name, {
      summary: `${type} in ${currency}`,
      body: { customerId: customer.id, currency, accountInfo: exampleOf(type) },
    });
  }
}

async function recordExternalAccounts(recorder: ExampleRecorder) {
  const customer = await createPerson(recorder);
  const { id } = await createGermanAccount(recorder, customer.id);
  await recorder.record('listCustomerExternalAccounts', 'of-a-customer', {
    summary: 'External accounts of a customer',
    query: { customerId: customer.id },
  });
  await recorder.record('getCustomerExternalAccountById', 'bank-account', {
    summary: 'A bank account in Germany',
    params: { externalAccountId: id },
  });
  await recorder.record('lookupExternalAccount', 'bank-account', {
    summary: 'Currencies and limits of the bank account',
    params: { accountId: id },
    query: { customerId: customer.id },
  });
  await recorder.record('deleteCustomerExternalAccountById', 'deleted', {
    summary: 'Delete an external account',
    params: { externalAccountId: id },
  });
}

async function recordPlatformAccounts(recorder: ExampleRecorder) {
  const beneficiary = {
    beneficiaryType: 'BUSINESS',
    legalName: 'Northwind Payments Inc.',
    countryOfResidence: 'US',
  };
  const { id } = await recorder.record('createPlatformExternalAccount', 'usd-account', {
    summary: "The platform's own bank account in the United States",
    body: { currency: 'USD', accountInfo: { ...exampleOf('USD_ACCOUNT'), beneficiary } },
  });
  await recorder.record('listPlatformExternalAccounts', 'all', {
    summary: 'External accounts of the platform',
  });
  await recorder.record('getPlatformExternalAccountById', 'usd-account', {
    summary: 'A bank account in the United States',
    params: { externalAccountId: id },
  });
  await recorder.record('deletePlatformExternalAccountById', 'deleted', {
    summary: 'Delete an external account',
    params: { externalAccountId: id },
  });
  await recorder.record('listPlatformInternalAccounts', 'usd', {
    summary: "The platform's balance in USD",
    query: { currency: 'USD' },
  });
}

async function recordBalances(recorder: ExampleRecorder) {
  const customer = await createPerson(recorder);
  const { id } = await balanceOf(recorder, customer.id, 'USD');
  await recorder.record('sandboxFundInternalAccount', 'deposit', {
    summary: 'Simulate a deposit of 1,000.00 USD',
    params: { accountId: id },
    body: { amount: 1_000_00 },
  });
  await recorder.record('getInternalAccountById', 'usd', {
    summary: 'A balance in USD, with the account details to deposit to',
    params: { id },
  });
  const query = { customerId: customer.id, currency: 'USD' };
  await recorder.record('listCustomerInternalAccounts', 'usd', {
    summary: 'Balances of a customer in USD',
    query,
  });
  await recorder.record('listInternalAccounts', 'first-page', {
    summary: 'All internal accounts, one per page',
    query: { limit: '1' },
  });
}

async function recordReadsBeforePayment(recorder: ExampleRecorder) {
  const customer = await createPerson(recorder);
  const { id } = await balanceOf(recorder, customer.id, 'USDC');
  await recorder.record('getExchangeRates', 'usd-to-eur-and-mxn', {
    summary: 'From USD to EUR and MXN, for 100.00 USD',
    query: { sourceCurrency: 'USD', destinationCurrency: 'EUR,MXN', sendingAmount: '10000' },
  });
  await recorder.record('getDiscoveries', 'banks-in-nigeria', {
    summary: 'Banks in Nigeria',
    query: { country: 'NG' },
  });
  await recorder.record('lookupUma', 'address', {
    summary: 'Currencies, limits and required data of a UMA address',
    params: { receiverUmaAddress: '$success.eur@sandbox.uma.money' },
    query: { customerId: customer.id },
  });
  await recorder.record('getAvailableUmaProviders', 'first-page', {
    summary: 'UMA providers',
    query: { limit: '2' },
  });
  await recorder.record('listVasps', 'first-page', {
    summary: 'Virtual asset service providers',
    query: { limit: '2' },
  });
  await recorder.record('estimateCryptoWithdrawalFee', 'usdc-on-base', {
    summary: 'Withdraw 25 USDC on Base',
    body: {
      internalAccountId: id,
      currency: 'USDC',
      cryptoNetwork: 'BASE',
      amount: 25_000_000,
      destinationAddress: '0x52908400098527886E0F7030069857D2E4169EE7',
    },
  });
}

/** The signature of a wallet proves its ownership. */
async function recordOwnership(recorder: ExampleRecorder) {
  const { app, record } = recorder;
  const { supportedCurrencies } = ok(await app.call('GET', '/config'), 200);
  const travelRule = supportedCurrencies.map((supportedCurrency: { currencyCode: string }) =>
    supportedCurrency.currencyCode === 'USDC'
      ? {
          ...supportedCurrency,
          requiredCounterpartyFields: [{ name: 'FULL_NAME', mandatory: true }],
        }
      : supportedCurrency,
  );
  await app.call('PATCH', '/config', { supportedCurrencies: travelRule });
  const customer = await createPerson(recorder);
  for (const [owner, ownerField, secret] of [
    ['', { customerId: customer.id }, 7_001n],
    ['Platform', {}, 7_002n],
  ] as const) {
    const wallet = evmWallet(secret);
    const { id } = await record(`create${owner || 'Customer'}ExternalAccount`, 'wallet-to-prove', {
      summary: `The ${owner ? 'platform' : 'customer'}’s own wallet, pending proof of ownership`,
      body: {
        ...ownerField,
        currency: 'USDC',
        ownershipType: 'FIRST_PARTY',
        accountInfo: { accountType: 'ETHEREUM_WALLET', address: wallet.address },
      },
    });
    const params = { externalAccountId: id as string };
    const { messageToSign } = await record(
      `create${owner}ExternalAccountOwnershipChallenge`,
      'wallet-signature',
      { summary: 'Request the message to sign', params, body: { method: 'WALLET_SIGNATURE' } },
    );
    await record(`verify${owner}ExternalAccountOwnership`, 'signed', {
      summary: 'Prove the ownership with a signature of the wallet',
      params,
      body: { signature: wallet.sign(messageToSign) },
    });
  }
}

describe('examples of accounts', () => {
  examples('accounts', {
    recordAccountTypes,
    recordExternalAccounts,
    recordPlatformAccounts,
    recordBalances,
    recordReadsBeforePayment,
    recordOwnership,
  });
});
