// Candidates of the shell completion for the words before the cursor.
import { expect, it } from 'vitest';
import { completionLines } from './complete.ts';
import { createProgram } from './program.ts';

const candidatesOf = (...words: string[]) =>
  completionLines(createProgram(words, '0'), ['bash', ...words]);

it.each([
  [['custo'], ['customers']],
  [['lo'], ['login', 'logout', 'logs']],
  [['customers', 'cr'], ['create']],
  [['customers', 'create', '--customer-t'], ['--customer-type']],
  [['external-accounts', 'create', '--account-info.ib'], ['--account-info.iban']],
  [['customers', 'create', '--js'], ['--json']],
  [['--profile', 'loc'], ['local']],
  [['--profile', 'local', 'clock', 'adv'], ['advance']],
  [
    ['trigger', 'kyc.'],
    ['kyc.approved', 'kyc.pending', 'kyc.rejected'],
  ],
  [['listen', '--events', 'CARD.ST'], ['CARD.STATE_CHANGE']],
  [['listen', '--events', 'BULK,CARD.ST'], ['BULK,CARD.STATE_CHANGE']],
  [
    ['open', ''],
    ['docs', 'reference'],
  ],
  [['api', 'executeQ'], ['executeQuote']],
  [['customers', 'create', '--example', 'bus'], ['business']],
  [['customers', 'create', '--example', '--da'], ['--data']],
  [['customers', 'create', '--example', 'business', '--da'], ['--data']],
  [
    ['fixtures', 'load', 'sta'],
    ['starter', 'stablecoins'],
  ],
  [['nothing', ''], expect.arrayContaining(['customers'])],
])('the completion returns candidates for %j', (words, candidates) => {
  expect(candidatesOf(...words)).toEqual(candidates);
});

it('the completion includes descriptions for shells that show them', () => {
  const program = createProgram([], '0');
  expect(completionLines(program, ['zsh', 'docto'])[0]).toMatch(/^doctor:Check/);
  expect(completionLines(program, ['fish', 'docto'])[0]).toMatch(/^doctor\tCheck/);
});
