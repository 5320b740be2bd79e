// The page behind the link of a factor reset, where somebody shows to be the customer. It names the platform
// and the factor, and nobody: whoever has the link is the customer as far as the page can know.

import type { LivenessProgress } from '../../connectors/ports.ts';
import {
  CHECK_FAILED,
  CHECK_GOES_ON,
  type HostedPage,
  LINK_ENDED,
  type PageContent,
} from '../../kernel/page.ts';
import { sha256Hex } from '../../runtime/crypto.ts';
import { operate, type Runtime } from '../../runtime/operate.ts';
import { type CustomerRow, customers } from '../customers/index.ts';
import { platforms, systemCaller } from '../platform/index.ts';
import type { ScaFactorName } from './contract.ts';
import type { ScaParts } from './parts.ts';
import { checkOf, heedLiveness } from './resets.ts';
import { type ResetRow, scaResets } from './store.ts';

/** The page's path, in front of the secret. */
export const RESET_PATH = '/reset';

const FACTORS: Readonly<Record<ScaFactorName, string>> = {
  SMS_OTP: 'the telephone number that codes are sent to',
  TOTP: 'the app that shows codes',
  PASSKEY: 'the passkey',
};

const DONE: Readonly<Record<LivenessProgress['state'], PageContent>> = {
  passed: {
    status: 200,
    title: 'Thank you',
    lines: ['We have seen that it is you. Go back to where you came from to go on.'],
  },
  failed: CHECK_FAILED,
  waiting: CHECK_GOES_ON,
};

interface Found {
  row: ResetRow;
  customer: CustomerRow;
}

async function byToken({ db, world }: Runtime, token: string): Promise<Found | undefined> {
  const [row] = await db.find(scaResets, { token_hash: sha256Hex(token) });
  if (row?.status !== 'INITIATED' || world.now() >= row.expires_at) return undefined;
  const customer = await db.read(customers, row.customer_id);
  return customer && customer.deleted_at === null ? { row, customer } : undefined;
}

/** Looking changes nothing, pressing the button ends the check. */
export function resetPage(
  runtime: Runtime,
  { connectors }: Pick<ScaParts, 'connectors'>,
): HostedPage {
  async function show(token: string): Promise<PageContent> {
    const found = await byToken(runtime, token);
    if (!found) return LINK_ENDED;
    const platform = await runtime.db.read(platforms, found.row.platform_id);
    return {
      status: 200,
      title: 'Is it you?',
      lines: [
        `${platform?.name ?? 'A company'} was asked to replace ${FACTORS[found.row.factor]}.`,
        'If you did not ask for that, close this page and nothing changes.',
        'This is a test environment: no camera is used and nobody looks at you.',
      ],
      button: 'Yes, it is me',
    };
  }
  async function press(token: string): Promise<PageContent> {
    const found = await byToken(runtime, token);
    const platform = found && (await runtime.db.read(platforms, found.row.platform_id));
    const port = platform && connectors(platform.environment).liveness;
    if (!platform || !port) return LINK_ENDED;
    const progress = await port.complete(checkOf(found.row), runtime.world.now());
    return operate(runtime, systemCaller(platform.id, platform.environment), async (ctx) => {
      // Somebody may have pressed it at the same moment.
      const now = await byToken(runtime, token);
      if (!now) return LINK_ENDED;
      heedLiveness(ctx, now.customer, now.row, progress);
      return DONE[progress.state];
    });
  }
  return { path: RESET_PATH, show, press };
}
