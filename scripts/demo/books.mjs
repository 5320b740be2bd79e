// Reads the ledger by the operator's command, independently of the API.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { printTable } from './print.mjs';

const COMMAND = fileURLToPath(new URL('../../server/bin/railhead-server.js', import.meta.url));
const run = promisify(execFile);

/** `operate('ledger', 'verify')` runs the command on the server's database and returns its JSON. */
export function operator({ dataDir, env }, signal) {
  return async function operate(...verb) {
    const args = [COMMAND, ...verb, '--json', '--data-dir', dataDir];
    // A negative result has exit code 1 and is a valid reply.
    const { stdout } = await run(process.execPath, args, { env, signal }).catch((error) => {
      if (error.stdout) return error;
      if (signal.aborted) throw error;
      throw new Error(
        `railhead-server ${verb.join(' ')}: ${(error.stderr || error.message).trim()}`,
      );
    });
    return JSON.parse(stdout);
  };
}

const MEANING = { pending: 'held', void: 'hold voided' };

/** Change of an account's balance by these postings. Held amounts are excluded. */
export const balanceChange = (postings, account) =>
  postings
    .filter(({ phase }) => phase === 'posted' || phase === 'post')
    .reduce(
      (sum, { debit, credit, amount }) =>
        sum + (credit === account ? amount : 0) - (debit === account ? amount : 0),
      0,
    );

/**
 * Prints postings as a table. `names` contains display names of accounts. The account
 * `system:sandbox:fees:USD` is shown as `fees USD`, and any other account as `platform`.
 */
export function printPostings(postings, names) {
  const nameOf = (id) =>
    names[id] ?? (id.startsWith('system:') ? id.split(':').slice(2).join(' ') : 'platform');
  const rows = postings.map(({ debit, credit, readable, phase }) => [
    nameOf(debit),
    nameOf(credit),
    readable,
    MEANING[phase] ?? 'posted',
  ]);
  printTable(['FROM', 'TO', 'AMOUNT', 'MEANING'], rows, ['AMOUNT']);
}
