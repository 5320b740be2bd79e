// A hosted page as data: a question or a message, its details, and at most one primary button.
// Features provide the content, the http layer renders the HTML, so that no feature writes markup
// and every page has the same look and the same policy.

/** Branding of the platform on a page. */
export interface PageBrand {
  name: string;
  isSandbox: boolean;
  /** URL of its logo, https, or http on the local machine in the sandbox. */
  logoUrl?: string;
  /** Its color, `#rrggbb`. */
  color?: string;
}

export interface LabeledValue {
  label: string;
  value: string;
}

/** A payment card with its details. They are removed from the page after `hideAfterS` seconds. */
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
  /** Explanations below: the purpose, who sees the response, the next step. */
  notes?: { title: string; lines: string[] }[];
  /** Origins whose pages may frame it: `https://shop.example`. Absent: none. */
  frames?: readonly string[] | undefined;
  /** Label of the button that posts to the same address. */
  button?: string | undefined;
  /** The alternative button, which changes nothing: its label, and the page that it shows. */
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

/** A page behind a secret link. Read-only, unless it is shown `once`. */
export interface HostedPage {
  /** Path prefix of the secret: `/ownership`. */
  path: string;
  /** The link expires when the page is shown: HEAD and prefetching browsers do not get the page. */
  once?: boolean;
  /** For a page shown `once`: the response of `show` without secrets; the link remains valid. */
  preview?(secret: string): Promise<PageContent>;
  show(secret: string): Promise<PageContent>;
  /** Runs when the button is pressed. Absent if no page behind this path has a button. */
  confirm?(secret: string): Promise<PageContent>;
}

/** A page that is driven by a script and calls hosted operations below the same link. */
export interface HostedApp {
  /** Path prefix of the secret: `/verify`. */
  path: string;
  title: string;
  /** Shown without JavaScript. */
  withoutScript: string;
  /** Shown instead of the page if the link is not valid. */
  ended: PageContent;
  /** The platform of a link, even of an expired link; undefined for an unknown secret. */
  brandOf(secret: string): Promise<PageBrand | undefined>;
  script(): Promise<string>;
}
