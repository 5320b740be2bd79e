// A page for people, as data: words, what is to be read off it, and at most one button. Features say what it
// shows, the http layer makes HTML of it, so that no feature writes markup and every page is equally closed.

export interface PageContent {
  status: number;
  title: string;
  /** Paragraphs of plain text. */
  lines: string[];
  /** Below them, what somebody comes for: names and values to be read off or copied. */
  facts?: { label: string; value: string }[];
  /** Origins whose pages may frame it: `https://shop.example`. None may unless said. */
  frames?: readonly string[];
  /** The words on a button that comes back to the same address. */
  button?: string;
}

/** What stands behind a link that was used or has run out, and behind one that never was. */
export const LINK_ENDED: PageContent = {
  status: 404,
  title: 'This link does not work any more',
  lines: ['It was used before, or its time ran out. Ask for a new one where you got it.'],
};

/** What a check by camera ends with, whatever it was for, where it did not pass. */
export const CHECK_FAILED: PageContent = {
  status: 200,
  title: 'We could not confirm it',
  lines: ['The check did not succeed. Ask for a new link to try again.'],
};
export const CHECK_GOES_ON: PageContent = {
  status: 200,
  title: 'Thank you',
  lines: ['The check goes on without you. You can close this page.'],
};

/** A page behind a secret link. Showing it changes nothing, unless it shows `once`. */
export interface HostedPage {
  /** In front of the secret: `/ownership`. */
  path: string;
  /** Showing it uses the link up: who only asks whether it is there, or fetches ahead, is not shown it. */
  once?: boolean;
  show(secret: string): Promise<PageContent>;
  /** Absent where no page behind this path has a button. */
  press?(secret: string): Promise<PageContent>;
}

/** What a page with a script of its own consists of beside its markup. */
export interface PageAssets {
  script: string;
  style: string;
}

/** A page that works by a script and asks hosted operations below the same link. */
export interface HostedApp {
  /** In front of the secret: `/verify`. */
  path: string;
  title: string;
  /** Shown where the script does not run. */
  withoutScript: string;
  /** Shown instead of the page where the link is no good. */
  ended: PageContent;
  assets(): Promise<PageAssets>;
}
