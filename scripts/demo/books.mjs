// The ledger, asked through the operator's command: the one witness that does not go through the API.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { table } from './print.mjs';

const COMMAND = fileURLToPath(new URL('../../server/bin/railhead-server.js', import.meta.url));
const run = promisify(execFile);

/** `operate('ledger', 'verify')` runs that command on the server's database and answers its JSON. */
export function operator({ dataDir, env }, signal) {
  return async function operate(...words) {
    const args = [COMMAND, ...words, '--json', '--data-dir', dataDir];
    // A verdict that is bad news comes with exit code 1 and is an answer all the same.
    const { stdout } = await run(process.execPath, args, { env, signal }).catch((error) => {
      if (error.stdout) return error;
      if (signal.aborted) throw error;
      throw new Error(
        `railhead-server ${words.join(' ')}: ${(error.stderr || error.message).trim()}`,
      );
    });
    return JSON.parse(stdout);
  };
}

const MEANING = { pending: 'held', void: 'hold voided' };

/** What an account gained from these postings. What is only set aside has not moved. */
export const gain = (postings, account) =>
  postings
    .filter(({ phase }) => phase === 'posted' || phase === 'post')
    .reduce(
      (sum, { debit, credit, amount }) =>
        sum + (credit === account ? amount : 0) - (debit === account ? amount : 0),
      0,
    );

/** `names` has the accounts that have one here; `system:sandbox:fees:USD` speaks for itself. */
export function printPostings(postings, names) {
  const nameOf = (id) =>
    names[id] ?? (id.startsWith('system:') ? id.split(':').slice(2).join(' ') : 'platform');
  const rows = postings.map(({ debit, credit, readable, phase }) => [
    nameOf(debit),
    nameOf(credit),
    readable,
    MEANING[phase] ?? 'posted',
  ]);
  table(['FROM', 'TO', 'AMOUNT', 'MEANING'], rows, ['AMOUNT']);
}
