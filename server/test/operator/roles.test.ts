// Every operation of the operator API with every role, and without a credential. Every verb of the
// command has an operation.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ROLE_NAMES, ROLES, type RoleName } from '../../src/features/staff/roles/index.ts';
import type { Contract } from '../../src/kernel/contract/operation.ts';
import { VERBS } from '../../src/operator.ts';
import { OPERATOR_OPERATIONS } from '../../src/operator-api/index.ts';
import { ok } from '../kit/app/fixtures.ts';
import { testApp } from '../kit/app/test-app.ts';
import { operatorClient } from '../kit/operator/client.ts';
import { type Browser, browser, enrollWithPasskey } from '../kit/operator/people.ts';

const ALL_CONTRACTS = OPERATOR_OPERATIONS.map(({ contract }) => contract);
const CONTRACTS = ALL_CONTRACTS.filter(({ auth }) => auth === 'operator');
/** Operations on the current session. Tokens have no session. */
const isSessionOperation = ({ operatorPermission }: Contract) =>
  operatorPermission === 'profile.manage';

describe('the operator API', () => {
  const app = testApp();
  const client = operatorClient(app);
  const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';
  /** A new user of a role who has just signed in. */
  async function newSession(role: RoleName): Promise<Browser> {
    const invitation = { name: role, email: `${randomUUID()}@example.com`, roles: [role] };
    const { link } = ok(await client.call('POST', '/operator-users', { body: invitation }), 201);
    const person = browser(app);
    ok((await enrollWithPasskey(person, link.secret)).reply, 201);
    return person;
  }
  const pathOf = (path: string) => path.replaceAll(/\{\w+\}/g, `None:${UNKNOWN_ID}`);

  it.each(CONTRACTS)('requires the permission of $operationId', async (contract) => {
    const { method, path, operatorPermission } = contract;
    // An empty body fails validation, which follows the check of the permission.
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    for (const role of ROLE_NAMES) {
      const secret = await client.secretOf({ roles: [role] });
      const { status } = await client.call(method, pathOf(path), { body, secret });
      const isAllowed = ROLES[role].some((permission) => permission === operatorPermission);
      if (isSessionOperation(contract)) expect([400, 403]).toContain(status);
      else expect([role, status === 403]).toEqual([role, !isAllowed]);
      expect(status).not.toBe(401);
      expect(status).toBeLessThan(500);
    }
    const anonymousReply = await client.call(method, pathOf(path), { body, secret: null });
    expect(anonymousReply.status).toBe(401);
  });

  it.each(CONTRACTS.filter(isSessionOperation))(
    'accepts a session of any role for $operationId',
    async (contract) => {
      const { method, path } = contract;
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
      for (const role of ROLE_NAMES) {
        const person = await newSession(role);
        const { status } = await person.call(method, pathOf(path), body);
        expect([role, [401, 403].includes(status), status < 500]).toEqual([role, false, true]);
      }
    },
  );

  it.each(ALL_CONTRACTS.filter((contract) => !CONTRACTS.includes(contract)))(
    'requires no credential for $operationId',
    async ({ method, path }) => {
      const { status } = await client.call(method, path, { body: {}, secret: null });
      // Status 501 means that no identity provider is configured.
      expect([200, 400, 501]).toContain(status);
    },
  );

  it('permits the operations of the current session to every role', () => {
    for (const role of ROLE_NAMES) expect(ROLES[role]).toContain('profile.manage');
  });

  it.each(CONTRACTS)('rejects an unknown query parameter of $operationId', async (contract) => {
    const { method, path } = contract;
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    const reply = await client.call(method, `${pathOf(path)}?page=2`, { body });
    expect(reply.status).toBe(400);
    const errors: { field: string }[] = reply.body.details.errors;
    expect(errors.map(({ field }) => field)).toContain('page');
  });

  it('reveals no personal data to a viewer', () => {
    const revealingContracts = CONTRACTS.filter(({ reveals }) => reveals);
    expect(revealingContracts.length).toBeGreaterThan(5);
    const isOfViewer = (name: string) => ROLES.viewer.some((permission) => permission === name);
    const viewerContracts = revealingContracts.filter((contract) =>
      isOfViewer(contract.operatorPermission ?? ''),
    );
    expect(viewerContracts.map(({ operationId }) => operationId)).toEqual([]);
  });

  it.each(CONTRACTS.filter(({ wholeInstallation }) => wholeInstallation))(
    'rejects operators of one platform for $operationId',
    async ({ method, path }) => {
      const secret = await client.secretOf({ platformIds: [app.platform.id] });
      const body = method === 'GET' || method === 'DELETE' ? undefined : {};
      expect((await client.call(method, pathOf(path), { body, secret })).status).toBe(403);
    },
  );
});

/** Verbs that need the keys of the machine, or a database that no server uses yet. */
const LOCAL_VERBS = [...['keys list', 'keys rotate', 'keys retire'], 'customers erasures repeat'];

describe('verbs', () => {
  it('each have an operation, except local verbs', () => {
    const coveredVerbs = new Set(CONTRACTS.flatMap(({ commands = [] }) => commands));
    const verbs = VERBS.map(({ noun, verb }) => `${noun} ${verb}`);
    expect([...coveredVerbs].filter((verb) => !verbs.includes(verb))).toEqual([]);
    expect(verbs.filter((verb) => !coveredVerbs.has(verb))).toEqual(LOCAL_VERBS);
  });
});
