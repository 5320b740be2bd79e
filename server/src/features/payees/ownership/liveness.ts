// The liveness check of a wallet owner: the hosted page, and a job that polls the provider. The
// page authenticates the owner by the link alone, so a link is a secret, works once, and expires
// with its challenge.

import { Type } from '@sinclair/typebox';
import { displayIdentifier } from '../../../catalog/accounts/account-info.ts';
import type {
  Connectors,
  LivenessCheck,
  LivenessProgress,
} from '../../../connectors/ports/index.ts';
import { defineJob, type JobInput } from '../../../kernel/contract/job.ts';
import {
  CHECK_FAILED,
  CHECK_PENDING,
  type HostedPage,
  LINK_EXPIRED,
  type PageContent,
} from '../../../kernel/contract/page.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { type JobHandler, jobHandler } from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import { brandOf } from '../../tenancy/config/index.ts';
import { callerOf, readPlatform } from '../../tenancy/platform/index.ts';
import { type ExternalAccountRow, readExternalAccount } from '../external-accounts/index.ts';
import { closeChallenge } from './outcome.ts';
import { type OwnershipChallengeRow, ownershipChallenges } from './store.ts';

export const LIVENESS_CHECK = defineJob(
  'ownership.liveness',
  Type.Object({ platformId: Type.String(), accountId: Type.String(), nonce: Type.String() }),
);
/** Path of the page, before the token. */
export const LIVENESS_PATH = '/ownership';

type Deps = { connectors: (environment: Mode) => Connectors };

type CheckInput = JobInput<typeof LIVENESS_CHECK>;

interface ChallengeWithAccount {
  challenge: OwnershipChallengeRow;
  account: ExternalAccountRow;
}

type Reader = Pick<Ctx, 'read'>;

/** The check of the input, or null if it is closed or was replaced. */
async function findCurrentCheck(
  reader: Reader,
  { accountId, nonce }: CheckInput,
): Promise<ChallengeWithAccount | null> {
  const challenge = await reader.read(ownershipChallenges, accountId);
  if (challenge?.nonce !== nonce) return null;
  const account = await readExternalAccount(reader, accountId);
  return account ? { challenge, account } : null;
}

const checkOf = ({ challenge, account }: ChallengeWithAccount): LivenessCheck => ({
  id: challenge.nonce,
  subject: { type: 'WALLET', account: account.info },
  startedAt: challenge.issued_at,
});

async function progressOf(deps: Deps, environment: Mode, check: ChallengeWithAccount, now: number) {
  const port = deps.connectors(environment).liveness;
  // Without a provider, or after the expiry of the challenge, the check has failed.
  if (!port || now >= check.challenge.expires_at) return { state: 'failed' } as const;
  return port.check(checkOf(check), now);
}

async function apply(ctx: Ctx, input: CheckInput, progress: LivenessProgress): Promise<void> {
  const check = await findCurrentCheck(ctx, input);
  if (!check) return;
  if (progress.state === 'waiting') {
    const checkAt = Math.min(ctx.now + progress.checkAfterMs, check.challenge.expires_at);
    ctx.later(LIVENESS_CHECK, input, checkAt);
  } else if (check.account.deleted_at !== null) ctx.remove(ownershipChallenges, check.challenge);
  else closeChallenge(ctx, check.challenge, check.account, progress.state === 'passed');
}

/** The job that polls a check. */
export const ownershipJobs = (deps: Deps): JobHandler[] => [
  jobHandler(LIVENESS_CHECK, {
    run: async (runtime, { input }) => {
      const caller = await callerOf(runtime.db, input.platformId);
      const check = await findCurrentCheck(runtime.db, input);
      if (!check) return { caller, stage: async () => {} };
      const now = await runtime.clocks.nowOf(caller);
      const progress = await progressOf(deps, caller.environment, check, now);
      return { caller, stage: (ctx) => apply(ctx, input, progress) };
    },
  }),
];

const RESULT_PAGES: Record<LivenessProgress['state'], PageContent> = {
  passed: {
    status: 200,
    title: 'Wallet confirmed',
    lines: ['The wallet is confirmed as yours. Go back to the app to continue.'],
    tone: 'good',
  },
  failed: CHECK_FAILED,
  waiting: CHECK_PENDING,
};

/** The challenge of a token, expired or not, and its account. */
async function findByToken({ db }: Runtime, token: string): Promise<ChallengeWithAccount | null> {
  const [challenge] = await db.find(ownershipChallenges, { token_hash: sha256Hex(token) });
  const account = challenge && (await readExternalAccount(db, challenge.id));
  return account && account.deleted_at === null ? { challenge, account } : null;
}

const isOpen = ({ challenge }: ChallengeWithAccount, now: Time) => now < challenge.expires_at;

const confirmationPage = (name: string, account: ExternalAccountRow): PageContent => ({
  status: 200,
  title: 'Is this wallet yours?',
  lines: [`${name} asks you to confirm that you control this wallet.`],
  details: [{ label: 'Wallet address', value: displayIdentifier(account.info) }],
  button: 'Confirm wallet',
  decline: {
    label: 'This is not my wallet',
    title: 'Wallet not confirmed',
    lines: [
      `${name} does not receive a confirmation for this wallet. You can close this page.`,
      'If you did not expect this request, contact the support of the app that sent the link.',
    ],
  },
  notes: [
    {
      title: 'Why confirmation is required',
      lines: ['Payments to a wallet can require a proof that you control the wallet.'],
    },
    {
      title: 'What happens next',
      lines: [
        `${name} receives only the result.`,
        'No camera is used in the sandbox. The check passes when you confirm.',
      ],
    },
  ],
});

/**
 * The page of a verification link. Showing the page has no effect. The button completes the check.
 */
export function livenessPage(runtime: Runtime, deps: Deps): HostedPage {
  async function find(token: string) {
    const check = await findByToken(runtime, token);
    const platform = check && (await readPlatform(runtime.db, check.account.platform_id));
    if (!check || !platform) return { ended: LINK_EXPIRED };
    const brand = brandOf(platform);
    const now = await runtime.clocks.nowOf({ platformId: platform.id });
    return isOpen(check, now) ? { check, brand } : { ended: { ...LINK_EXPIRED, brand } };
  }
  async function show(token: string): Promise<PageContent> {
    const { ended: endedPage, check, brand } = await find(token);
    return endedPage ?? { ...confirmationPage(brand.name, check.account), brand };
  }
  async function confirm(token: string): Promise<PageContent> {
    const { ended: endedPage, check, brand } = await find(token);
    if (endedPage) return endedPage;
    const { platform_id: platformId, id: accountId } = check.account;
    const caller = await callerOf(runtime.db, platformId);
    const port = deps.connectors(caller.environment).liveness;
    if (!port) return { ...LINK_EXPIRED, brand };
    const progress = await port.complete(checkOf(check), await runtime.clocks.nowOf(caller));
    const input = { platformId, accountId, nonce: check.challenge.nonce };
    if (progress.state !== 'waiting') {
      await operate(runtime, caller, (ctx) => apply(ctx, input, progress));
    }
    return { ...RESULT_PAGES[progress.state], brand };
  }
  return { path: LIVENESS_PATH, show, confirm };
}
