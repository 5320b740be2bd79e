// Production without a connected bank and market: an operator executes the transfers, a table
// contains the rates, and a file contains the collection accounts.
import { Type } from '@sinclair/typebox';
import { PaymentInstructions } from '../../catalog/rails/payment-instructions.ts';
import { fieldErrors } from '../../kernel/contract/validate.ts';
import { fileSetting, secondsSetting, serviceSetting } from '../../kernel/settings.ts';
import { type ConnectorContext, defineConnector } from '../connector.ts';
import type { FundingPort, RatePort } from '../ports/index.ts';
import { readCollectionAccounts } from './collection.ts';
import { manualFunding } from './funding.ts';
import { manualRail } from './rail.ts';
import { fileRates, httpRates } from './rates.ts';

const settings = Type.Object({
  ratesUrl: Type.Optional(
    serviceSetting({
      env: 'RAILHEAD_RATES_URL',
      flag: 'rates-url',
      help: 'URL of a service with the production exchange rates',
      secret: true,
    }),
  ),
  ratesFile: Type.Optional(
    fileSetting({
      env: 'RAILHEAD_RATES_FILE',
      flag: 'rates-file',
      help: 'file with the production exchange rates, JSON or CSV. Relative paths as for RAILHEAD_DATA_DIR',
    }),
  ),
  ratesMaxAgeMs: secondsSetting({
    env: 'RAILHEAD_RATES_MAX_AGE',
    flag: 'rates-max-age',
    fallback: '86400',
    help: 'maximum age of production exchange rates in seconds, {range}. Older rates are not used',
  }),
  fundingFile: Type.Optional(
    fileSetting({
      env: 'RAILHEAD_FUNDING_FILE',
      flag: 'funding-file',
      help: 'JSON file with the collection accounts for production deposits',
    }),
  ),
});

type Settings = (typeof settings)['static'];

function ratesOf(
  { effects, provider, reportProblem }: ConnectorContext,
  values: Settings,
): RatePort | undefined {
  const options = { maxAgeMs: values.ratesMaxAgeMs, reportProblem };
  if (values.ratesUrl) return httpRates(provider('rates'), values.ratesUrl, options);
  return values.ratesFile ? fileRates(effects, values.ratesFile, options) : undefined;
}

function fundingOf({ fundingFile }: Settings): FundingPort | undefined {
  if (!fundingFile) return undefined;
  const validate = (value: unknown) => fieldErrors(PaymentInstructions, value, 'body');
  return manualFunding(readCollectionAccounts(fundingFile, validate));
}

export const manual = defineConnector({
  name: 'manual',
  description: 'A rail operated manually, rates and collection accounts of the operator.',
  modes: ['production'],
  settings,
  capabilities: ['rail'],
  optional: ['rates', 'funding'],
  // The manual rail needs no provider, so it serves production unless another connector has a rail.
  fallbackFor: ['rail'],
  problems: ({ ratesUrl, ratesFile }) =>
    ratesUrl && ratesFile ? ['RAILHEAD_RATES_URL and RAILHEAD_RATES_FILE exclude each other.'] : [],
  open: (context, values) => ({
    rail: manualRail,
    rates: ratesOf(context, values),
    funding: fundingOf(values),
  }),
});
