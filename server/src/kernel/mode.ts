// The two modes of a platform. The field that holds one is named `environment`.

/** `sandbox` simulates every provider, `production` uses real ones. */
export const MODES = ['sandbox', 'production'] as const;
export type Mode = (typeof MODES)[number];
