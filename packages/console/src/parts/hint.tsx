// A short explanation that appears on hover and on focus of its content.
import { Tooltip } from '@base-ui/react/tooltip';
import type { ReactElement } from 'react';

export const Hint = ({ text, children }: { text: string; children: ReactElement }) => (
  <Tooltip.Root>
    <Tooltip.Trigger render={children} />
    <Tooltip.Portal>
      <Tooltip.Positioner sideOffset={6} className="floating">
        <Tooltip.Popup className="hint">{text}</Tooltip.Popup>
      </Tooltip.Positioner>
    </Tooltip.Portal>
  </Tooltip.Root>
);
