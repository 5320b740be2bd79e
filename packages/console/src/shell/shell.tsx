// The frame of every page: menu, platform, search, state of the connection and the user.
import { Menu } from '@base-ui/react/menu';
import { Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { ActionHost } from '../action/action.tsx';
import { call } from '../api/client.ts';
import { useSession } from '../api/session.tsx';
import { useChanges, useStreamState } from '../api/stream.ts';
import { AdvancedClockContext, useAdvancedClock } from '../parts/advanced-clock.ts';
import { Skeleton } from '../parts/feedback.tsx';
import { ModeMark } from '../parts/status.tsx';
import { ClockTime } from '../parts/time.tsx';
import { TEXTS } from '../texts/texts.ts';
import { Navigation } from './menu.tsx';
import { usePaletteKeys } from './palette-keys.ts';
import { PlatformPicker, PlatformProvider, usePlatform } from './platform.tsx';
import { SessionEnded } from './session-ended.tsx';

const Palette = lazy(() => import('./palette.tsx').then((each) => ({ default: each.Palette })));

async function signOut(): Promise<void> {
  await call('endOwnSession');
  location.assign('/operator/sign-in');
}

function UserMenu() {
  const { user } = useSession();
  return (
    <Menu.Root>
      <Menu.Trigger className="button quiet">{user.name}</Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={4} className="floating">
          <Menu.Popup className="menu">
            <p className="soft menu-note">
              {user.email}
              <br />
              {user.roles.join(', ')}
            </p>
            <Menu.Item
              className="menu-item"
              render={<a href="/operator" aria-label={TEXTS.session.account} />}
            >
              {TEXTS.session.account}
            </Menu.Item>
            <Menu.Item className="menu-item" onClick={() => void signOut()}>
              {TEXTS.session.signOut}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function TopBar({ openPalette, toggleMenu }: { openPalette(): void; toggleMenu(): void }) {
  const { platform } = usePlatform();
  const stream = useStreamState();
  return (
    <header className="top">
      <button type="button" className="button quiet menu-button" onClick={toggleMenu}>
        {TEXTS.menu}
      </button>
      <PlatformPicker />
      {platform && <ModeMark mode={platform.mode} />}
      <button type="button" className="button search" onClick={openPalette}>
        {TEXTS.palette.open} <kbd>Ctrl K</kbd>
      </button>
      <span className={`stream ${stream}`} role="status">
        {TEXTS.stream[stream]}
      </span>
      <UserMenu />
    </header>
  );
}

function Frame() {
  useChanges();
  const { shownPlatform } = usePlatform();
  const { pathname } = useLocation();
  const [isPaletteOpen, setPalette] = useState(false);
  const [isMenuOpen, setMenu] = useState(false);
  const main = useRef<HTMLElement>(null);
  const openPalette = useCallback(() => setPalette(true), []);
  usePaletteKeys(openPalette);
  // A new page starts at its top, and closes the menu on a narrow screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs at each new page
  useEffect(() => {
    setMenu(false);
    main.current?.scrollTo(0, 0);
  }, [pathname]);
  const isSandbox = shownPlatform?.mode.toUpperCase() === 'SANDBOX';
  const advancedClock = useAdvancedClock(isSandbox ? shownPlatform?.id : undefined);
  return (
    <div className={`shell ${isSandbox ? 'is-sandbox' : ''} ${isMenuOpen ? 'has-menu' : ''}`}>
      <a className="skip" href="#main">
        {TEXTS.skip}
      </a>
      <nav className="side" aria-label={TEXTS.navigation}>
        <p className="brand">{TEXTS.brand}</p>
        <Navigation />
      </nav>
      <TopBar openPalette={openPalette} toggleMenu={() => setMenu((isOpen) => !isOpen)} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the page scrolls in this element */}
      <main id="main" ref={main} tabIndex={0}>
        {isSandbox && <p className="mode-band">{TEXTS.sandbox}</p>}
        {advancedClock && (
          <p className="notice clock-notice">
            {TEXTS.advancedClock} <ClockTime value={advancedClock} />.
          </p>
        )}
        <AdvancedClockContext value={advancedClock !== undefined}>
          <ActionHost>
            <Suspense fallback={<Skeleton lines={8} />}>
              <Outlet />
            </Suspense>
          </ActionHost>
        </AdvancedClockContext>
      </main>
      {isPaletteOpen && (
        <Suspense fallback={null}>
          <Palette close={() => setPalette(false)} />
        </Suspense>
      )}
      <SessionEnded />
    </div>
  );
}

export const Shell = () => (
  <PlatformProvider>
    <Frame />
  </PlatformProvider>
);
