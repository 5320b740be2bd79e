// Checks of signatures: a call that Railhead has not signed just so has no effect.
import { contentDigest } from '../../kernel/crypto/http-signatures.ts';
import type { Alteration } from '../calls.ts';
import type { Check, CheckGroup } from '../check.ts';
import type { Trial } from '../trial.ts';
import { problem } from '../verdict.ts';

const TEN_MINUTES_MS = 600_000;

interface Attack {
  name: string;
  tried: string;
  remedy: string;
  alteration(trial: Trial): Alteration;
}

const raised = (body: string) =>
  body.replace(/"amount":(\d+)/, (_, amount) => `"amount":${Number(amount) + 1}`);

const ATTACKS: readonly Attack[] = [
  {
    name: 'missing',
    tried: 'a call without a signature',
    remedy: 'Reject a call without Signature and Signature-Input.',
    alteration: () => ({
      sent({ headers }) {
        delete headers.signature;
        delete headers['signature-input'];
      },
    }),
  },
  {
    name: 'digest',
    tried: 'the amount is changed after signing, and Content-Digest is not',
    remedy: 'Compare Content-Digest with the SHA-256 digest of the received bytes.',
    alteration: () => ({
      sent(request) {
        request.body = raised(request.body);
      },
    }),
  },
  {
    name: 'altered',
    tried: 'the amount and Content-Digest are changed after signing',
    remedy: 'Verify the signature over the received Content-Digest.',
    alteration: () => ({
      sent(request) {
        request.body = raised(request.body);
        request.headers['content-digest'] = contentDigest(request.body);
      },
    }),
  },
  {
    name: 'no-digest',
    tried: 'a signature that does not cover Content-Digest',
    remedy: 'Require that the signature covers "@method" "@authority" "@path" "content-digest".',
    alteration: () => ({
      components: ['@method', '@authority', '@path'],
      sent({ headers }) {
        delete headers['content-digest'];
      },
    }),
  },
  {
    name: 'not-covered',
    tried: 'a signature that covers only the method and the path',
    remedy: 'Require that the signature covers "@method" "@authority" "@path" "content-digest".',
    alteration: () => ({ components: ['@method', '@path'] }),
  },
  {
    name: 'path',
    tried: 'a signature for another path',
    remedy: 'Verify the signature with the path of the request.',
    alteration: () => ({
      signed(request) {
        request.url = request.url.replace('/transfers/send', '/transfers/state');
      },
    }),
  },
  {
    name: 'authority',
    tried: 'a signature for another host',
    remedy: 'Verify the signature with the host of the request, or with your public host name.',
    alteration: () => ({
      signed(request) {
        request.url = request.url.replace(/^(https?:\/\/)[^/]+/, '$1other.example');
      },
    }),
  },
  {
    name: 'expired',
    tried: 'a signature that is ten minutes old',
    remedy: 'Reject a signature whose `created` differs from your clock by more than 5 minutes.',
    alteration: () => ({ ageMs: TEN_MINUTES_MS }),
  },
  {
    name: 'future',
    tried: 'a signature whose time is ten minutes ahead',
    remedy: 'Reject a signature whose `created` differs from your clock by more than 5 minutes.',
    alteration: () => ({ ageMs: -TEN_MINUTES_MS }),
  },
  {
    name: 'unknown-key',
    tried: 'a signature with a key that the adapter does not know',
    remedy: 'Verify the signature with the key of Railhead, never with one of the request.',
    alteration: ({ parts }) => ({ key: parts.otherKey }),
  },
  {
    name: 'wrong-key',
    tried: 'a signature with another key, under the key ID of Railhead',
    remedy: 'Verify the signature itself, not the key ID alone.',
    alteration: ({ parts }) => ({
      key: { keyId: parts.key.keyId, privateKey: parts.otherKey.privateKey },
    }),
  },
];

const sendCheck = ({ name, tried, remedy, alteration }: Attack): Check => ({
  ...{ name: `signatures.${name}`, tried, remedy },
  expected: 'status 401, and the transfer is not executed',
  async run(trial) {
    const transfer = trial.transfer('settled');
    const { status } = await trial.call('/transfers/send', transfer, alteration(trial));
    const state = await trial.state(transfer.transferId);
    const effect = state ? `, and the transfer is ${state.state}` : '';
    if (status !== 401 || state) throw problem(`status ${status}${effect}`);
    return 'status 401';
  },
});

const everyCall: Check = {
  name: 'signatures.every-call',
  tried: 'each call without a signature',
  expected: 'status 401 from every path',
  remedy: 'Verify the signature before the path is read.',
  async run(trial) {
    const [missing] = ATTACKS;
    const transferId = trial.transfer('held').transferId;
    for (const path of ['/capabilities', '/transfers/state', '/transfers/cancel']) {
      const { status } = await trial.call(path, { transferId }, missing?.alteration(trial));
      if (status !== 401) throw problem(`status ${status} from ${path}`);
    }
    return 'status 401';
  },
};

export const signatureChecks: CheckGroup = {
  applies: ({ transfers = [] }) => transfers.length > 0,
  when: 'together',
  checks: [...ATTACKS.map(sendCheck), everyCall],
};
