// A hosted page as data: a question or a message, its details, and at most one primary button. Features
// provide the content. The HTTP layer renders the HTML, so that all pages have the same look and policy.

/** Branding of the platform on a page. */
export interface PageBrand {
  name: string;
  isSandbox: boolean;
  /** URL of the logo: https, or http on the local machine in the sandbox. */
  logoUrl?: string;
  /** Brand color, `#rrggbb`. */
  color?: string;
}

export interface LabeledValue {
  label: string;
  value: string;
}

/** A payment card with its details. The details are removed from the page after `hideAfterS` seconds. */
export interface CardFace {
  name: string;
  network: string;
  details: LabeledValue[];
  hideAfterS: number;
}

export interface PageContent {
  status: number;
  title: string;
  /** Paragraphs of plain text. */
  lines: string[];
  brand?: PageBrand | undefined;
  /** Marks `lines` as a result, with a color in addition to the text. */
  tone?: 'good' | 'caution' | 'failed' | undefined;
  /** Values to check, such as a wallet address. */
  details?: LabeledValue[] | undefined;
  card?: CardFace | undefined;
  /** Explanations below the content: purpose, recipients of the response, next step. */
  notes?: { title: string; lines: string[] }[];
  /** Origins whose pages may frame the page: `https://shop.example`. None by default. */
  frames?: readonly string[] | undefined;
  /** Label of the button that posts to the same address. */
  button?: string | undefined;
  /** Alternative button without an effect: its label, and the page that it shows. */
  decline?: { label: string; title: string; lines: string[] };
}

/** A link that was used, has expired or never existed. */
export const LINK_EXPIRED: PageContent = {
  status: 404,
  title: 'This link no longer works',
  lines: [
    'The link has expired or was already used. Request a new one from the app that sent it.',
    'If you copied the link, check that it is complete.',
  ],
};

/** Result of a liveness check that failed or is not decided yet. */
export const CHECK_FAILED: PageContent = {
  status: 200,
  title: 'The check did not succeed',
  lines: ['Request a new link from the app that sent it, and try again.'],
  tone: 'failed',
};
export const CHECK_PENDING: PageContent = {
  status: 200,
  title: 'Your check is being processed',
  lines: ['No further action is needed here. You can close this page.'],
  tone: 'caution',
};

/** A page with a secret link. Showing it changes nothing, unless it is `singleUse`. */
export interface HostedPage {
  /** Path prefix of the secret: `/ownership`. */
  path: string;
  /** Whether the link expires when the page is shown. HEAD and prefetch requests never receive the page. */
  singleUse?: boolean;
  /** Response to HEAD for a `singleUse` page, without secrets. The link remains valid. */
  preview?(secret: string): Promise<PageContent>;
  show(secret: string): Promise<PageContent>;
  /** Handles the button. Absent if no page below this path has a button. */
  confirm?(secret: string): Promise<PageContent>;
}

/** A page with a script that calls hosted operations with the secret of the same link. */
export interface HostedApp {
  /** Path prefix of the secret: `/verify`. */
  path: string;
  title: string;
  /** Shown without JavaScript. */
  withoutScript: string;
  /** Shown instead of the page if the link is not valid. */
  invalidLinkPage: PageContent;
  /** Brand of the platform of a link, including an expired one. Undefined for an unknown secret. */
  brandOf(secret: string): Promise<PageBrand | undefined>;
  script(): Promise<string>;
}
