// Overlay when the session has expired. After a new sign-in, the page stays usable for the
// same user and is reloaded for another user.
import { Dialog } from '@base-ui/react/dialog';
import { useEffect, useState } from 'react';
import { onSessionEnd } from '../api/client.ts';
import { queryClient } from '../api/queries.ts';
import { readSession, signInUrl, useSession } from '../api/session.tsx';
import { TEXTS } from '../texts/texts.ts';

const POLL_MS = 2_000;

export function SessionEnded() {
  const { user } = useSession();
  const [hasEnded, setEnded] = useState(false);
  useEffect(() => onSessionEnd(() => setEnded(true)), []);
  useEffect(() => {
    if (!hasEnded) return;
    const timer = setInterval(() => {
      readSession().then(
        (session) => {
          if (session.user.id !== user.id) return location.reload();
          setEnded(false);
          return queryClient.invalidateQueries();
        },
        () => undefined,
      );
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [hasEnded, user.id]);
  return (
    <Dialog.Root open={hasEnded} disablePointerDismissal>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog" role="alertdialog">
          <Dialog.Title>{TEXTS.session.ended}</Dialog.Title>
          <Dialog.Description>{TEXTS.session.endedText}</Dialog.Description>
          <footer className="actions">
            <a className="button primary" href={signInUrl()} target="_blank" rel="noreferrer">
              {TEXTS.session.signIn}
            </a>
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
