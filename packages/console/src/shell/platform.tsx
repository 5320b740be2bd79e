// The selected platform, or all platforms.
import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react';
import { useReply } from '../api/queries.ts';
import { useSession } from '../api/session.tsx';
import { readStored, store } from '../parts/stored.ts';
import { TEXTS } from '../texts/texts.ts';

interface PlatformOption {
  id: string;
  name: string;
  mode: string;
}

export type Mode = 'production' | 'sandbox';

const modeOf = ({ mode }: Pick<PlatformOption, 'mode'>): Mode =>
  mode.toUpperCase() === 'SANDBOX' ? 'sandbox' : 'production';

interface PlatformChoice {
  platforms: readonly PlatformOption[];
  /** Whether `platforms` is known. */
  isLoaded: boolean;
  /** Undefined: all platforms. */
  platformId: string | undefined;
  platform: PlatformOption | undefined;
  /** The platform of the resource on the screen, or the selected platform. */
  shownPlatform: PlatformOption | undefined;
  showPlatform(platformId: string | undefined): void;
  select(platformId: string | undefined): void;
  /** Whether the operator is limited to some platforms. */
  isLimited: boolean;
  /** Whether a platform must be selected, because the operator is limited to one. */
  mustSelect: boolean;
}

const PlatformContext = createContext<PlatformChoice | undefined>(undefined);

export function usePlatform(): PlatformChoice {
  const choice = use(PlatformContext);
  if (!choice) throw new Error('usePlatform must be called within PlatformProvider');
  return choice;
}

/** Shows the platform of the resource on the page, which can differ from the selected platform. */
export function useShownPlatform(platformId: string | undefined): PlatformOption | undefined {
  const { platforms, showPlatform } = usePlatform();
  useEffect(() => {
    if (platformId === undefined) return;
    showPlatform(platformId);
    return () => showPlatform(undefined);
  }, [platformId, showPlatform]);
  return platforms.find(({ id }) => id === platformId);
}

/**
 * The environment of the selected platform, or else `chosenMode`. The default is sandbox if every
 * platform is a sandbox platform, and production otherwise. Undefined until the platforms are known.
 */
export function useMode(chosenMode: string | undefined): Mode | undefined {
  const { platforms, platform, isLoaded } = usePlatform();
  if (platform) return modeOf(platform);
  if (chosenMode === 'production' || chosenMode === 'sandbox') return chosenMode;
  if (!isLoaded) return undefined;
  const isSandboxOnly =
    platforms.length > 0 && platforms.every((each) => modeOf(each) === 'sandbox');
  return isSandboxOnly ? 'sandbox' : 'production';
}

const STORAGE_KEY = 'platform';
/** Maximum number of platforms that can be selected by name. */
export const MAX_PLATFORMS = 100;

export function PlatformProvider({ children }: { children: ReactNode }) {
  const { user } = useSession();
  const isLimited = user.platformIds !== null && user.platformIds !== undefined;
  const mustSelect = user.platformIds?.length === 1;
  const { data } = useReply('listPlatforms', { query: { limit: MAX_PLATFORMS } });
  const [selectedId, setSelected] = useState<string | undefined>(() =>
    readStored(STORAGE_KEY, undefined),
  );
  const [shownId, showPlatform] = useState<string>();
  const choice = useMemo(() => {
    const platforms = (data?.data ?? []).map(({ platformId, name, environment }) => ({
      id: platformId,
      name: name ?? platformId,
      mode: environment,
    }));
    const selectedPlatform = platforms.find(({ id }) => id === selectedId);
    const platform = selectedPlatform ?? (mustSelect ? platforms[0] : undefined);
    return {
      ...{ platforms, platform, isLimited, mustSelect, showPlatform },
      platformId: platform?.id,
      isLoaded: data !== undefined,
      shownPlatform: shownId === undefined ? platform : platforms.find(({ id }) => id === shownId),
      select: (platformId: string | undefined) => {
        setSelected(platformId);
        store(STORAGE_KEY, platformId ?? null);
      },
    };
  }, [data, selectedId, shownId, isLimited, mustSelect]);
  return <PlatformContext value={choice}>{children}</PlatformContext>;
}

export function PlatformPicker() {
  const { platforms, platformId, select, isLimited, mustSelect } = usePlatform();
  return (
    <select
      className="platform-picker"
      aria-label={TEXTS.platform}
      value={platformId ?? ''}
      onChange={({ target }) => select(target.value || undefined)}
    >
      {!mustSelect && (
        <option value="">{isLimited ? TEXTS.ownPlatforms : TEXTS.allPlatforms}</option>
      )}
      {platforms.map(({ id, name, mode }) => (
        <option key={id} value={id}>
          {mode.toUpperCase() === 'SANDBOX' ? `${name} (${TEXTS.sandbox})` : name}
        </option>
      ))}
    </select>
  );
}
