// Reports of the harness about replies that violate their contract, and about postings of
// operators.
import { describe, expect, it } from 'vitest';
import { namingFor } from '../../../src/catalog/naming.ts';
import { faultBody } from '../../../src/http/fault-body.ts';
import { operation } from '../../../src/kernel/contract/operation.ts';
import { type Code, Fault } from '../../../src/kernel/fault.ts';
import type { TransferRow } from '../../../src/ledger/transfer.ts';
import type { EventRow } from '../../../src/runtime/committer/change-set.ts';
import type { Table } from '../../../src/runtime/db/table.ts';
import { checkRequestEvents, commitRecorder, inRequest } from '../operator/event-checks.ts';
import { postingsChecker } from '../operator/postings.ts';
import { contractChecker } from './harness.ts';

const contract = operation({
  operationId: 'doThing',
  method: 'PATCH',
  path: '/things',
  tag: 'Things',
  summary: 'Do an action',
  permission: 'VIEW',
  replies: { 204: null },
  errors: ['QUOTE_EXPIRED', 'STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED'],
});

function problemsOf(code: Code, term = 'Service'): string[] {
  const problems: string[] = [];
  const fault = new Fault(code, 'No.');
  contractChecker(problems, term)(contract, fault.status, faultBody(namingFor(term), fault));
  return problems;
}

describe('contractChecker', () => {
  it('reports an error code that the contract does not list', () => {
    expect(problemsOf('QUOTE_NOT_FOUND')).toEqual([
      'doThing 404 is not declared: neither its contract nor http/operation/errors.ts lists ' +
        'QUOTE_NOT_FOUND',
    ]);
    expect(problemsOf('INSUFFICIENT_FUNDS')).toHaveLength(1);
  });

  it('accepts a code that the contract lists, or that follows from its kind', () => {
    expect(problemsOf('QUOTE_EXPIRED')).toEqual([]);
    expect(problemsOf('UNAUTHORIZED')).toEqual([]);
  });

  it('accepts a code under the service name prefix of an operator', () => {
    expect(problemsOf('STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED', 'Acme')).toEqual([]);
  });

  it('reports a success status that the contract does not have', () => {
    const problems: string[] = [];
    contractChecker(problems)(contract, 201, {});
    expect(problems).toEqual(['doThing 201 is not declared']);
  });
});

describe('commitRecorder', () => {
  const jobs = { name: 'jobs' } as Table;
  const started = (id: string) => [{ table: jobs, row: { id } }];
  const finished = (id: string) => [{ table: jobs, id, version: 1 }];
  const emitted = (type: string) => [{ type } as EventRow];

  /** Problems of a request that starts a job, whose second job emits this event. */
  function problemsOfEvent(operationId: string, type: string): string[] {
    const problems: string[] = [];
    const commit = commitRecorder(problems);
    inRequest(() => {
      commit({ inserts: started('first'), removes: [], events: [] });
      checkRequestEvents(operationId, problems);
    });
    commit({ inserts: started('second'), removes: finished('first'), events: [] });
    commit({ inserts: [], removes: finished('second'), events: emitted(type) });
    return problems;
  }

  it('accepts an event of a webhook that the operation lists as later', () => {
    expect(problemsOfEvent('createTransferIn', 'INCOMING_PAYMENT.FAILED')).toEqual([]);
  });

  it('reports any other event of a job that the request started, even indirectly', () => {
    expect(problemsOfEvent('createTransferIn', 'CARD.STATE_CHANGE')).toEqual([
      'createTransferIn: http/operation/events.ts lists no later webhook of CARD.STATE_CHANGE',
    ]);
  });
});

describe('postingsChecker', () => {
  const table = { name: 'operator_audit' } as Table;
  /** A commit of an operation, with or without a posting. */
  const commit = (
    operation_id: string,
    hasPosting: boolean,
    request_id: string | null = 'one',
  ) => ({
    inserts: [{ table, row: { id: 'AuditRecord:1', operation_id, request_id } }],
    transfers: hasPosting ? [{} as TransferRow] : [],
  });

  function problemsOfCommits(...commits: ReturnType<typeof commit>[]): string[] {
    const problems: string[] = [];
    const check = postingsChecker(problems);
    for (const commit of commits) check(commit);
    return problems;
  }

  it('accepts a posting of an operation that declares it, in its first commit', () => {
    expect(problemsOfCommits(commit('settleTransfer', true))).toEqual([]);
    expect(
      problemsOfCommits(commit('settleTransfer', true), commit('settleTransfer', true, 'two')),
    ).toEqual([]);
    expect(problemsOfCommits(commit('payout settle', true, null))).toEqual([]);
  });

  it('reports a posting of another operation, or in a later commit', () => {
    expect(problemsOfCommits(commit('revokeOperatorToken', true))).toEqual([
      'revokeOperatorToken posts money without `postsMoney`',
    ]);
    expect(
      problemsOfCommits(commit('settleTransfer', false), commit('settleTransfer', true)),
    ).toEqual(['settleTransfer posts money after its first commit']);
  });
});
