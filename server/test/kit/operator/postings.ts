// Finds the operations of operators that post money, by their commits. A policy with a minimum
// amount can name only operations with `postsMoney`, and is checked before the first commit of a
// request. A posting of any other operation, or in a later commit, would bypass the approval. Verbs
// of the command show the postings of the operations with the same effect.
import { appendFileSync } from 'node:fs';
import { changesOfRecord } from '../../../src/features/staff/audit/index.ts';
import type { Contract } from '../../../src/kernel/contract/operation.ts';
import { OPERATOR_OPERATIONS } from '../../../src/operator-api/index.ts';
import type { ChangeSet } from '../../../src/runtime/committer/change-set.ts';
import type { Runtime } from '../../../src/runtime/operation/operate.ts';

const CONTRACTS = OPERATOR_OPERATIONS.map(({ contract }) => contract);

type Problems = string[];

/**
 * Records the declared operations of a posting. Reports a problem if no operation declares
 * `postsMoney`.
 */
function checkDeclared(
  name: string,
  contracts: readonly Contract[],
  { problems, repliesFile }: { problems: Problems; repliesFile?: string | undefined },
): void {
  const declaredContracts = contracts.filter(({ postsMoney }) => postsMoney);
  if (declaredContracts.length === 0) problems.push(`${name} posts money without \`postsMoney\``);
  for (const { operationId } of declaredContracts) {
    if (repliesFile) appendFileSync(repliesFile, `${operationId} posts\n`);
  }
}

/** Returns a function that checks each commit of an operation. */
export function postingsChecker(problems: Problems, repliesFile?: string) {
  const committedRequests = new Set<string>();
  return ({ inserts, transfers }: Pick<ChangeSet, 'inserts' | 'transfers'>): void => {
    const record = inserts.find(({ table }) => table.name === 'operator_audit')?.row;
    const contract = CONTRACTS.find(({ operationId }) => operationId === record?.operation_id);
    // The command commits in its own process.
    if (!record || !contract) return;
    const { operationId } = contract;
    const request = `${operationId} ${record.request_id}`;
    const isLater = record.request_id !== null && committedRequests.has(request);
    committedRequests.add(request);
    if (transfers.length === 0) return;
    checkDeclared(operationId, [contract], { problems, repliesFile });
    if (isLater) problems.push(`${operationId} posts money after its first commit`);
  };
}

type SealedRecord = Parameters<typeof changesOfRecord>[1];

const RECORDS_SQL = `select * from operator_audit
  where actor_kind = $1 and changes is not null order by number`;

/** Checks the changes of the verbs of the command, by their audit records. */
export async function checkVerbs(
  runtime: Pick<Runtime, 'db' | 'vault'>,
  problems: Problems,
  repliesFile?: string,
): Promise<void> {
  for (const row of await runtime.db.query<SealedRecord>(RECORDS_SQL, ['COMMAND'])) {
    // The changes cannot be read if a test has replaced them.
    const changes = await changesOfRecord(runtime, row).catch(() => undefined);
    if (!changes?.transfers.length) continue;
    const verb = row.operation_id;
    const contracts = CONTRACTS.filter(({ commands = [] }) => commands.includes(verb));
    checkDeclared(verb, contracts, { problems, repliesFile });
  }
}
