// The verification page as a page behind a link: where it is, and what stands in its place when the link
// is no good. How it looks and works is below `page/`.
import { type HostedApp, LINK_ENDED } from '../../kernel/page.ts';
import { pageAssets } from './assets.ts';
import { VERIFY_PATH } from './links.ts';

export const verificationPage: HostedApp = {
  path: VERIFY_PATH,
  title: 'Verification',
  withoutScript:
    'This page needs JavaScript. Please allow it, or open the link in another browser.',
  ended: { ...LINK_ENDED, status: 410 },
  assets: pageAssets,
};
