// The hosted page of a factor reset, where the customer confirms their identity. The page shows the platform
// and the factor without personal data, because only the link authenticates the visitor.
import type { LivenessProgress } from '../../../../connectors/ports/index.ts';
import {
  CHECK_FAILED,
  CHECK_PENDING,
  type HostedPage,
  LINK_EXPIRED,
  type PageContent,
} from '../../../../kernel/contract/page.ts';
import { operate, type Runtime } from '../../../../runtime/operation/operate.ts';
import { sha256Hex } from '../../../../runtime/security/crypto.ts';
import { type CustomerRow, readCustomer } from '../../../customers/records/index.ts';
import { brandOf } from '../../../tenancy/config/index.ts';
import { readPlatform, systemCaller } from '../../../tenancy/platform/index.ts';
import type { ScaFactorName } from '../contract.ts';
import type { ScaDeps } from '../deps.ts';
import { type ResetRow, scaResets } from '../store.ts';
import { applyLiveness, checkOf } from './resets.ts';

/** Path of the page, before the token. */
export const RESET_PATH = '/reset';

const FACTOR_NAMES: Readonly<Record<ScaFactorName, string>> = {
  SMS_OTP: 'the phone number that receives your codes',
  TOTP: 'your authenticator app',
  PASSKEY: 'your passkey',
};

const RESULT_PAGES: Readonly<Record<LivenessProgress['state'], PageContent>> = {
  passed: {
    status: 200,
    title: 'Identity confirmed',
    lines: ['Go back to the app to set up the replacement.'],
    tone: 'good',
  },
  failed: CHECK_FAILED,
  waiting: CHECK_PENDING,
};

interface ResetOfLink {
  row: ResetRow;
  customer: CustomerRow;
}

const resetOf = async ({ db }: Runtime, token: string): Promise<ResetRow | undefined> =>
  (await db.find(scaResets, { token_hash: sha256Hex(token) }))[0];

async function findByToken(runtime: Runtime, token: string): Promise<ResetOfLink | undefined> {
  const { db, clocks } = runtime;
  const row = await resetOf(runtime, token);
  if (row?.status !== 'INITIATED') return undefined;
  if ((await clocks.nowOf({ platformId: row.platform_id })) >= row.expires_at) return undefined;
  const customer = await readCustomer(db, row.customer_id);
  return customer && customer.deleted_at === null ? { row, customer } : undefined;
}

/** The page of an expired link, with the brand of the platform if the token is known. */
async function expiredPage(runtime: Runtime, token: string): Promise<PageContent> {
  const row = await resetOf(runtime, token);
  const platform = row && (await readPlatform(runtime.db, row.platform_id));
  return platform ? { ...LINK_EXPIRED, brand: brandOf(platform) } : LINK_EXPIRED;
}

const confirmationPage = (name: string, factor: ScaFactorName): PageContent => ({
  status: 200,
  title: 'Confirm that it is you',
  lines: [`${name} received a request to replace ${FACTOR_NAMES[factor]}.`],
  button: 'Confirm identity',
  decline: {
    label: 'I did not request this',
    title: 'No change was made',
    lines: [
      `Your approval method at ${name} is unchanged. You can close this page.`,
      `If you did not request the replacement, contact the support of ${name}.`,
    ],
  },
  notes: [
    {
      title: 'Why confirmation is required',
      lines: [
        'A replacement can approve payments from your account. The confirmation protects your money.',
      ],
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

/** Only the button completes the check. A request for the page has no effect. */
export function resetPage(
  runtime: Runtime,
  { connectors }: Pick<ScaDeps, 'connectors'>,
): HostedPage {
  async function find(token: string) {
    const reset = await findByToken(runtime, token);
    const platform = reset && (await readPlatform(runtime.db, reset.row.platform_id));
    return platform && { ...reset, platform, brand: brandOf(platform) };
  }
  async function show(token: string): Promise<PageContent> {
    const reset = await find(token);
    if (!reset) return expiredPage(runtime, token);
    return { ...confirmationPage(reset.platform.name, reset.row.factor), brand: reset.brand };
  }
  async function confirm(token: string): Promise<PageContent> {
    const reset = await find(token);
    const port = reset && connectors(reset.platform.environment).liveness;
    if (!reset || !port) return expiredPage(runtime, token);
    const { platform, brand } = reset;
    const caller = systemCaller(platform.id, platform.environment);
    const now = await runtime.clocks.nowOf(caller);
    const progress = await port.complete(checkOf(reset.row), now);
    return operate(runtime, caller, async (ctx) => {
      // The reset is read again, because another request may have completed the check.
      const currentReset = await findByToken(runtime, token);
      if (!currentReset) return expiredPage(runtime, token);
      applyLiveness(ctx, currentReset.customer, currentReset.row, progress);
      return { ...RESULT_PAGES[progress.state], brand };
    });
  }
  return { path: RESET_PATH, show, confirm };
}
