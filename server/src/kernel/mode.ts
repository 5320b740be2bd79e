// The two modes of a platform. The field of a mode is named `environment`.

/** `sandbox` simulates every provider. `production` uses real providers. */
export const MODES = ['sandbox', 'production'] as const;
export type Mode = (typeof MODES)[number];
