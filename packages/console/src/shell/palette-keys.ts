// The keys that open the palette, in a separate file because the palette is loaded on first use.
import { useEffect } from 'react';

/** Opens the palette when its keys are pressed. */
export function usePaletteKeys(openPalette: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      openPalette();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [openPalette]);
}
