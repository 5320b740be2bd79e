// Reports of the harness about replies that violate their contract.
import { describe, expect, it } from 'vitest';
import { namingFor } from '../../../src/catalog/naming.ts';
import { faultBody } from '../../../src/http/fault-body.ts';
import { operation } from '../../../src/kernel/contract/operation.ts';
import { type Code, Fault } from '../../../src/kernel/fault.ts';
import { contractChecker } from './harness.ts';

const contract = operation({
  operationId: 'doThing',
  method: 'PATCH',
  path: '/things',
  tag: 'Things',
  summary: 'Do a thing',
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
      'doThing 404 is not declared: neither its contract nor operation-errors.ts lists ' +
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
