// What the page is told by the server, and what a part of the page is. The server's own schemas are in
// page-contract.ts; a browser needs only their shapes.

export type Json = Record<string, unknown>;

export interface Gap {
  resourceId: string;
  type: string;
  reason: string;
  field?: string;
  acceptedDocumentTypes?: string[];
}

export interface Owner {
  id: string;
  roles: string[];
  ownershipPercentage: number;
  personalInfo: Json;
}

export interface DocumentOnFile {
  id: string;
  documentHolder: string;
  documentType: string;
  side?: string;
  country: string;
  documentNumber?: string;
  issuingAuthority?: string;
  fileName: string;
}

export type CheckStatus = 'UNVERIFIED' | 'PENDING' | 'HOLD' | 'APPROVED' | 'REJECTED';

export interface State {
  platformName: string;
  isTest: boolean;
  expiresAt: string;
  status: CheckStatus;
  /** Fields named as the API names them, `customerType` and `id` among them. */
  customer: Json;
  hasIdentifier: boolean;
  owners: Owner[];
  documents: DocumentOnFile[];
  gaps: Gap[];
  /** Those of `gaps` that somebody found. */
  findings: Gap[];
  /** What may be chosen, by the name of the field. */
  choices: Record<string, string[]>;
  maxFileBytes: number;
  /** Present once the check is over. */
  redirectUri?: string;
}

export interface Outcome {
  verificationStatus: string;
  errors: Gap[];
  redirectUri?: string;
}

export interface FieldError {
  field: string;
  message: string;
  constraint?: { pattern?: string; format?: string; enum?: string[] };
}

/** One screen of the page. */
export interface Step {
  key: string;
  title: string;
  /** Fills the screen, which is empty. */
  render(stage: Stage): void;
}

export interface Stage {
  state: State;
  root: HTMLElement;
  /** Asks the server again, and shows the first screen that is still needed after this one. */
  next(): Promise<void>;
  /** Asks the server again and answers what it says, without leaving the screen. */
  reload(): Promise<State>;
  /** Shows the screen of this key. */
  go(key: string): void;
  /** Says something to those who cannot see the page change. */
  announce(words: string): void;
}
