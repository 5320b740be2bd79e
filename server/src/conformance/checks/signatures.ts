// Checks of signatures: a call without a valid signature of Railhead must be rejected and must have
// no effect.
import { contentDigest } from '../../kernel/crypto/http-signatures.ts';
import type { Alteration } from '../calls.ts';
import type { Check, CheckGroup } from '../check.ts';
import type { Session } from '../session.ts';
import { failure } from '../verdict.ts';

const TEN_MINUTES_MS = 600_000;

interface Attack {
  name: string;
  action: string;
  remedy: string;
  alteration(session: Session): Alteration;
}

const increaseAmount = (body: string) =>
  body.replace(/"amount":(\d+)/, (_, amount) => `"amount":${Number(amount) + 1}`);

const ATTACKS: readonly Attack[] = [
  {
    name: 'missing',
    action: 'a call has no signature',
    remedy: 'Reject calls without Signature and Signature-Input.',
    alteration: () => ({
      changeSent({ headers }) {
        delete headers.signature;
        delete headers['signature-input'];
      },
    }),
  },
  {
    name: 'digest',
    action: 'the amount is changed after signing',
    remedy: 'Compare Content-Digest with the SHA-256 digest of the received bytes.',
    alteration: () => ({
      changeSent(request) {
        request.body = increaseAmount(request.body);
      },
    }),
  },
  {
    name: 'altered',
    action: 'the amount and Content-Digest are changed after signing',
    remedy: 'Verify the signature over the received Content-Digest.',
    alteration: () => ({
      changeSent(request) {
        request.body = increaseAmount(request.body);
        request.headers['content-digest'] = contentDigest(request.body);
      },
    }),
  },
  {
    name: 'no-digest',
    action: 'a call has no Content-Digest, and the signature does not cover the body',
    remedy: 'Require that the signature covers "@method" "@authority" "@path" "content-digest".',
    alteration: () => ({
      components: ['@method', '@authority', '@path'],
      changeSent({ headers }) {
        delete headers['content-digest'];
      },
    }),
  },
  {
    name: 'not-covered',
    action: 'the signature covers only the method and the path',
    remedy: 'Require that the signature covers "@method" "@authority" "@path" "content-digest".',
    alteration: () => ({ components: ['@method', '@path'] }),
  },
  {
    name: 'path',
    action: 'the signature is for another path',
    remedy: 'Verify the signature with the path of the request.',
    alteration: () => ({
      changeSigned(request) {
        request.url = request.url.replace('/transfers/send', '/transfers/state');
      },
    }),
  },
  {
    name: 'authority',
    action: 'the signature is for another host',
    remedy: 'Verify the signature with the host of the request or with your public host name.',
    alteration: () => ({
      changeSigned(request) {
        request.url = request.url.replace(/^(https?:\/\/)[^/]+/, '$1other.example');
      },
    }),
  },
  {
    name: 'expired',
    action: 'the signature is ten minutes old',
    remedy: 'Reject a signature whose `created` differs from your clock by more than 5 minutes.',
    alteration: () => ({ ageMs: TEN_MINUTES_MS }),
  },
  {
    name: 'future',
    action: 'the time of the signature is ten minutes in the future',
    remedy: 'Reject a signature whose `created` differs from your clock by more than 5 minutes.',
    alteration: () => ({ ageMs: -TEN_MINUTES_MS }),
  },
  {
    name: 'unknown-key',
    action: 'the signature is of an unknown key',
    remedy: 'Verify signatures with the stored key of Railhead only.',
    alteration: ({ context }) => ({ key: context.otherKey }),
  },
  {
    name: 'wrong-key',
    action: 'the signature is of another key, with the key ID of Railhead',
    remedy: 'Verify the signature cryptographically. A known key ID is not sufficient.',
    alteration: ({ context }) => ({
      key: { keyId: context.key.keyId, privateKey: context.otherKey.privateKey },
    }),
  },
];

const sendCheck = ({ name, action, remedy, alteration }: Attack): Check => ({
  ...{ name: `signatures.${name}`, action, remedy },
  expected: 'status 401, and the transfer is not executed',
  async run(session) {
    const transfer = session.transfer('settled');
    const { status } = await session.call('/transfers/send', transfer, alteration(session));
    const state = await session.state(transfer.transferId);
    const effect = state ? `, and the transfer is ${state.state}` : '';
    if (status !== 401 || state) throw failure(`status ${status}${effect}`);
    return 'status 401';
  },
});

const everyCallCheck: Check = {
  name: 'signatures.every-call',
  action: 'calls to /capabilities, /transfers/state and /transfers/cancel have no signature',
  expected: 'status 401 for every path',
  remedy: 'Verify the signature of all calls, before the path is evaluated.',
  async run(session) {
    const [missingSignature] = ATTACKS;
    const transferId = session.transfer('held').transferId;
    for (const path of ['/capabilities', '/transfers/state', '/transfers/cancel']) {
      const { status } = await session.call(
        path,
        { transferId },
        missingSignature?.alteration(session),
      );
      if (status !== 401) throw failure(`status ${status} for ${path}`);
    }
    return 'status 401';
  },
};

export const signatureChecks: CheckGroup = {
  applies: ({ transfers = [] }) => transfers.length > 0,
  phase: 'parallel',
  checks: [...ATTACKS.map(sendCheck), everyCallCheck],
};
